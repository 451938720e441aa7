//! States of paths (RFC 9260 §8.2, RFC 7829): counted errors, answers, and the change of state that each causes.

use super::Context;
use crate::association::event::{CloseReason, Event, PathChange};
use crate::path;
use crate::policy::{Limit, PathId, PathState, Signal};
use crate::time::{Duration, Instant};

/// Number of further unanswered heartbeats after which a path is potentially failed. This further number is added to
/// `pf_max_retrans`, unless a tail probe of the path also got no answer.
const MORE_BEFORE_POTENTIALLY_FAILED: u32 = 2;
/// Number of consecutive errors that a path needs before it fails. A time limit alone would not suffice: a burst of
/// losses can cause several errors within a short time.
const ERRORS_BEFORE_FAILURE: u32 = 40;
/// Minimum wait for the answer to a heartbeat if the state of a path depends on that answer.
const MIN_WAIT: Duration = Duration::from_millis(250);

impl Context {
    pub fn set_path_state(&mut self, now: Instant, path: PathId, state: PathState) {
        let i = path.index();
        if self.paths.view(i).state == state {
            return;
        }
        self.paths.view_mut(i).state = state;
        let down = matches!(state, PathState::PotentiallyFailed | PathState::Inactive);
        let stats = &mut self.paths[i].stats;
        match (down, stats.down_since) {
            (true, None) => stats.down_since = Some(now),
            (false, Some(since)) => {
                stats.down += now - since;
                stats.down_since = None;
            }
            _ => {}
        }
        if down {
            self.paths[i].heartbeats.want();
        }
        self.paths.touch();
        self.signal(now, &Signal::PathChanged(path));
        self.events.push_back(Event::Path(path, PathChange::State(state)));
        self.offer_burst(now);
    }

    /// Records an answer from the address of `path`. From then on data may be sent there (RFC 9260 §5.4).
    pub fn confirm(&mut self, now: Instant, path: PathId) {
        let p = &mut self.paths[path.index()];
        p.confirmed = true;
        p.answered = Some(now);
        self.paths_moved |= p.credit.take().is_some();
        let state = if p.suspended.0 || p.suspended.1 { PathState::Suspended } else { PathState::Active };
        self.paths.view_mut(path.index()).error_count = 0;
        self.prefer(path);
        self.set_path_state(now, path, state);
        self.schedule_heartbeat(now, path);
    }

    pub fn apply_suspension(&mut self, now: Instant, path: PathId) {
        let p = &self.paths[path.index()];
        match (p.suspended, p.confirmed) {
            ((false, false), true) if self.config.proves_resumed => {
                self.paths.view_mut(path.index()).error_count = 0;
                self.set_path_state(now, path, PathState::Unconfirmed);
                self.paths[path.index()].heartbeats.want();
            }
            ((false, false), true) => self.confirm(now, path),
            ((false, false), false) => self.set_path_state(now, path, PathState::Unconfirmed),
            _ => self.set_path_state(now, path, PathState::Suspended),
        }
    }

    /// Records another consecutive error on `path` (RFC 9260 §8.1, §8.2, RFC 7829 §4.2).
    pub fn path_error(&mut self, now: Instant, path: PathId) {
        let carries = self.paths.usable().contains(path);
        let view = self.paths.view_mut(path.index());
        view.error_count += 1;
        let (errors, state) = (view.error_count, view.state);
        // Only paths that carry data count against the association. A path that is probed often while it is down must
        // not end an association whose other paths are idle.
        if carries && self.association_error(now) {
            return;
        }
        if self.paths.seen().peer_reports() || state == PathState::PotentiallyFailed {
            // A NAT may have dropped its mapping: the heartbeat carries the path's name (see `path_announcement`).
            self.paths[path.index()].heartbeats.want();
        }
        let (suspect, failed) = self.verdicts(now, path, errors);
        let resumed = state == PathState::Unconfirmed && self.paths[path.index()].confirmed;
        let counts = state == PathState::Active || resumed;
        if failed && (counts || state == PathState::PotentiallyFailed) {
            self.set_path_state(now, path, PathState::Inactive);
        } else if suspect && counts {
            self.set_path_state(now, path, PathState::PotentiallyFailed);
        }
    }

    /// Records another consecutive error of the association (RFC 9260 §8.1). Returns whether this error ended the
    /// association.
    pub fn association_error(&mut self, now: Instant) -> bool {
        self.errors += 1;
        let dead = !self.silence_begins(now) && self.errors > self.config.association_max_retrans;
        if dead {
            self.abort_for(CloseReason::Unreachable);
        }
        dead
    }

    /// Records the arrival of data, or of a heartbeat, that was sent only on `path`. The arrival shows that the path
    /// works.
    pub fn path_answered(&mut self, now: Instant, path: PathId) {
        self.errors = 0;
        let p = &mut self.paths[path.index()];
        (p.timed_out, p.answered) = (false, Some(now));
        if self.config.failed_after.is_some() && self.paths.view(path.index()).error_count > 0 {
            path::forget_back_off(self.paths.view_mut(path.index()), &self.config);
        }
        self.paths.view_mut(path.index()).error_count = 0;
        if matches!(self.paths.view(path.index()).state, PathState::PotentiallyFailed | PathState::Inactive) {
            self.set_path_state(now, path, PathState::Active);
        }
    }

    /// Returns the number of packets that may leave in one send opportunity on a path with these limits. The returned
    /// number of packets is Max.Burst (RFC 9260 §6.1 D), unless pacing bounds bursts.
    pub fn max_burst(&self, limit: &Limit) -> u32 {
        let paced = limit.pacing.is_some() && !self.config.pacing_quantum.is_zero();
        if paced { u32::MAX } else { self.config.max_burst }
    }

    /// Grants a send opportunity that no SACK caused.
    pub fn offer_burst(&mut self, now: Instant) {
        for i in 0..self.paths.len() {
            let most = self.max_burst(&self.paths.view(i).limit);
            let (p, v) = self.paths.row_mut(i);
            p.burst = p.burst.max(most);
            v.blocked = p.pace > now;
        }
        self.driver.wake();
    }

    /// Returns two answers: whether error number `errors` makes `path` potentially failed, and whether it makes the
    /// path failed.
    pub fn verdicts(&self, now: Instant, path: PathId, errors: u32) -> (bool, bool) {
        let (p, v) = (&self.paths[path.index()], self.paths.view(path.index()));
        let pf = self.config.pf_max_retrans;
        let Some(after) = self.config.failed_after else {
            return (pf.is_some_and(|pf| errors > pf), errors > self.config.path_max_retrans);
        };
        let quiet = p.answered.map_or(Duration::MAX, |at| now - at);
        let more = if p.tail.spent { 0 } else { MORE_BEFORE_POTENTIALLY_FAILED };
        let potentially_failed =
            pf.is_some_and(|pf| errors > pf + more) && quiet >= v.rto_raw().unwrap_or_default();
        let enough = errors > self.config.path_max_retrans.max(ERRORS_BEFORE_FAILURE);
        (potentially_failed, enough && quiet >= after)
    }

    /// Returns the wait for a heartbeat's answer if the state of the path depends on the answer. The next heartbeat
    /// leaves after this wait.
    pub fn answer_wait(&self, path: PathId) -> Option<Duration> {
        let v = self.paths.view(path.index());
        let usual = v.rto_raw().unwrap_or(self.config.rto_initial).max(self.config.rto_min);
        self.config.failed_after.map(|_| usual.max(MIN_WAIT))
    }
}
