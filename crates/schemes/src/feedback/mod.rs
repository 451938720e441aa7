//! When and how arrivals are acknowledged, and what else is reported to the peer's scheme.

mod dac;
mod frame_errors;
mod heartbeats;
mod rfc;
pub mod rounds;

pub use dac::{DelayedAck, DelayedAckConfig};
pub use frame_errors::{FRAME_ERRORS, FrameErrors};
pub use heartbeats::{Heartbeats, HeartbeatsConfig};
pub use rfc::RfcFeedbackConfig;
