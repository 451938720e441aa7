//! The peer's reports of arrivals, with times of the peer's clock (REPORT item ARRIVED, docs/wire-format.md).

use smallvec::SmallVec;

use super::ids::PathId;
use crate::time::{Duration, Instant};
use crate::wire::serial::Tsn;

/// A time of the peer's clock, in microseconds since an origin. The origin never changes within an association. How
/// this clock relates to the local clock is unknown. Differences between paths are nevertheless exact, because all
/// paths of an association share both clocks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PeerTime(pub u64);

impl PeerTime {
    /// Returns the time from `earlier` to this time; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: PeerTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Returns the difference in microseconds between this time of the peer's clock and the local time `sent`. The
    /// difference is the one-way delay plus an unknown constant, which is equal for all paths.
    #[inline]
    pub fn ahead_of(self, sent: Instant) -> i64 {
        (self.0 as i64).wrapping_sub((sent.as_nanos() / 1000) as i64)
    }
}

/// One report of the peer about arrivals, by path. A report that arrives after a newer one has no paths. A late report
/// still proves that its return path works. Reports on slower return paths always arrive after newer ones.
#[derive(Clone, PartialEq, Debug)]
pub struct PeerArrivals {
    /// Time at which the peer wrote the report.
    pub written: PeerTime,
    /// Path by which the report returned.
    pub via: PathId,
    /// Open paths by which data have arrived since this side requested reports. A path is listed even if no data
    /// arrived by it since the last report.
    pub paths: SmallVec<[PathArrivals; 4]>,
}

/// Arrivals by one path.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct PathArrivals {
    /// Path by which the data arrived.
    pub path: PathId,
    /// Highest TSN of the last packet with DATA that arrived by this path.
    pub tsn: Tsn,
    /// Time of the peer's clock at which that packet arrived.
    pub at: PeerTime,
    /// Local time at which that packet was sent. The time is `None` if that packet was acknowledged before the report
    /// arrived. The time is also `None` if the packet's highest TSN was sent on this path more than once: it is then
    /// unknown which transmission arrived (Karn's rule).
    pub sent: Option<Instant>,
    /// Number of packets with DATA that have arrived by this path since this side requested reports.
    pub packets: u64,
    /// Bytes of these packets, counted as SCTP packets.
    pub bytes: u64,
}
