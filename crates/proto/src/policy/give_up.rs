//! Why a scheduler gives a message up.

/// Why a scheduler gives a message up ([`Assignment::nowhere`](super::Assignment::nowhere)).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum GiveUp {
    /// It would be late by every path that it may take: what waits there takes too long.
    #[default]
    TooLate,
    /// The ways themselves, queues apart, take longer than it has.
    TooFar,
    /// It keeps what follows it from a path that would bring that in time.
    MakesWay,
}

impl GiveUp {
    /// All of them.
    pub const ALL: [GiveUp; 3] = [GiveUp::TooLate, GiveUp::TooFar, GiveUp::MakesWay];
}
