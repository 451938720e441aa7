//! Coded blocks. A block has k source messages. Each repair symbol of the block covers all of them.

mod config;
mod receiver;
mod sender;

pub use config::{BlockConfig, Order};
pub use receiver::{BlockArrival, BlockMessage, BlockReceiver};
pub use sender::{BlockSender, CannotPush, CannotWrite, SourceId};
