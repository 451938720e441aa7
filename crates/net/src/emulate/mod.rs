//! Emulated links in real time: a UDP relay before a server which drives the simulator's
//! [`Link`](strandcast_netem::link::Link)s, without root.

mod config;
mod relay;
mod state;
#[cfg(test)]
mod tests;

pub use config::{Direction, EmulateError, RelayConfig, RelayStats};
pub use relay::Relay;
