//! Many associations on one set of addresses: demultiplexing, stateless answers to INIT, packets out of the blue.

mod answer;
mod config;
mod cookie;
mod demux;
mod limit;
mod memory;
mod open;
mod sealed;
mod state;
mod used;

pub use config::{AnswerRates, Connect, EndpointConfig, Input, SchemeFactory};
pub use state::{AssociationId, ConnectError, Endpoint};
