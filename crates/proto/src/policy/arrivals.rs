//! What the peer says of arrivals, by its clock (REPORT item ARRIVED, docs/wire-format.md).

use smallvec::SmallVec;

use super::ids::PathId;
use crate::time::{Duration, Instant};
use crate::wire::serial::Tsn;

/// A time of the peer's clock: microseconds since some moment that never changes within an association. It says nothing about
/// our clock, but all paths of an association share both clocks, so that differences between paths are exact.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PeerTime(pub u64);

impl PeerTime {
    /// The time from `earlier` to this; nothing if `earlier` is later.
    pub fn since(self, earlier: PeerTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// By how much this clock is ahead of ours if what was sent at `sent` took no time, microseconds: the one-way delay and an
    /// unknown constant, which is the same for every path.
    pub fn ahead_of(self, sent: Instant) -> i64 {
        (self.0 as i64).wrapping_sub((sent.as_nanos() / 1000) as i64)
    }
}

/// One report of the peer: what arrived by which path. One that a newer report overtook still says that its return path
/// works, and has no paths: those of slower ways are always overtaken.
#[derive(Clone, PartialEq, Debug)]
pub struct PeerArrivals {
    /// When the peer wrote it.
    pub written: PeerTime,
    /// The path by which the report came.
    pub via: PathId,
    /// Each open path by which something arrived since the peer was asked, whether or not something new did since the last
    /// report.
    pub paths: SmallVec<[PathArrivals; 4]>,
}

/// What arrived by one path.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct PathArrivals {
    /// The path of the data.
    pub path: PathId,
    /// The highest TSN of the last packet with DATA that came by it.
    pub tsn: Tsn,
    /// When that packet arrived.
    pub at: PeerTime,
    /// When it left. `None`: it was acknowledged before the report came, or its highest TSN left on this path more than once,
    /// so that it may be any of them (Karn).
    pub sent: Option<Instant>,
    /// Packets with DATA that arrived by this path since the peer was asked.
    pub packets: u64,
    /// Bytes of those, as SCTP packets.
    pub bytes: u64,
}
