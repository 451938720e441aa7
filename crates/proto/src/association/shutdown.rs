//! End of an association: the graceful end (RFC 9260 §9.2), or the end by the peer's ABORT (§9.1).

use super::context::Context;
use super::event::{CloseReason, Event};
use super::lifecycle::State;
use super::path_manager::PathManager;
use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::Cause;
use crate::wire::chunk::{Abort, Shutdown, ShutdownAck, ShutdownComplete};

/// State of the end: timers T2 and T5, and the application's request to close.
#[derive(Debug, Default)]
pub(super) struct Closing {
    t2: Option<Instant>,
    tries: u32,
    t5: Option<Instant>,
    /// If true, the association closes once the handshake is complete and all data are delivered.
    wanted: bool,
}

impl Closing {
    /// Returns the times at which T2 and T5 expire.
    pub fn timeouts(&self) -> (Option<Instant>, Option<Instant>) {
        (self.t2, self.t5)
    }

    /// Closes the association once all queued data are delivered.
    pub fn shutdown(&mut self, m: &mut PathManager<'_>, now: Instant) {
        match m.cx.state {
            State::CookieWait if m.tx.nothing_queued() => m.cx.close(CloseReason::Shutdown),
            State::CookieWait | State::CookieEchoed => self.wanted = true,
            State::Established => {
                m.cx.state = State::ShutdownPending;
                self.progress(m, now);
            }
            _ => {}
        }
    }

    /// Takes the next step of the shutdown once no data are left to deliver.
    pub fn progress(&mut self, m: &mut PathManager<'_>, now: Instant) {
        if self.wanted && m.cx.state == State::Established {
            self.wanted = false;
            m.cx.state = State::ShutdownPending;
        }
        let drained = m.tx.drained();
        match m.cx.state {
            State::ShutdownPending if drained => {
                m.cx.state = State::ShutdownSent;
                self.send_shutdown(m, now);
                // T5-shutdown-guard: five RTO.Max (RFC 9260 §9.2).
                self.t5 = Some(now + 5 * m.cx.config.rto_max);
            }
            State::ShutdownReceived if drained => {
                m.cx.state = State::ShutdownAckSent;
                self.send_shutdown(m, now);
            }
            _ => {}
        }
    }

    /// Sends SHUTDOWN or SHUTDOWN ACK, depending on the state, and starts T2.
    fn send_shutdown(&mut self, m: &mut PathManager<'_>, now: Instant) {
        let usable: Vec<PathId> = m.cx.paths.usable().iter().collect();
        let turn = self.tries as usize;
        let path = usable.get(turn % usable.len().max(1)).copied().unwrap_or(m.cx.paths.seen().primary());
        if self.tries > 0 {
            crate::path::back_off(m.cx.paths.view_mut(path.index()), &m.cx.config);
        }
        if m.cx.state == State::ShutdownSent {
            m.cx.push_control(path, Shutdown { cumulative_tsn_ack: m.rx.cum_tsn() });
        } else {
            m.cx.push_control(path, ShutdownAck);
        }
        if self.tries > 0 {
            m.cx.push_moved(path);
        }
        self.t2 = Some(now + m.cx.paths.view(path.index()).rto);
    }

    /// Handles the expiry of T2-shutdown.
    pub fn on_t2(&mut self, m: &mut PathManager<'_>, now: Instant) {
        self.t2 = None;
        self.tries += 1;
        if self.tries > m.cx.config.association_max_retrans {
            m.cx.abort_for(CloseReason::Unreachable);
        } else {
            self.send_shutdown(m, now);
        }
    }

    pub fn on_shutdown(&mut self, m: &mut PathManager<'_>, now: Instant, s: Shutdown, on: PathId) {
        match m.cx.state {
            State::Established | State::ShutdownPending | State::ShutdownReceived => {
                if m.cx.state != State::ShutdownReceived {
                    m.cx.events.push_back(Event::PeerShutdown);
                }
                m.cx.state = State::ShutdownReceived;
                m.tx.on_cumulative_ack(m.cx, now, s.cumulative_tsn_ack, on);
            }
            // Both sides close at the same time (RFC 9260 §9.2).
            State::ShutdownSent => {
                m.cx.state = State::ShutdownAckSent;
                self.send_shutdown(m, now);
            }
            State::ShutdownAckSent => m.cx.push_control(on, ShutdownAck),
            _ => {}
        }
    }

    pub fn on_shutdown_ack(cx: &mut Context, on: PathId) {
        if matches!(cx.state, State::ShutdownSent | State::ShutdownAckSent) {
            cx.control.clear();
            cx.push_control(on, ShutdownComplete { reflected_tag: false });
            cx.close(CloseReason::Shutdown);
        }
    }

    pub fn on_shutdown_complete(cx: &mut Context) {
        if cx.state == State::ShutdownAckSent {
            cx.close(CloseReason::Shutdown);
        }
    }

    /// Handles the peer's ABORT.
    pub fn on_abort(cx: &mut Context, abort: &Abort) {
        let words: Vec<String> = abort.causes.iter().map(words_of).collect();
        let words = if words.is_empty() { "no reason given".to_owned() } else { words.join("; ") };
        cx.control.clear();
        // If everything was delivered, a peer that no longer has the association has closed it: its last packet was
        // lost.
        let done = cx.state == State::ShutdownAckSent && abort.reflected_tag;
        cx.close(if done { CloseReason::Shutdown } else { CloseReason::PeerAborted(words) });
    }
}

/// Returns an error cause as readable text.
fn words_of(cause: &Cause) -> String {
    match cause {
        Cause::UserInitiatedAbort(text) | Cause::ProtocolViolation(text) => {
            String::from_utf8_lossy(text).into_owned()
        }
        Cause::OutOfResource => "out of resource".into(),
        other => format!("{other:?}"),
    }
}
