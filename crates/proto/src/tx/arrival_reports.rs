//! What the peer says of the ways by which copies arrived (REPORT items COPIES and ARRIVALS, docs/wire-format.md).

use smallvec::SmallVec;

use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::chunk::report::{MAX_RANGES, TsnRange};
use crate::wire::serial::Tsn;
use crate::work;

/// Ranges of one packet that are read: paths times [`MAX_RANGES`] at most make sense.
const MOST_RANGES: usize = crate::path::MAX_PATHS * MAX_RANGES;

/// Whether the peer names ways, and what it named in the packet that is being read.
#[derive(Debug, Default)]
pub(crate) struct ArrivalReports {
    /// We asked for it.
    asked: bool,
    /// Since when it does: of copies that left before it may have reported nothing.
    since: Option<Instant>,
    named: SmallVec<[(PathId, TsnRange); 4]>,
}

impl ArrivalReports {
    /// Whether the peer was asked to name ways.
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// The peer is asked.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Since when the peer names ways.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// The peer named ways for the first time, or again.
    pub fn begin(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Takes one range; false if there were too many: more in one packet can only be an attempt to make the receiver search.
    pub fn take(&mut self, path: PathId, range: TsnRange) -> bool {
        let room = self.named.len() < MOST_RANGES;
        if room {
            self.named.push((path, range));
        }
        room
    }

    /// Whether `tsn` was named for `path` in this packet.
    pub fn names(&self, tsn: Tsn, path: PathId) -> bool {
        self.on(path).any(|range| range.contains(tsn))
    }

    /// What was named for `path` in this packet.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &TsnRange> {
        work::count(self.named.len());
        self.named.iter().filter(move |(p, _)| *p == path).map(|(_, range)| range)
    }

    /// The packet was read.
    pub fn forget(&mut self) {
        self.named.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u32, last: u32) -> TsnRange {
        TsnRange { first: Tsn(first), last: Tsn(last) }
    }

    #[test]
    fn ways_are_known_for_the_packet_that_named_them() {
        let mut reports = ArrivalReports::default();
        assert!(reports.take(PathId(1), range(5, 7)));
        assert!(
            reports.names(Tsn(6), PathId(1))
                && !reports.names(Tsn(6), PathId(0))
                && !reports.names(Tsn(8), PathId(1))
        );
        reports.forget();
        assert!(!reports.names(Tsn(6), PathId(1)));
    }

    #[test]
    fn no_packet_names_more_than_makes_sense() {
        let mut reports = ArrivalReports::default();
        let taken = (0..1000).filter(|n| reports.take(PathId(0), range(*n, *n))).count();
        assert_eq!(taken, MOST_RANGES);
    }

    #[test]
    fn the_first_report_counts() {
        let mut reports = ArrivalReports::default();
        (1..3).for_each(|ms| reports.begin(Instant::from_millis(ms)));
        assert_eq!(reports.since(), Some(Instant::from_millis(1)));
    }
}
