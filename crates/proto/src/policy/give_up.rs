//! Reasons why a scheduler gives up a message.

/// Reason why a scheduler gives up a message ([`Assignment::nowhere`](super::Assignment::nowhere)).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum GiveUp {
    /// The message would be late on every permitted path, because of the data that wait there.
    #[default]
    TooLate,
    /// The transit times alone, without queues, exceed the message's remaining time.
    TooFar,
    /// The message occupies a path that could deliver a later message in time.
    MakesWay,
}

impl GiveUp {
    /// All reasons.
    pub const ALL: [GiveUp; 3] = [GiveUp::TooLate, GiveUp::TooFar, GiveUp::MakesWay];
}
