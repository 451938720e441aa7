//! Multipath SCTP (RFC 9260 in UDP, RFC 6951) as a state machine without sockets, clock or global randomness.
#![forbid(unsafe_code)]

pub mod app;
pub mod association;
pub mod coding;
pub mod config;
pub mod endpoint;
mod ledger;
pub mod path;
pub mod policy;
pub mod rfc;
pub mod rx;
pub mod seeds;
pub mod time;
mod tx;
pub mod units;
pub mod wire;
pub mod work;
