//! Times and contents of acknowledgements, and reports to the peer's scheme.

mod dac;
mod frame_errors;
mod heartbeats;
mod rfc;
pub mod rounds;

pub use dac::{DelayedAck, DelayedAckConfig};
pub use frame_errors::{FRAME_ERRORS, FrameErrors};
pub use heartbeats::{Heartbeats, HeartbeatsConfig};
pub use rfc::RfcFeedbackConfig;
