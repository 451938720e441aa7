//! Waits of a flow's sender, with their reasons and times.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use strandcast_proto::association::HeldBy;
use strandcast_proto::time::Instant;
use strandcast_sim::net::{Agent, Held};

/// A time in which new data waited for one reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub held: Held,
    pub from: Instant,
    pub to: Instant,
    /// Message for which later messages waited in the receive buffer while the receive window was full. `None`: no
    /// message waited.
    pub behind: Option<u64>,
}

/// State since the last call.
#[derive(Clone, Copy, Debug)]
struct Current {
    since: Instant,
    held: Held,
    behind: Option<u64>,
}

/// Records the waits of a sender. A wait lasts from one time at which the sender has sent everything that it may send
/// to the next such time.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub spans: Vec<Span>,
    current: Option<Current>,
    /// Starts of messages that are not acknowledged. Each is a TSN or a byte, and the number of the message.
    begins: VecDeque<(u64, u64)>,
    /// Expiries of the retransmission timer by path.
    timeouts: BTreeMap<u8, (f64, Vec<Instant>)>,
}

impl Waits {
    /// Records that a message begins at a TSN or byte.
    pub fn begin(&mut self, at: u64, message: u64) {
        self.begins.push_back((at, message));
    }

    /// Records that `held` limits the sender from now on. The peer has acknowledged everything before `unacknowledged`.
    /// `blamed` returns the message for which others wait. The argument of `blamed` is the first message that is not
    /// acknowledged. Returns the message that keeps the receive window full, if there is one.
    pub fn stands(
        &mut self,
        now: Instant,
        held: Option<Held>,
        unacknowledged: Option<u64>,
        blamed: impl FnOnce(u64) -> Option<u64>,
    ) -> Option<u64> {
        self.end(now);
        if let Some(first) = unacknowledged {
            while self.begins.get(1).is_some_and(|(at, _)| *at <= first) {
                self.begins.pop_front();
            }
        }
        let held = held?;
        let full = held.by == HeldBy::ReceiveWindow;
        let first = self.begins.front().map(|(_, message)| *message);
        let behind = first.filter(|_| full).and_then(blamed);
        self.current = Some(Current { since: now, held, behind });
        behind
    }

    /// Ends the state since the last call.
    pub fn end(&mut self, now: Instant) {
        let Some(Current { since, held, behind }) = self.current.take() else { return };
        match self.spans.last_mut() {
            _ if now <= since => {}
            Some(last) if (last.to, last.held, last.behind) == (since, held, behind) => last.to = now,
            _ => self.spans.push(Span { held, from: since, to: now, behind }),
        }
    }

    /// Records expiries of retransmission timers.
    pub fn look_at_timers(&mut self, now: Instant, agent: &dyn Agent) {
        agent.counters(now, &mut |path, name, total| {
            let Some(path) = path.filter(|_| name == "timeouts") else { return };
            let (before, expiries) = self.timeouts.entry(path).or_default();
            if total > *before {
                expiries.push(now);
            }
            *before = total;
        });
    }

    /// Returns the first expiry of the retransmission timer of `path` after `from` and not after `to`.
    pub fn timeout(&self, path: u8, from: Instant, to: Instant) -> Option<Instant> {
        let (_, expiries) = self.timeouts.get(&path)?;
        expiries.iter().copied().find(|at| *at > from && *at <= to)
    }

    /// Returns the messages that kept the receive window full. Each has its time, and the longest time comes first.
    pub fn heads(&self) -> Vec<(u64, Duration)> {
        let mut times = BTreeMap::<u64, Duration>::new();
        for (meta, span) in self.spans.iter().filter_map(|span| Some((span.behind?, span))) {
            *times.entry(meta).or_default() += span.to - span.from;
        }
        let mut times: Vec<_> = times.into_iter().collect();
        times.sort_by_key(|(_, time)| core::cmp::Reverse(*time));
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandcast_sim::net::Paths;

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn equal_times_are_one_and_heads_move_with_acknowledgements() {
        let mut waits = Waits::default();
        for message in 0..4 {
            waits.begin(100 + 2 * message, message);
        }
        let held = |by| Some(Held { by, full: Paths::NONE, open: Paths::NONE });
        let window = held(HeldBy::ReceiveWindow);
        let blame = |n| move |first| (first == n).then_some(n);
        assert_eq!(waits.stands(at(0), None, Some(100), blame(0)), None);
        assert_eq!(waits.stands(at(10), window, Some(103), blame(1)), Some(1));
        assert_eq!(waits.stands(at(20), window, Some(103), blame(1)), Some(1));
        assert_eq!(waits.stands(at(29), window, Some(104), blame(1)), None);
        assert_eq!(waits.stands(at(40), window, Some(104), blame(2)), Some(2));
        assert_eq!(waits.stands(at(50), held(HeldBy::Pacing), Some(104), blame(2)), None);
        waits.end(at(55));
        let spans: Vec<_> = waits.spans.iter().map(|s| (s.from, s.to, s.held.by, s.behind)).collect();
        assert_eq!(
            spans,
            [
                (at(10), at(29), HeldBy::ReceiveWindow, Some(1)),
                (at(29), at(40), HeldBy::ReceiveWindow, None),
                (at(40), at(50), HeldBy::ReceiveWindow, Some(2)),
                (at(50), at(55), HeldBy::Pacing, None),
            ]
        );
        let heads = [(1, Duration::from_millis(19)), (2, Duration::from_millis(10))];
        assert_eq!(waits.heads(), heads, "longest first");
    }
}
