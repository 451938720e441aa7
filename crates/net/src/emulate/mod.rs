//! Emulated links in real time. A UDP relay between clients and a server uses the simulator's
//! [`Link`](strandcast_netem::link::Link)s. It does not need root permission.

mod config;
mod relay;
mod state;
#[cfg(test)]
mod tests;

pub use config::{Direction, EmulateError, RelayConfig, RelayStats};
pub use relay::Relay;
