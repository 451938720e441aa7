//! Spontaneous actions of a scheme, which the core does not ask for one by one.

use super::waiting::{MOST_WAITING, Runs, Waiting};
use super::{ChunkInfo, LossCause, PathId};
use crate::time::Instant;
use crate::tx::{RetransmissionQueue, SendQueue};
use crate::wire::serial::Tsn;

/// An action that a part of a scheme requests ([`Policy::act`](super::Policy::act)). An action that is not possible is
/// counted as refused. Reasons are: the chunk or the path does not exist, nothing is in flight on the path, or no
/// redundancy is left.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Sends a copy of a chunk on a further path, while the chunk is in flight. The copy leaves once `to` has room,
    /// before lost and new chunks. A copy does not leave if the chunk has arrived, is lost or is useless by then. The
    /// action is refused in the following cases: the chunk has already arrived, is lost or is useless; the chunk is in
    /// flight or about to leave on `to`; `to` is not usable ([`View::usable`](super::View::usable)); too many copies
    /// wait; the cap on redundancy does not admit the copy.
    Copy {
        /// TSN of the chunk.
        tsn: Tsn,
        /// Path of the copy.
        to: PathId,
    },
    /// Declares all chunks lost that were sent on `path` before `sent_before` and are in flight there. Each causes a
    /// signal [`Lost`](super::Signal::Lost). The action is refused if there are no such chunks.
    Lose {
        /// Path of the chunks.
        path: PathId,
        /// Time before which the chunks were sent.
        sent_before: Instant,
        /// Cause of the loss. [`LossPolicy::classify`](super::LossPolicy::classify) is not called and no
        /// [`LossEvent`](super::Signal::LossEvent) follows. The reason is that the part itself has decided on the cause
        /// and the window.
        cause: LossCause,
    },
    /// Gives up every message of a group. This action applies to messages that wait and to messages that are submitted
    /// later ([`SendOptions::group`](crate::association::SendOptions::group)). If the peer supports RFC 3758, this
    /// action also applies to messages that were sent and did not arrive. The action is refused if the group was
    /// already given up and has no further messages.
    Drop {
        /// Number of the group.
        group: u64,
    },
}

/// The data in flight, and the data that wait to be sent.
#[derive(Copy, Clone, Debug)]
pub struct Flight<'a> {
    queue: &'a RetransmissionQueue,
    waiting: Queued<'a>,
}

/// Messages that wait to be sent, and the parameters for cutting chunks from them.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Queued<'a> {
    pub messages: &'a SendQueue,
    /// Maximum payload bytes of a chunk.
    pub max: usize,
    /// Bytes that each chunk counts in addition to its payload.
    pub beside: usize,
}

impl<'a> Flight<'a> {
    pub(crate) fn new(queue: &'a RetransmissionQueue, waiting: Queued<'a>) -> Self {
        Flight { queue, waiting }
    }

    /// Returns the chunks in flight on `path`. Chunks that were first sent on this path come first, in the order of
    /// their TSNs. The order of TSNs is the order of sending. Retransmissions and copies follow these chunks.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &'a ChunkInfo> + use<'a> {
        self.queue.flight(path)
    }

    /// Returns the chunk with this TSN, unless the peer has acknowledged it cumulatively.
    pub fn chunk(&self, tsn: Tsn) -> Option<&'a ChunkInfo> {
        self.queue.get(tsn).map(|chunk| &chunk.info)
    }

    /// Returns the data that wait for their first transmission, in the order in which they were submitted. Messages in
    /// coded blocks are not included. At most [`MOST_WAITING`] runs of messages are returned, starting with the oldest
    /// message. Each message is visited once, and no memory is allocated.
    pub fn waiting(&self) -> impl Iterator<Item = Waiting> + use<'a> {
        let Queued { messages, max, beside } = self.waiting;
        Runs::new(messages, max, beside).take(MOST_WAITING)
    }

    /// Returns the payload bytes of lost chunks that wait for retransmission. Only chunks count whose path the
    /// scheduler chooses ([`Retransmit::Requeue`](super::Retransmit::Requeue)).
    pub fn requeued(&self) -> u64 {
        self.queue.requeued()
    }
}
