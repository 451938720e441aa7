//! The peer's reports of arrivals, by its clock (REPORT item ARRIVED, docs/wire-format.md).

use smallvec::SmallVec;

use super::ids::PathId;
use crate::time::{Duration, Instant};
use crate::wire::serial::Tsn;

/// A time of the peer's clock: microseconds since an origin that never changes within an association. Its relation to
/// the local clock is unknown, but all paths of an association share both clocks, so that differences between paths are
/// exact.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PeerTime(pub u64);

impl PeerTime {
    /// Time from `earlier` to this time; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: PeerTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Difference in microseconds of this time by the peer's clock and `sent` by the local clock. It is the one-way
    /// delay plus an unknown constant, which is equal for all paths.
    #[inline]
    pub fn ahead_of(self, sent: Instant) -> i64 {
        (self.0 as i64).wrapping_sub((sent.as_nanos() / 1000) as i64)
    }
}

/// One report of the peer: the arrivals by each path. A report that a newer one overtook has no paths, but still proves
/// that its return path works. Reports on slower return paths are always overtaken.
#[derive(Clone, PartialEq, Debug)]
pub struct PeerArrivals {
    /// Time at which the peer wrote the report.
    pub written: PeerTime,
    /// Path by which the report arrived.
    pub via: PathId,
    /// Each open path by which data have arrived since the peer was asked for reports, even if none has arrived since
    /// the last report.
    pub paths: SmallVec<[PathArrivals; 4]>,
}

/// Arrivals by one path.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct PathArrivals {
    /// The path of the data.
    pub path: PathId,
    /// Highest TSN of the last packet with DATA that arrived by this path.
    pub tsn: Tsn,
    /// Time at which that packet arrived.
    pub at: PeerTime,
    /// Time at which that packet left. It is `None` if that packet was acknowledged before the report arrived, or if
    /// its highest TSN left on this path more than once, so that the transmission that arrived is unknown (Karn's
    /// rule).
    pub sent: Option<Instant>,
    /// Number of packets with DATA that have arrived by this path since the peer was asked for reports.
    pub packets: u64,
    /// Number of bytes of these packets, counted as SCTP packets.
    pub bytes: u64,
}
