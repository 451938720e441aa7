//! Ad-hoc routing: nodes forward packets if the source has no direct link to the destination. The protocols are state
//! machines without clock, sockets or radio. The caller passes arriving packets and link-layer reports to a protocol,
//! and carries out the actions that the protocol returns.
#![forbid(unsafe_code)]

mod address;
pub mod aodv;
pub mod aomdv;
mod buffer;
mod counters;
mod datagram;
mod error;
mod fixed;
mod message;
mod node;
mod output;
pub mod qaomdv;
mod search;
mod seen;
mod sequence;
pub mod spec;
pub mod split;
mod table;
#[cfg(test)]
mod testing;

pub use address::Address;
pub use counters::{Counters, Tally};
pub use datagram::{Class, Datagram, Packet};
pub use error::SpecError;
pub use fixed::{Routes, Static};
pub use message::{Message, Quality, Reply, Request, Trace, Unreachable};
pub use node::{Body, Context, Link, PathReport, Routing, Transmission};
pub use output::{DropCause, NextHop, RoutingOutput, Transmit};
