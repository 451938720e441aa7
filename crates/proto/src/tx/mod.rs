//! The sender's data: messages waiting, chunks on their way.

mod outstanding;
mod send_queue;

pub(crate) use outstanding::{ChunkState, Outgoing, Outstanding};
pub(crate) use send_queue::{QueuedMessage, SendQueue};
