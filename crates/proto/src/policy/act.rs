//! Spontaneous actions of a scheme, in addition to its answers to the core's questions.

use super::waiting::{MOST_WAITING, Runs, Waiting};
use super::{ChunkInfo, LossCause, PathId};
use crate::time::Instant;
use crate::tx::{RetransmissionQueue, SendQueue};
use crate::wire::serial::Tsn;

/// An action of a part of a scheme ([`Policy::act`](super::Policy::act)). An action that is not possible is counted as
/// refused: if there is no such chunk or path, nothing is in flight on the path, or no redundancy is left.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Sends a copy of a chunk in flight on another path in addition. The copy leaves before lost and new chunks once
    /// `to` has room, unless the chunk has arrived, was lost or became useless by then. It is refused in the following
    /// cases: the chunk has already arrived, is lost or is useless; the chunk is in flight or about to leave on `to`;
    /// `to` is not usable ([`View::usable`](super::View::usable)); too many copies wait; the cap on redundancy does not
    /// admit it.
    Copy {
        /// The chunk.
        tsn: Tsn,
        /// The path of the copy.
        to: PathId,
    },
    /// Declares all chunks lost that left on `path` before `sent_before` and are in flight there, each with a
    /// [`Lost`](super::Signal::Lost). It is refused if there are no such chunks.
    Lose {
        /// Path of the chunks.
        path: PathId,
        /// Time before which the chunks left.
        sent_before: Instant,
        /// Cause of the loss. [`LossPolicy::classify`](super::LossPolicy::classify) is not called, and no
        /// [`LossEvent`](super::Signal::LossEvent) follows, because the part has decided on the cause and the window.
        cause: LossCause,
    },
    /// Gives up every message of a group: messages that wait, messages that were sent and did not arrive (if the peer
    /// supports RFC 3758), and messages that are submitted later
    /// ([`SendOptions::group`](crate::association::SendOptions::group)). It is refused if the group was given up before
    /// and has no further messages.
    Drop {
        /// Number of the group.
        group: u64,
    },
}

/// The data in flight, and the data that wait.
#[derive(Copy, Clone, Debug)]
pub struct Flight<'a> {
    queue: &'a RetransmissionQueue,
    waiting: Queued<'a>,
}

/// Messages that wait, and the parameters for cutting chunks from them.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Queued<'a> {
    pub messages: &'a SendQueue,
    /// Maximum payload of a chunk.
    pub max: usize,
    /// Bytes that a chunk counts in addition to its payload.
    pub beside: usize,
}

impl<'a> Flight<'a> {
    pub(crate) fn new(queue: &'a RetransmissionQueue, waiting: Queued<'a>) -> Self {
        Flight { queue, waiting }
    }

    /// Chunks in flight on `path`. Chunks that were first sent on it come first, in the order of TSNs, which is the
    /// order of sending. Retransmissions and copies follow.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &'a ChunkInfo> + use<'a> {
        self.queue.flight(path)
    }

    /// Returns the chunk `tsn`, unless the peer has acknowledged it cumulatively.
    pub fn chunk(&self, tsn: Tsn) -> Option<&'a ChunkInfo> {
        self.queue.get(tsn).map(|chunk| &chunk.info)
    }

    /// Data that wait to be sent for the first time, in the order in which they were submitted, without messages in
    /// coded blocks. At most [`MOST_WAITING`] runs are returned, from the oldest message on. Each message is read once,
    /// and no memory is allocated.
    pub fn waiting(&self) -> impl Iterator<Item = Waiting> + use<'a> {
        let Queued { messages, max, beside } = self.waiting;
        Runs::new(messages, max, beside).take(MOST_WAITING)
    }

    /// Payload bytes of lost chunks that wait to be retransmitted on a path that the scheduler chooses
    /// ([`Retransmit::Requeue`](super::Retransmit::Requeue)).
    pub fn requeued(&self) -> u64 {
        self.queue.requeued()
    }
}
