//! Endpoints as nodes of a network: hosts joined by paths, each a pair of links, with applications on top.

mod apps;
mod net;
#[cfg(test)]
mod tests;

pub use apps::{BulkSender, Cbr, Delivery, Sink};
pub use net::{AppId, Direction, HostId, Net, NetPath};
