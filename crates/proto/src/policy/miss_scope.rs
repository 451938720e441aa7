//! Chunks that a SACK may count as missed.

use crate::wire::serial::Tsn;

/// Chunks of one path for which a SACK may count misses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MissScope {
    /// Limit for chunks first sent on the path, including copies, by their TSN.
    pub first: Reach,
    /// Limit for chunks retransmitted on the path, by the highest TSN that was sent before they left.
    pub again: Reach,
}

/// A range of TSNs from the beginning.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// No TSN.
    Nothing,
    /// All TSNs before this one.
    Before(Tsn),
    /// All TSNs.
    Everything,
}

impl MissScope {
    /// Every chunk that the SACK leaves open.
    pub const ALL: MissScope = MissScope { first: Reach::Everything, again: Reach::Everything };
    /// No chunk.
    pub const NONE: MissScope = MissScope { first: Reach::Nothing, again: Reach::Nothing };
}

impl Reach {
    /// Returns whether `tsn` is in the range.
    pub fn admits(self, tsn: Tsn) -> bool {
        match self {
            Reach::Nothing => false,
            Reach::Before(end) => tsn.is_before(end),
            Reach::Everything => true,
        }
    }
}
