//! Blocks. A block has k source messages, and the same repair symbols repair all of them.

mod config;
mod receiver;
mod sender;

pub use config::{BlockConfig, Order};
pub use receiver::{BlockArrival, BlockMessage, BlockReceiver};
pub use sender::{BlockSender, CannotPush, CannotWrite, SourceId};
