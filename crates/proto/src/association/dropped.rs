//! Messages that go no further, and why.

use crate::policy::GiveUp;
use crate::time::Instant;

/// Why a message goes no further.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DropCause {
    /// Its lifetime was over.
    Expired,
    /// The scheduler gave it up.
    Scheduler(GiveUp),
    /// The scheme gave up the whole group that it is of ([`crate::policy::Act::Drop`]).
    Group,
    /// Some of it was lost, and the loss policy gave it up ([`crate::policy::Retransmit::Abandon`]).
    LossPolicy,
    /// The association ended.
    Ended,
}

impl DropCause {
    /// All of them.
    pub const ALL: [DropCause; 7] = [
        DropCause::Expired,
        DropCause::Scheduler(GiveUp::TooLate),
        DropCause::Scheduler(GiveUp::TooFar),
        DropCause::Scheduler(GiveUp::MakesWay),
        DropCause::Group,
        DropCause::LossPolicy,
        DropCause::Ended,
    ];

    /// Its name in outputs.
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

/// Numbers of messages by [`DropCause`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct DropCounts([u64; DropCause::ALL.len()]);

impl DropCounts {
    /// How many a cause took.
    pub fn of(&self, cause: DropCause) -> u64 {
        self.0[cause.index()]
    }

    /// How many the scheduler gave up, for whatever reason.
    pub fn by_scheduler(&self) -> u64 {
        GiveUp::ALL.iter().map(|why| self.of(DropCause::Scheduler(*why))).sum()
    }

    /// Each cause with its number.
    pub fn iter(&self) -> impl Iterator<Item = (DropCause, u64)> {
        DropCause::ALL.into_iter().zip(self.0)
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(super) fn add(&mut self, cause: DropCause) {
        self.0[cause.index()] += 1;
    }
}

/// A message that goes no further.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// Its number, as [`send`](super::Association::send) gave it.
    pub message: u64,
    /// Why.
    pub cause: DropCause,
    /// Some of it was sent.
    pub begun: bool,
    /// Bytes of it that were never sent.
    pub unsent: u64,
    /// When it becomes worthless.
    pub expires: Option<Instant>,
}
