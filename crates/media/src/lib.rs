//! MPEG transport streams over a packet transport: framing and clock of the input, messages, playout.
//!
//! ```text
//! sender    bytes → ts::Framer → pace::PcrPacer (files) or arrival time (live) → pack::Packer → messages
//! receiver  messages → pack::Unpacker → playout::Playout → bytes, at send time + latency
//! ```
//!
//! [`ingest::Ingest`] combines the sender's half. The crate uses no clock, socket or transport: time is an
//! argument, [`MediaTime`], and every state machine yields output with `poll` and requests its next call with
//! `poll_timeout`. The transport stream itself is never changed: packets are played exactly as they were
//! read.
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
