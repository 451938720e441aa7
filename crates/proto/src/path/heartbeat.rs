//! Heartbeats of one path (RFC 9260 §8.3): their nonces, their answers, and the time of the next heartbeat.

use smallvec::SmallVec;

use crate::time::{Duration, Instant};

/// Number of recorded nonces of the core's heartbeats. An answer after the timeout still proves that the path works.
const REMEMBERED: usize = 8;
/// Number of recorded nonces of the scheme's heartbeats. The recorded nonces cover more than one second if a heartbeat
/// is sent every 25 ms. If round-trip times are longer, answers to the oldest heartbeats do not count.
const PROBES: usize = 48;

/// A heartbeat that was sent and is not yet answered.
#[derive(Copy, Clone, Debug)]
struct Pending {
    nonce: u64,
    sent: Instant,
    /// Deadline of the answer. The deadline is `None` once the heartbeat has timed out or a later heartbeat was
    /// answered.
    deadline: Option<Instant>,
    probe: bool,
}

/// Answer of the peer to a heartbeat.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub sent: Instant,
    pub rtt: Duration,
    pub probe: bool,
    /// True if the heartbeat had timed out before, or if a later heartbeat had already been answered.
    pub late: bool,
}

/// State of the heartbeats of a path.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    /// Time of the core's next regular heartbeat. `Instant::MAX` means never.
    pub next: Instant,
    /// Heartbeats that the scheme or the core requested. Requested heartbeats are sent as soon as possible.
    pub requests: SmallVec<[HeartbeatRequest; 2]>,
    pending: SmallVec<[Pending; 2]>,
}

/// Request for a heartbeat.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct HeartbeatRequest {
    pub probe: bool,
    pub padded: bool,
}

impl Heartbeats {
    pub fn new(next: Instant) -> Self {
        Heartbeats { next, requests: SmallVec::new(), pending: SmallVec::new() }
    }

    /// Requests a heartbeat for the core, unless one is already requested.
    pub fn want(&mut self) {
        if !self.requests.iter().any(|w| !w.probe) {
            self.requests.push(HeartbeatRequest { probe: false, padded: false });
        }
    }

    /// Requests a heartbeat for the scheme. A scheme can have only a few such requests at a time.
    pub fn want_probe(&mut self, padded: bool) {
        if self.requests.len() < REMEMBERED {
            self.requests.push(HeartbeatRequest { probe: true, padded });
        }
    }

    pub fn sent(&mut self, now: Instant, nonce: u64, timeout: Duration, probe: bool) {
        // Neither kind displaces the other, not even if many timed out.
        let most = if probe { PROBES } else { REMEMBERED };
        if self.pending.iter().filter(|p| p.probe == probe).count() >= most
            && let Some(oldest) = self.pending.iter().position(|p| p.probe == probe)
        {
            self.pending.remove(oldest);
        }
        self.pending.push(Pending { nonce, sent: now, deadline: Some(now + timeout), probe });
    }

    /// Handles an answer to a heartbeat. Returns `None` if no heartbeat with this nonce was sent, or if its answer
    /// arrived before.
    pub fn answered(&mut self, now: Instant, nonce: u64) -> Option<Answer> {
        let at = self.pending.iter().position(|p| p.nonce == nonce)?;
        let p = self.pending.remove(at);
        for earlier in &mut self.pending[..at] {
            earlier.deadline = None;
        }
        Some(Answer { sent: p.sent, rtt: now - p.sent, probe: p.probe, late: p.deadline.is_none() })
    }

    /// Returns the time at which the first unanswered heartbeat times out.
    pub fn deadline(&self) -> Option<Instant> {
        self.pending.iter().filter_map(|p| p.deadline).min()
    }

    /// Removes a heartbeat that has timed out. Returns the time at which this heartbeat was sent, and whether the
    /// scheme requested it.
    pub fn expire(&mut self, now: Instant) -> Option<(Instant, bool)> {
        let p = self.pending.iter_mut().find(|p| p.deadline.is_some_and(|d| d <= now))?;
        p.deadline = None;
        Some((p.sent, p.probe))
    }

    /// Excludes unanswered heartbeats from the count of errors, because the error of the path was already counted for
    /// another reason.
    pub fn excuse(&mut self) {
        for p in self.pending.iter_mut().filter(|p| !p.probe) {
            p.deadline = None;
        }
    }

    /// Returns whether the core waits for the answer to one of its heartbeats, or has requested one.
    pub fn judges(&self) -> bool {
        self.requests.iter().any(|w| !w.probe)
            || self.pending.iter().any(|p| !p.probe && p.deadline.is_some())
    }

    /// Returns whether a heartbeat waits for its answer.
    pub fn awaiting(&self) -> bool {
        self.deadline().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_counts_and_a_foreign_one_does_not() {
        let at = Instant::from_millis;
        let mut h = Heartbeats::new(Instant::MAX);
        h.sent(at(0), 7, Duration::from_millis(100), false);
        assert_eq!(h.expire(at(99)), None);
        assert_eq!(h.expire(at(100)), Some((at(0), false)));
        assert!(!h.awaiting());
        assert_eq!(h.answered(at(130), 8), None);
        let rtt = Duration::from_millis(130);
        assert_eq!(h.answered(at(130), 7), Some(Answer { sent: at(0), rtt, probe: false, late: true }));
        assert_eq!(h.answered(at(131), 7), None, "a nonce answers once");
    }

    #[test]
    fn probes_do_not_make_the_core_forget_its_own() {
        let at = Instant::from_millis;
        let mut h = Heartbeats::new(Instant::MAX);
        h.sent(at(0), 1, Duration::from_secs(4), false);
        for n in 0..100 {
            h.sent(at(100 * n), 2 + n, Duration::from_secs(4), true);
        }
        assert_eq!(h.deadline(), Some(at(4000)));
        assert_eq!(h.expire(at(4000)), Some((at(0), false)));
    }

    /// A long outage leaves many heartbeats that timed out. The records of heartbeats that timed out do not displace
    /// the records of heartbeats that can be answered.
    #[test]
    fn after_an_outage_all_answers_count() {
        let ms = Duration::from_millis;
        let mut h = Heartbeats::new(Instant::MAX);
        for n in 0..100 {
            h.sent(Instant::from_millis(250 * n), n, ms(250), false);
            while h.expire(Instant::from_millis(250 * n)).is_some() {}
        }
        let back = Instant::from_millis(100_000);
        while h.expire(back).is_some() {}
        let each = |n: u64| back + ms(25 * n);
        for n in 0..40 {
            h.sent(each(n), 1000 + n, ms(1000), true);
        }
        // Heartbeats of a second are in flight.
        for n in 0..40 {
            assert!(h.answered(each(40 + n), 1000 + n).is_some(), "{n} of 40");
            h.sent(each(40 + n), 2000 + n, ms(1000), true);
        }
    }

    #[test]
    fn an_answer_ends_the_wait_for_earlier_ones() {
        let at = Instant::from_millis;
        let mut h = Heartbeats::new(Instant::MAX);
        h.sent(at(0), 1, Duration::from_millis(100), true);
        h.sent(at(1), 2, Duration::from_millis(100), true);
        assert!(h.answered(at(50), 2).is_some());
        assert!(!h.awaiting());
    }
}
