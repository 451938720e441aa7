//! Receiving streams.

mod config;
mod handle;
mod incoming;
pub(in crate::live) mod listening;
mod player;
mod session;
mod summary;
mod takeover;
mod untaken;
mod wait;

pub use config::ReceiverConfig;
pub use handle::{Listening, Receiver};
pub use listening::ListenChange;
pub use player::Player;
pub use summary::ReceiveSummary;
