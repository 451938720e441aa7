//! Which chunks a SACK may count as missed.

use crate::wire::serial::Tsn;

/// The chunks of one path that a SACK may add misses to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MissScope {
    /// Of those first sent there, copies included: by their TSN.
    pub first: Reach,
    /// Of those sent again there: by the highest TSN that was sent before they left.
    pub again: Reach,
}

/// TSNs up to somewhere.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// None.
    Nothing,
    /// Those before this one.
    Before(Tsn),
    /// All.
    Everything,
}

impl MissScope {
    /// Every chunk that the SACK leaves open.
    pub const ALL: MissScope = MissScope { first: Reach::Everything, again: Reach::Everything };
    /// None.
    pub const NONE: MissScope = MissScope { first: Reach::Nothing, again: Reach::Nothing };
}

impl Reach {
    /// Whether `tsn` is among them.
    pub fn admits(self, tsn: Tsn) -> bool {
        match self {
            Reach::Nothing => false,
            Reach::Before(end) => tsn.is_before(end),
            Reach::Everything => true,
        }
    }
}
