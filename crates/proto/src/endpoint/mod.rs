//! Many associations behind one set of addresses: demultiplexing, stateless answers to INIT, what is out of the blue.

mod answer;
mod config;
mod cookie;
mod demux;
mod open;
mod state;

pub use config::{Connect, EndpointConfig, Input, SchemeFactory};
pub use state::{AssociationId, ConnectError, Endpoint};
