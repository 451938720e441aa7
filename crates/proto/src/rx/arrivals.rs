//! Recent TSNs by their path of arrival, for a peer that sends copies.

use smallvec::SmallVec;

use crate::wire::chunk::report::{MAX_RANGES, TsnRange};
use crate::wire::serial::Tsn;

/// Number of SACKs that report a range of TSNs after a TSN was added to the range. The number of SACKs is more than
/// one, because SACKs may be lost.
const SAID: u64 = 3;

/// Ranges of TSNs that arrived by one path. The range that was extended last is at the end.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    ranges: SmallVec<[Range; 2]>,
}

#[derive(Copy, Clone, Debug)]
struct Range {
    tsns: TsnRange,
    /// Number of SACKs that had been sent at the time of the last addition.
    at: u64,
}

impl Arrivals {
    /// Records that `tsn` arrived, for the first time or again. At this time, `sacks` SACKs had been sent.
    pub fn add(&mut self, tsn: Tsn, sacks: u64) {
        let tsns = match self.ranges.iter().rposition(|r| r.tsns.last + 1 == tsn) {
            Some(i) => TsnRange { last: tsn, ..self.ranges.remove(i).tsns },
            None => TsnRange { first: tsn, last: tsn },
        };
        if self.ranges.len() == MAX_RANGES {
            self.ranges.remove(0);
        }
        self.ranges.push(Range { tsns, at: sacks });
    }

    /// Returns the ranges for the packet of the next SACK. `sacks` SACKs were sent before.
    pub fn recent(&self, sacks: u64) -> SmallVec<[TsnRange; 2]> {
        self.ranges.iter().filter(|r| r.at + SAID > sacks).map(|r| r.tsns).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_and_are_said_thrice() {
        let mut arrivals = Arrivals::default();
        let range = |first, last| TsnRange { first: Tsn(first), last: Tsn(last) };
        for tsn in [u32::MAX - 1, u32::MAX, 0, 1] {
            arrivals.add(Tsn(tsn), 7);
        }
        arrivals.add(Tsn(5), 8);
        assert_eq!(arrivals.recent(9)[..], [range(u32::MAX - 1, 1), range(5, 5)]);
        arrivals.add(Tsn(2), 9);
        assert_eq!(arrivals.recent(10)[..], [range(5, 5), range(u32::MAX - 1, 2)], "the newest last");
        assert_eq!(arrivals.recent(11)[..], [range(u32::MAX - 1, 2)]);
        assert!(arrivals.recent(12).is_empty());
    }

    /// Memory is bounded for any sequence of arrivals, and the oldest ranges are dropped first.
    #[test]
    fn memory_is_bounded() {
        let mut arrivals = Arrivals::default();
        for i in 0..10_000 {
            arrivals.add(Tsn(i * 2), 0);
        }
        let said = arrivals.recent(0);
        assert_eq!((said.len(), said[0].first), (MAX_RANGES, Tsn(2 * (10_000 - MAX_RANGES as u32))));
    }
}
