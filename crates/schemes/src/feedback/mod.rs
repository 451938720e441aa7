//! When and how arrivals are acknowledged.

mod dac;
mod frame_errors;

pub use dac::DelayedAck;
pub use frame_errors::{FRAME_ERRORS, FrameErrors};
