//! MPEG transport streams over a packet transport: framing and clock of the input, messages, playout.
//!
//! ```text
//! sender    bytes → ts::Framer → pace::PcrPacer (files) or arrival time (live) → pack::Packer → messages
//! receiver  messages → pack::Unpacker → playout::Playout → bytes, at send time + latency
//! ```
//!
//! [`ingest::Ingest`] combines the parts of the sender's half. The crate uses no clock, socket or transport. Time is an
//! argument ([`MediaTime`]). Every state machine returns output from `poll`, and the time of its next call from
//! `poll_timeout`. The crate never changes the transport stream: packets are played exactly as they were read.
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
pub mod ingest;
pub mod pace;
pub mod pack;
pub mod playout;
pub mod quality;
pub mod slate;
#[cfg(test)]
mod testing;
mod time;
pub mod trace;
pub mod ts;

pub use time::MediaTime;
