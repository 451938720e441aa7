//! Messages that the sender gives up.

use super::Sender;
use crate::association::context::Context;
use crate::association::dropped::{DropCause, Dropped};
use crate::tx::{Carries, ChunkState, Outgoing, QueuedMessage};

impl Sender {
    /// Gives up all messages that wait or are not yet acknowledged, because the association ends.
    pub(super) fn note_ended(&self, cx: &mut Context) {
        let mut last = None;
        for chunk in self.rq.iter().filter(|c| c.carries == Carries::Message) {
            let open = matches!(chunk.state, ChunkState::InFlight | ChunkState::Lost(_));
            // The chunks of a message are consecutive.
            if open && last != Some(chunk.message) {
                last = Some(chunk.message);
                cx.note_dropped(self.begun(chunk, DropCause::Ended));
            }
        }
        for message in self.buffer.by_age().filter(|m| last != Some(m.id)) {
            cx.note_dropped(unsent(message, DropCause::Ended));
        }
    }

    /// Returns the record of a dropped message of which `chunk` was sent.
    pub(super) fn begun(&self, chunk: &Outgoing, cause: DropCause) -> Dropped {
        let rest = self.buffer.begun().filter(|m| m.id == chunk.message).map_or(0, QueuedMessage::rest);
        let expires = chunk.info.expires;
        Dropped { message: chunk.message, cause, begun: true, unsent: rest as u64, expires }
    }
}

/// Returns the record of a dropped message that was still queued.
pub(super) fn unsent(message: &QueuedMessage, cause: DropCause) -> Dropped {
    let (begun, unsent) = (message.started(), message.rest() as u64);
    Dropped { message: message.id, cause, begun, unsent, expires: message.expires }
}
