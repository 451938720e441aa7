//! Messages that the sender gave up, and the causes.

use crate::policy::GiveUp;
use crate::time::Instant;

/// Cause for which the sender gave up a message.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DropCause {
    /// The lifetime of the message was over.
    Expired,
    /// The scheduler gave up the message.
    Scheduler(GiveUp),
    /// The scheme gave up the whole group of the message ([`crate::policy::Act::Drop`]).
    Group,
    /// A part of the message was lost, and the loss policy abandoned the message
    /// ([`crate::policy::Retransmit::Abandon`]).
    LossPolicy,
    /// The association ended before the message was delivered.
    Ended,
}

impl DropCause {
    /// All causes.
    pub const ALL: [DropCause; 7] = [
        DropCause::Expired,
        DropCause::Scheduler(GiveUp::TooLate),
        DropCause::Scheduler(GiveUp::TooFar),
        DropCause::Scheduler(GiveUp::MakesWay),
        DropCause::Group,
        DropCause::LossPolicy,
        DropCause::Ended,
    ];

    /// Name of the cause in outputs.
    pub fn name(self) -> &'static str {
        match self {
            DropCause::Expired => "expired",
            DropCause::Scheduler(GiveUp::TooLate) => "too-late",
            DropCause::Scheduler(GiveUp::TooFar) => "too-far",
            DropCause::Scheduler(GiveUp::MakesWay) => "makes-way",
            DropCause::Group => "group",
            DropCause::LossPolicy => "loss-policy",
            DropCause::Ended => "ended",
        }
    }

    fn index(self) -> usize {
        match self {
            DropCause::Expired => 0,
            DropCause::Scheduler(why) => 1 + why as usize,
            DropCause::Group => 4,
            DropCause::LossPolicy => 5,
            DropCause::Ended => 6,
        }
    }
}

/// Number of given-up messages for each [`DropCause`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct DropCounts([u64; DropCause::ALL.len()]);

impl DropCounts {
    /// Number of messages given up for one cause.
    pub fn of(&self, cause: DropCause) -> u64 {
        self.0[cause.index()]
    }

    /// Number of messages that the scheduler gave up, for any reason.
    pub fn by_scheduler(&self) -> u64 {
        GiveUp::ALL.iter().map(|why| self.of(DropCause::Scheduler(*why))).sum()
    }

    /// Returns each cause with its number of messages.
    pub fn iter(&self) -> impl Iterator<Item = (DropCause, u64)> {
        DropCause::ALL.into_iter().zip(self.0)
    }

    /// Number of all messages that were given up.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(super) fn add(&mut self, cause: DropCause) {
        self.0[cause.index()] += 1;
    }
}

/// A message that the sender gave up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// Number of the message, as returned by [`send`](super::Association::send).
    pub message: u64,
    /// Cause of the drop.
    pub cause: DropCause,
    /// True if a part of the message was already sent.
    pub begun: bool,
    /// Bytes of the message that were never sent.
    pub unsent: u64,
    /// Time at which the message becomes useless.
    pub expires: Option<Instant>,
}
