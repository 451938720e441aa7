//! Emulated links in real time: a UDP relay between clients and a server that drives the simulator's
//! [`Link`](strandcast_netem::link::Link)s. The relay does not need root permission.

mod config;
mod relay;
mod state;
#[cfg(test)]
mod tests;

pub use config::{Direction, EmulateError, RelayConfig, RelayStats};
pub use relay::Relay;
