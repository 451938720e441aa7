//! Packets that the receiver is missing, as ranges.

use std::collections::VecDeque;

use strandcast_proto::time::{Duration, Instant};

/// A range of consecutive missing packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    last: u64,
    /// Time at which the gap was detected.
    since: Instant,
    /// Time of the last report of this range.
    asked: Option<Instant>,
}

impl Range {
    /// Returns the time at which a report of the range is due, if the packets before `end` have arrived. The first
    /// report is due `interval` after the gap was detected, and then `repeat` after the last report.
    fn due(&self, end: u64, tolerance: u64, interval: Duration, repeat: Duration) -> Instant {
        match self.asked {
            Some(asked) => asked + repeat,
            // As many later packets have arrived as may overtake.
            None if end > self.last + tolerance + 1 => self.since,
            None => self.since + interval,
        }
    }
}

/// Missing packets, in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Losses {
    ranges: VecDeque<Range>,
}

impl Losses {
    /// Returns the number of the first missing packet.
    pub fn first(&self) -> Option<u64> {
        self.ranges.front().map(|r| r.first)
    }

    /// Appends a range of missing packets, which are later than all others.
    pub fn push(&mut self, now: Instant, first: u64, last: u64) {
        self.ranges.push_back(Range { first, last, since: now, asked: None });
    }

    /// Removes a packet from the missing packets. Returns false if the packet was not missing.
    pub fn remove(&mut self, number: u64) -> bool {
        let at = self.ranges.partition_point(|r| r.last < number);
        let Some(range) = self.ranges.get_mut(at).filter(|r| r.first <= number) else { return false };
        let (before, after) = (range.first < number, number < range.last);
        match (before, after) {
            (false, false) => drop(self.ranges.remove(at)),
            (true, false) => range.last = number - 1,
            (false, true) => range.first = number + 1,
            (true, true) => {
                let rest = Range { first: number + 1, ..*range };
                range.last = number - 1;
                self.ranges.insert(at + 1, rest);
            }
        }
        true
    }

    /// Removes the packets from `first` to `last` from the missing packets.
    pub fn remove_range(&mut self, first: u64, last: u64) {
        let at = self.ranges.partition_point(|r| r.last < first);
        if let Some(range) = self.ranges.get_mut(at).filter(|r| r.first < first) {
            let whole = *range;
            range.last = first - 1;
            self.ranges.insert(at + 1, Range { first, ..whole });
        }
        let at = self.ranges.partition_point(|r| r.last < first);
        while let Some(range) = self.ranges.get_mut(at).filter(|r| r.first <= last) {
            if range.last > last {
                range.first = last + 1;
                return;
            }
            self.ranges.remove(at);
        }
    }

    /// Returns the ranges of which a report is due. Each returned range counts as reported.
    pub fn take_due(
        &mut self,
        now: Instant,
        end: u64,
        tolerance: u64,
        interval: Duration,
        repeat: Duration,
    ) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.iter_mut().filter(move |r| r.due(end, tolerance, interval, repeat) <= now).map(
            move |range| {
                range.asked = Some(now);
                (range.first, range.last)
            },
        )
    }

    /// Returns the time of the next report.
    pub fn next(&self, end: u64, tolerance: u64, interval: Duration, repeat: Duration) -> Option<Instant> {
        self.ranges.iter().map(|r| r.due(end, tolerance, interval, repeat)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(losses: &Losses) -> Vec<(u64, u64)> {
        losses.ranges.iter().map(|r| (r.first, r.last)).collect()
    }

    fn some() -> Losses {
        let mut losses = Losses::default();
        losses.push(Instant::ZERO, 10, 14);
        losses.push(Instant::ZERO, 20, 20);
        losses.push(Instant::ZERO, 30, 39);
        losses
    }

    #[test]
    fn packets_leave_the_list_one_by_one() {
        let mut losses = some();
        assert!(losses.remove(12) && losses.remove(10) && losses.remove(14) && losses.remove(20));
        assert!(!losses.remove(12) && !losses.remove(20) && !losses.remove(25) && !losses.remove(50));
        assert_eq!(ranges(&losses), [(11, 11), (13, 13), (30, 39)]);
        assert_eq!(losses.first(), Some(11));
    }

    #[test]
    fn ranges_leave_the_list_in_part_or_whole() {
        for (first, last, left) in [
            (0, 9, vec![(10, 14), (20, 20), (30, 39)]),
            (12, 12, vec![(10, 11), (13, 14), (20, 20), (30, 39)]),
            (12, 32, vec![(10, 11), (33, 39)]),
            (0, 100, vec![]),
            (14, 30, vec![(10, 13), (31, 39)]),
        ] {
            let mut losses = some();
            losses.remove_range(first, last);
            assert_eq!(ranges(&losses), left, "{first} to {last}");
        }
    }

    #[test]
    fn a_report_waits_for_packets_that_may_overtake_then_for_an_answer() {
        let ms = Duration::from_millis;
        let mut losses = Losses::default();
        losses.push(Instant::from_millis(100), 5, 6);
        let mut due = |now: u64, end, tolerance| {
            let now = Instant::from_millis(now);
            losses.take_due(now, end, tolerance, ms(20), ms(80)).collect::<Vec<_>>()
        };
        // Packet 7 has arrived; with a tolerance of 2 packets 8 and 9 come first.
        assert_eq!(due(100, 8, 2), []);
        assert_eq!(due(101, 9, 2), []);
        assert_eq!(due(102, 10, 2), [(5, 6)]);
        assert_eq!(due(181, 10, 2), [], "the answer may still come");
        assert_eq!(due(182, 10, 2), [(5, 6)]);
        losses.push(Instant::from_millis(200), 20, 20);
        let mut late = |now: u64| {
            let now = Instant::from_millis(now);
            losses.take_due(now, 22, 9, ms(20), ms(800)).collect::<Vec<_>>()
        };
        assert_eq!((late(219), late(220)), (vec![], vec![(20, 20)]), "no later packets");
    }
}
