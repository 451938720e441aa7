//! Receiving streams.

mod config;
pub(in crate::live) mod door;
mod handle;
pub(in crate::live) mod incoming;
pub(in crate::live) mod listening;
mod player;
pub(in crate::live) mod session;
mod splice;
mod summary;
mod takeover;
pub(in crate::live) mod untaken;
mod wait;

pub use config::ReceiverConfig;
pub use handle::{Listening, Receiver};
pub use listening::ListenChange;
pub use player::Player;
pub use summary::ReceiveSummary;
