//! Ends: graceful (RFC 9260 §9.2) and abrupt (§9.1).

use super::event::{CloseReason, Event};
use super::state::{Association, State};
use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::Cause;
use crate::wire::chunk::{Abort, Shutdown, ShutdownAck, ShutdownComplete};

impl Association {
    /// Closes once everything queued is delivered.
    pub fn shutdown(&mut self, now: Instant) {
        match self.state {
            State::CookieWait if self.tx.queue.is_empty() => self.close(CloseReason::Shutdown),
            State::CookieWait | State::CookieEchoed => self.shutdown_wanted = true,
            State::Established => {
                self.state = State::ShutdownPending;
                self.maybe_progress_shutdown(now);
            }
            _ => {}
        }
    }

    /// Closes at once; `words` reach the peer.
    pub fn abort(&mut self, words: &str) {
        let cause = Cause::UserInitiatedAbort(words.as_bytes().to_vec().into());
        self.abort_with(cause, CloseReason::Aborted);
    }

    pub(super) fn abort_with(&mut self, cause: Cause, reason: CloseReason) {
        self.abort_with_causes(vec![cause], reason);
    }

    pub(super) fn abort_with_causes(&mut self, causes: Vec<Cause>, reason: CloseReason) {
        if self.state == State::Closed {
            return;
        }
        self.control.clear();
        if self.peer_tag.0 != 0 {
            self.push_control_anywhere(Abort { reflected_tag: false, causes });
        }
        self.close(reason);
    }

    /// Nobody answers: the peer is told all the same, in case only one direction is dead.
    pub(super) fn abort_for(&mut self, reason: CloseReason) {
        self.abort_with(Cause::UserInitiatedAbort(b"no answer"[..].into()), reason);
    }

    /// Takes the next step once nothing is left to deliver.
    pub(super) fn maybe_progress_shutdown(&mut self, now: Instant) {
        if self.shutdown_wanted && self.state == State::Established {
            self.shutdown_wanted = false;
            self.state = State::ShutdownPending;
        }
        let drained = self.tx.queue.is_empty() && self.tx.outstanding.is_empty();
        match self.state {
            State::ShutdownPending if drained => {
                self.state = State::ShutdownSent;
                self.send_shutdown(now);
                // T5-shutdown-guard: five RTO.Max (RFC 9260 §9.2).
                self.t5 = Some(now + 5 * self.config.rto_max);
            }
            State::ShutdownReceived if drained => {
                self.state = State::ShutdownAckSent;
                self.send_shutdown(now);
            }
            _ => {}
        }
    }

    /// SHUTDOWN or SHUTDOWN ACK, by state, with T2 running.
    fn send_shutdown(&mut self, now: Instant) {
        let usable: Vec<PathId> = self.paths.usable().iter().collect();
        let turn = self.t2_tries as usize;
        let path = usable.get(turn % usable.len().max(1)).copied().unwrap_or(self.paths.seen().primary());
        if self.t2_tries > 0 {
            crate::path::back_off(self.paths.view_mut(path.index()), &self.config);
        }
        if self.state == State::ShutdownSent {
            self.push_control(path, Shutdown { cumulative_tsn_ack: self.rx.tracker.cum_tsn() });
        } else {
            self.push_control(path, ShutdownAck);
        }
        if self.t2_tries > 0 {
            self.push_moved(path);
        }
        self.t2 = Some(now + self.paths.view(path.index()).rto);
    }

    /// T2-shutdown expired.
    pub(super) fn on_t2(&mut self, now: Instant) {
        self.t2 = None;
        self.t2_tries += 1;
        if self.t2_tries > self.config.association_max_retrans {
            self.abort_for(CloseReason::Unreachable);
        } else {
            self.send_shutdown(now);
        }
    }

    pub(super) fn on_shutdown(&mut self, now: Instant, s: Shutdown, on: PathId) {
        match self.state {
            State::Established | State::ShutdownPending | State::ShutdownReceived => {
                if self.state != State::ShutdownReceived {
                    self.events.push_back(Event::PeerShutdown);
                }
                self.state = State::ShutdownReceived;
                self.on_cumulative_ack(now, s.cumulative_tsn_ack, on);
            }
            // Both sides close at once (RFC 9260 §9.2).
            State::ShutdownSent => {
                self.state = State::ShutdownAckSent;
                self.send_shutdown(now);
            }
            State::ShutdownAckSent => self.push_control(on, ShutdownAck),
            _ => {}
        }
    }

    pub(super) fn on_shutdown_ack(&mut self, on: PathId) {
        if matches!(self.state, State::ShutdownSent | State::ShutdownAckSent) {
            self.control.clear();
            self.push_control(on, ShutdownComplete { reflected_tag: false });
            self.close(CloseReason::Shutdown);
        }
    }

    pub(super) fn on_shutdown_complete(&mut self) {
        if self.state == State::ShutdownAckSent {
            self.close(CloseReason::Shutdown);
        }
    }

    /// While a SHUTDOWN waits for its answer, DATA are answered by another one (RFC 9260 §9.2).
    pub(super) fn repeat_shutdown(&mut self, on: PathId) {
        if self.state == State::ShutdownSent {
            self.push_control(on, Shutdown { cumulative_tsn_ack: self.rx.tracker.cum_tsn() });
        }
    }
}
