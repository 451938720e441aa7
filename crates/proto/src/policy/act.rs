//! What a scheme does of its own accord, beside its answers to the core's questions.

use super::waiting::{MOST_WAITING, Runs, Waiting};
use super::{ChunkInfo, LossCause, PathId};
use crate::time::Instant;
use crate::tx::{RetransmissionQueue, SendQueue};
use crate::wire::serial::Tsn;

/// One thing that a part of a scheme does ([`Policy::act`](super::Policy::act)). What can't be done (no such chunk or path,
/// nothing in flight there, no redundancy left) is counted as refused.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Sends a copy of a chunk that is in flight on another path as well, before lost and new chunks, once `to` has room and
    /// unless the chunk arrived, was lost or became worthless by then. Refused if it is so already, or in flight or about to
    /// leave on `to`, if `to` is not usable ([`View::usable`](super::View::usable)), if too many wait, and where
    /// redundancy has a bound that does not admit it.
    Copy {
        /// The chunk.
        tsn: Tsn,
        /// The path of the copy.
        to: PathId,
    },
    /// Declares lost what left on `path` before `sent_before` and is in flight there, each with a
    /// [`Lost`](super::Signal::Lost). Refused if that is nothing.
    Lose {
        /// Where.
        path: PathId,
        /// What left earlier than this.
        sent_before: Instant,
        /// Why. [`LossPolicy::classify`](super::LossPolicy::classify) is not asked, and no [`LossEvent`](super::Signal::LossEvent)
        /// follows: the part knows.
        cause: LossCause,
    },
    /// Gives up every message of a group: those that wait, those that were sent and did not arrive (RFC 3758, if the peer has it),
    /// and those still to come ([`SendOptions::group`](crate::association::SendOptions::group)). Refused if the group was given
    /// up before and nothing more of it is there.
    Drop {
        /// The group.
        group: u64,
    },
}

/// What is in flight, and what waits behind it.
#[derive(Copy, Clone, Debug)]
pub struct Flight<'a> {
    queue: &'a RetransmissionQueue,
    waiting: Queued<'a>,
}

/// Messages that wait, and how chunks are cut from them.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Queued<'a> {
    pub messages: &'a SendQueue,
    /// Payload of a chunk at the most.
    pub max: usize,
    /// What else a chunk has in the books.
    pub beside: usize,
}

impl<'a> Flight<'a> {
    pub(crate) fn new(queue: &'a RetransmissionQueue, waiting: Queued<'a>) -> Self {
        Flight { queue, waiting }
    }

    /// The chunks in flight on `path`: those first sent there in the order of TSNs, which is the order of sending, then those
    /// sent there again.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &'a ChunkInfo> + use<'a> {
        self.queue.flight(path)
    }

    /// The chunk `tsn`, unless the peer has acknowledged it cumulatively.
    pub fn chunk(&self, tsn: Tsn) -> Option<&'a ChunkInfo> {
        self.queue.get(tsn).map(|chunk| &chunk.info)
    }

    /// What waits to be sent for the first time, in the order in which it was handed in: messages in coded blocks are none of it.
    /// At most [`MOST_WAITING`] runs of the oldest messages. Costs a look at each of these; nothing is allocated.
    pub fn waiting(&self) -> impl Iterator<Item = Waiting> + use<'a> {
        let Queued { messages, max, beside } = self.waiting;
        Runs::new(messages, max, beside).take(MOST_WAITING)
    }

    /// Payload of lost chunks that wait to be sent again where the scheduler says, bytes
    /// ([`Retransmit::Requeue`](super::Retransmit::Requeue)).
    pub fn requeued(&self) -> u64 {
        self.queue.requeued()
    }
}
