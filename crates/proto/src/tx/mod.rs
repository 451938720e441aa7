//! The sender's data: messages waiting, chunks on their way.

mod bits;
mod outstanding;
mod resent;
mod send_queue;

pub(crate) use outstanding::{ChunkState, Outgoing, Outstanding};
pub(crate) use resent::Resent;
pub(crate) use send_queue::{QueuedMessage, SendQueue};
