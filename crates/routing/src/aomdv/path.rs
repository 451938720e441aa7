//! A path in AOMDV's routing table.

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::message::Quality;

/// A path to a destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    pub next_hop: Address,
    /// Last hop: the node before the destination. Two paths with different next hops and different last hops share no
    /// link. Two such paths share no link if all nodes on them keep only such paths.
    pub last_hop: Address,
    pub hops: u8,
    pub expires: Instant,
    /// Quality of the path, measured by QAOMDV.
    pub quality: Option<Quality>,
}

impl Path {
    /// Returns whether the path has the same next hop or the same last hop as another path.
    pub fn overlaps(&self, other: &Path) -> bool {
        self.next_hop == other.next_hop || self.last_hop == other.last_hop
    }
}
