//! Spontaneous actions of a scheme, in addition to its answers to the core's questions.

use super::waiting::{MOST_WAITING, Runs, Waiting};
use super::{ChunkInfo, LossCause, PathId};
use crate::time::Instant;
use crate::tx::{RetransmissionQueue, SendQueue};
use crate::wire::serial::Tsn;

/// An action of a part of a scheme ([`Policy::act`](super::Policy::act)). An action that is not possible (no such chunk
/// or path, nothing in flight there, no redundancy left) is counted as refused.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Sends a copy of a chunk that is in flight on another path as well, before lost and new chunks, once `to` has
    /// room, unless the chunk has arrived, was lost or became worthless by then. Refused in the following cases: one of
    /// these is true already; the chunk is in flight or about to leave on `to`; `to` is not usable
    /// ([`View::usable`](super::View::usable)); too many copies wait; the cap on redundancy does not admit it.
    Copy {
        /// The chunk.
        tsn: Tsn,
        /// The path of the copy.
        to: PathId,
    },
    /// Declares all chunks lost that left on `path` before `sent_before` and are in flight there, each with a
    /// [`Lost`](super::Signal::Lost). Refused without such chunks.
    Lose {
        /// Path of the chunks.
        path: PathId,
        /// Time before which the chunks left.
        sent_before: Instant,
        /// Cause of the loss. [`LossPolicy::classify`](super::LossPolicy::classify) is not asked, and no
        /// [`LossEvent`](super::Signal::LossEvent) follows, since the part has decided.
        cause: LossCause,
    },
    /// Gives up every message of a group: those that wait, those that were sent and did not arrive (RFC 3758, if the
    /// peer supports it), and those that are submitted later
    /// ([`SendOptions::group`](crate::association::SendOptions::group)). Refused if the group was given up before and
    /// has no further messages.
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

    /// Chunks in flight on `path`: those first sent there in the order of TSNs, which is the order of sending, then
    /// those sent there again.
    pub fn on(&self, path: PathId) -> impl Iterator<Item = &'a ChunkInfo> + use<'a> {
        self.queue.flight(path)
    }

    /// Returns the chunk `tsn`, unless the peer has acknowledged it cumulatively.
    pub fn chunk(&self, tsn: Tsn) -> Option<&'a ChunkInfo> {
        self.queue.get(tsn).map(|chunk| &chunk.info)
    }

    /// Data that wait to be sent for the first time, in the order in which they were submitted, without messages in
    /// coded blocks. There are at most [`MOST_WAITING`] runs of the oldest messages. Each is read once, and nothing is
    /// allocated.
    pub fn waiting(&self) -> impl Iterator<Item = Waiting> + use<'a> {
        let Queued { messages, max, beside } = self.waiting;
        Runs::new(messages, max, beside).take(MOST_WAITING)
    }

    /// Payload bytes of lost chunks that wait to be sent again on a path of the scheduler's choice
    /// ([`Retransmit::Requeue`](super::Retransmit::Requeue)).
    pub fn requeued(&self) -> u64 {
        self.queue.requeued()
    }
}
