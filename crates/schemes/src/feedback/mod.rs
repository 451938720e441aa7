//! When and how arrivals are acknowledged, and what else the peer's scheme is told.

mod dac;
mod frame_errors;
pub mod rounds;

pub use dac::DelayedAck;
pub use frame_errors::{FRAME_ERRORS, FrameErrors};
