//! The peer's reports on the paths by which copies arrived (REPORT items COPIES and ARRIVALS, docs/wire-format.md).

use smallvec::SmallVec;

use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::chunk::report::{MAX_RANGES, TsnRange};
use crate::wire::serial::Tsn;
use crate::work;

/// Maximum number of ranges of one packet that are read: paths times [`MAX_RANGES`].
const MOST_RANGES: usize = crate::path::MAX_PATHS * MAX_RANGES;

/// State of the peer's reports, and the ranges of the packet that is being read.
#[derive(Debug, Default)]
pub(crate) struct ArrivalReports {
    /// True if the peer was asked to name paths.
    asked: bool,
    /// Time since which the peer has named paths. Earlier copies may be missing from its reports.
    since: Option<Instant>,
    named: SmallVec<[(PathId, TsnRange); 4]>,
}

impl ArrivalReports {
    /// Returns whether the peer was asked to name paths.
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// Records that the peer is asked to name paths.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Time since which the peer has named paths.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Records that the peer named paths for the first time, or again.
    pub fn begin(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Takes one range. Returns false if there are too many ranges. More ranges in one packet can only be an attempt to
    /// cause long searches.
    pub fn take(&mut self, path: PathId, range: TsnRange) -> bool {
        let room = self.named.len() < MOST_RANGES;
        if room {
            self.named.push((path, range));
        }
        room
    }

    /// Returns whether `tsn` was named for `path` in this packet.
    pub fn names(&self, tsn: Tsn, path: PathId) -> bool {
        self.on(path).any(|range| range.contains(tsn))
    }

    /// Ranges that were named for `path` in this packet.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &TsnRange> {
        work::count(self.named.len());
        self.named.iter().filter(move |(p, _)| *p == path).map(|(_, range)| range)
    }

    /// Drops the ranges after the packet was read.
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
