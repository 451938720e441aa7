//! Chunks that a SACK may count as missed.

use crate::wire::serial::Tsn;

/// Chunks of one path for which a SACK may count misses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MissScope {
    /// Range of chunks first sent on the path, including copies, by the chunk's TSN.
    pub first: Reach,
    /// Range of chunks retransmitted on the path. Here the highest TSN that was sent before the retransmission counts.
    pub again: Reach,
}

/// A range of TSNs that starts at the lowest TSN.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The range contains no TSN.
    Nothing,
    /// The range contains all TSNs before this TSN.
    Before(Tsn),
    /// The range contains all TSNs.
    Everything,
}

impl MissScope {
    /// Scope with every chunk that the SACK does not acknowledge.
    pub const ALL: MissScope = MissScope { first: Reach::Everything, again: Reach::Everything };
    /// Scope without chunks.
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
