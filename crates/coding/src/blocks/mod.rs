//! Blocks: k source messages that are repaired together.

mod config;
mod receiver;
mod sender;

pub use config::{BlockConfig, Order};
pub use receiver::{BlockArrival, BlockMessage, BlockReceiver};
pub use sender::{BlockSender, CannotPush, CannotWrite, SourceId};
