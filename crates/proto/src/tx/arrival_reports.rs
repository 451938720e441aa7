//! The peer's reports of the paths by which copies arrived (REPORT items COPIES and ARRIVALS, docs/wire-format.md).

use smallvec::SmallVec;

use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::chunk::report::{MAX_RANGES, TsnRange};
use crate::wire::serial::Tsn;
use crate::work;

/// Maximum number of ranges read from one packet: the maximum number of paths times [`MAX_RANGES`].
const MOST_RANGES: usize = crate::path::MAX_PATHS * MAX_RANGES;

/// State of the peer's reports, with the ranges of the packet that is being read.
#[derive(Debug, Default)]
pub(crate) struct ArrivalReports {
    /// True if this side has asked the peer to name the paths of arrivals.
    asked: bool,
    /// Time since which the peer has named the paths of arrivals. Copies sent earlier may be missing from the peer's
    /// reports.
    since: Option<Instant>,
    named: SmallVec<[(PathId, TsnRange); 4]>,
}

impl ArrivalReports {
    /// Returns whether this side has asked the peer to name the paths of arrivals.
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// Records that this side asks the peer to name the paths of arrivals.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Returns the time since which the peer has named the paths of arrivals.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Records that the peer named paths of arrivals, possibly for the first time.
    pub fn begin(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Adds a range of TSNs that the peer reports for `path`. Returns false if there are too many ranges. Only an
    /// attempt to cause long searches puts more ranges into one packet.
    pub fn take(&mut self, path: PathId, range: TsnRange) -> bool {
        let room = self.named.len() < MOST_RANGES;
        if room {
            self.named.push((path, range));
        }
        room
    }

    /// Returns whether a report in this packet names `tsn` for `path`.
    pub fn names(&self, tsn: Tsn, path: PathId) -> bool {
        self.on(path).any(|range| range.contains(tsn))
    }

    /// Returns the ranges that reports in this packet name for `path`.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &TsnRange> {
        work::count(self.named.len());
        self.named.iter().filter(move |(p, _)| *p == path).map(|(_, range)| range)
    }

    /// Drops the ranges of the packet after it was read.
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
