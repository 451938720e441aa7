//! All timers of an association, by name.

use super::event::CloseReason;
use super::lifecycle::State;
use super::state::Association;
use crate::path::Discovery;
use crate::policy::{PathId, PathState, Signal};
use crate::time::Instant;

/// Timer of the next wake-up. Logs use it, and tests that look for timers that are stuck.
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
    /// End of the reordering window of an overtaken chunk.
    Reordering,
    /// Delayed acknowledgement.
    Sack,
    /// Time at which waiting symbols are decoded.
    Decode,
    /// Repetition of a FORWARD-TSN.
    ForwardTsn,
    /// Time at which an incomplete block is closed.
    Flush,
    /// Time of the next heartbeat.
    Heartbeat,
    /// Timeout of the answer to a heartbeat.
    HeartbeatTimeout,
    /// Timeout of a probe of path MTU discovery, or the time to repeat an old result's probe.
    MtuProbe,
    /// Time at which pacing permits the next packet of a path.
    Pacing,
    /// Repetition of a reliable report.
    Report,
    /// The scheme's own timer.
    Scheme,
}

impl Association {
    /// Returns the next time at which [`Association::handle_timeout`] must be called, and the timer that is the reason.
    pub fn poll_timeout(&self) -> Option<(Instant, Timer)> {
        if self.cx.state == State::Closed {
            return None;
        }
        // This is called for every packet: most timers are later than the first one.
        let mut first = (Instant::MAX, Timer::T1);
        let mut offer = |at: Option<Instant>, timer| {
            if let Some(at) = at.filter(|at| (*at, timer) < first) {
                first = (at, timer);
            }
        };
        let (t2, t5) = self.closing.timeouts();
        offer(self.handshake.timeout(), Timer::T1);
        offer(t2, Timer::T2);
        offer(t5, Timer::T5);
        offer(self.rx.sack_timeout(), Timer::Sack);
        if self.cx.state != State::CookieWait && self.cx.state != State::CookieEchoed {
            offer_open(self, &mut offer);
        }
        (first.0 < Instant::MAX).then_some(first)
    }

    /// Runs all timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.cx.state == State::Closed {
            return;
        }
        self.tx.reconsider();
        let due = |t: Option<Instant>| t.is_some_and(|t| t <= now);
        let (mut m, handshake, closing) = self.split();
        if due(handshake.timeout()) {
            handshake.on_t1(&mut m, now);
        }
        if due(closing.timeouts().0) {
            closing.on_t2(&mut m, now);
        }
        if due(closing.timeouts().1) {
            self.cx.abort_for(CloseReason::Unreachable);
        }
        self.rx.on_timers(&mut self.cx, now);
        self.tx.on_timers(&mut self.cx, now);
        for i in 0..self.cx.paths.len() {
            self.manager().on_timers(now, PathId(i as u8));
        }
        self.cx.on_silence(now);
        self.let_go();
        if matches!(self.cx.state, State::Closed | State::CookieWait | State::CookieEchoed) {
            return;
        }
        self.cx.resend_reports(now);
        self.manager().give_up_reports(now);
        if due(self.cx.driver.scheme().poll_timeout()) {
            self.cx.signal(now, &Signal::Tick);
        }
        self.progress_closing(now);
        self.after_input(now);
    }
}

/// Passes the timers that run after the handshake to the function `offer`.
fn offer_open(a: &Association, offer: &mut impl FnMut(Option<Instant>, Timer)) {
    offer(a.cx.silence.timeout(), Timer::Heartbeat);
    offer(a.rx.decode_timeout(), Timer::Decode);
    offer(a.tx.forward_timeout(), Timer::ForwardTsn);
    offer(a.cx.reports.timeout(), Timer::Report);
    offer(a.cx.driver.scheme().poll_timeout(), Timer::Scheme);
    offer(a.tx.flush_timeout(), Timer::Flush);
    let data_wait = a.tx.data_wait(&a.cx);
    for (p, v) in a.cx.paths.rows().filter(|(_, v)| v.state != PathState::Closed) {
        offer(p.t3, Timer::T3);
        offer(p.tail.at, Timer::Tail);
        offer(p.reordering.at, Timer::Reordering);
        offer(p.heartbeats.deadline(), Timer::HeartbeatTimeout);
        offer(p.discovery.as_ref().and_then(Discovery::timeout), Timer::MtuProbe);
        if a.cx.state.is_open() {
            offer(Some(p.heartbeats.next), Timer::Heartbeat);
        }
        if v.blocked && p.burst > 0 && (data_wait || a.tx.owes(v.id)) {
            offer(Some(p.pace), Timer::Pacing);
        }
    }
}
