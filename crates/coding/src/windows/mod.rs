//! Sliding windows. A repair symbol covers the latest source messages of a stream (RFC 8681).

mod config;
mod receiver;
mod sender;

pub use config::WindowConfig;
pub use receiver::{WindowArrival, WindowMessage, WindowReceiver};
pub use sender::WindowSender;
