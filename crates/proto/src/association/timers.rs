//! Every wake-up of an association, by name.

use super::event::CloseReason;
use super::state::{Association, State};
use crate::policy::{PathId, PathState, Signal};
use crate::time::Instant;

/// Which timer wants the next wake-up: for logs, and for tests of timers that are stuck.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Timer {
    /// T1-init or T1-cookie.
    T1,
    /// T2-shutdown.
    T2,
    /// T5-shutdown-guard.
    T5,
    /// T3-rtx of a path.
    T3,
    /// Tail probe of a path.
    Tail,
    /// Delayed acknowledgement.
    Sack,
    /// FORWARD-TSN is sent again.
    ForwardTsn,
    /// A heartbeat is due.
    Heartbeat,
    /// A heartbeat was not answered.
    HeartbeatTimeout,
    /// Pacing lets a path send again.
    Pacing,
    /// A reliable report is sent again.
    Report,
    /// The scheme's own.
    Scheme,
}

impl Association {
    /// When [`Association::handle_timeout`] must be called, and why.
    pub fn poll_timeout(&self) -> Option<(Instant, Timer)> {
        if self.state == State::Closed {
            return None;
        }
        let mut first: Option<(Instant, Timer)> = None;
        let mut offer = |at: Option<Instant>, timer| {
            if let Some(at) = at.filter(|at| *at < Instant::MAX)
                && first.is_none_or(|f| (at, timer) < f)
            {
                first = Some((at, timer));
            }
        };
        offer(self.t1, Timer::T1);
        offer(self.t2, Timer::T2);
        offer(self.t5, Timer::T5);
        offer(self.rx.acks.timeout(), Timer::Sack);
        if self.state != State::CookieWait && self.state != State::CookieEchoed {
            offer(self.silence.timeout(), Timer::Heartbeat);
            offer(self.tx.forward_timer, Timer::ForwardTsn);
            offer(self.reports.timeout(), Timer::Report);
            offer(self.driver.scheme().poll_timeout(), Timer::Scheme);
            let data_waits = !self.tx.queue.is_empty() || !self.tx.lost.is_empty();
            for (p, v) in self.paths.rows().filter(|(_, v)| v.state != PathState::Closed) {
                offer(p.t3, Timer::T3);
                offer(p.tail.at, Timer::Tail);
                offer(p.heartbeats.deadline(), Timer::HeartbeatTimeout);
                if self.speaks() {
                    offer(Some(p.heartbeats.next), Timer::Heartbeat);
                }
                if v.blocked && p.burst > 0 && (data_waits || !p.owed.is_empty()) {
                    offer(Some(p.pace), Timer::Pacing);
                }
            }
        }
        first
    }

    /// Runs every timer that is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        self.tx.pick = None;
        let due = |t: Option<Instant>| t.is_some_and(|t| t <= now);
        if due(self.t1) {
            self.on_t1(now);
        }
        if due(self.t2) {
            self.on_t2(now);
        }
        if due(self.t5) {
            self.abort_for(CloseReason::Unreachable);
        }
        if due(self.rx.acks.timeout()) {
            self.rx.acks.on_timeout();
        }
        if due(self.tx.forward_timer) {
            self.tx.forward_due = true;
            self.tx.forward_tries += 1;
            let rto = self.paths.view(self.paths.seen().control_path().index()).rto;
            self.tx.forward_timer = Some(now + rto);
        }
        for i in 0..self.paths.len() {
            self.path_timers(now, PathId(i as u8));
        }
        self.on_silence(now);
        if self.state == State::Closed || self.state == State::CookieWait || self.state == State::CookieEchoed
        {
            return;
        }
        self.resend_reports(now);
        if due(self.driver.scheme().poll_timeout()) {
            self.driver.signal(self.paths.seen_mut(), now, &Signal::Tick);
        }
        self.maybe_progress_shutdown(now);
        self.after_input(now);
    }

    fn path_timers(&mut self, now: Instant, path: PathId) {
        if self.state == State::Closed || !self.is_open(path) {
            return;
        }
        if self.paths[path.index()].tail.at.is_some_and(|t| t <= now) {
            self.on_tail(now, path);
        }
        if self.paths[path.index()].t3.is_some_and(|t| t <= now) {
            self.on_t3(now, path);
        }
        if self.paths[path.index()].heartbeats.deadline().is_some_and(|t| t <= now) {
            self.on_heartbeat_timeout(now, path);
        }
        let (p, v) = self.paths.row_mut(path.index());
        if v.blocked && p.burst > 0 && p.pace <= now {
            v.blocked = false;
            self.driver.set_held(false);
        }
    }
}
