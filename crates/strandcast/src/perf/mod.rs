//! Measurements of networks: a bulk transfer between a client and a server, measured on both sides.
//!
//! A [`Measurement`] connects to a [`Server`], sends or receives for a time, and returns an [`Outcome`]. The server
//! serves one client at a time.

mod bulk;
mod client;
mod control;
mod listen;
mod measure;
mod result;
mod server;
#[cfg(test)]
mod tests;
mod usage;

pub use bulk::Gap;
pub use control::{MAX_MESSAGE, MAX_TIME, MIN_MESSAGE, MIN_TIME, Totals};
pub use listen::{Server, ServerConfig, ServerEvent};
pub use measure::{Measurement, Progress, Resolved};
pub use result::{Interval, Outcome, Setup};
pub use usage::Cpu;
