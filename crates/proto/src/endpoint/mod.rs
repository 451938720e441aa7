//! Many associations on one set of addresses. An endpoint selects the association of each packet, answers INIT without
//! storing state, and handles packets out of the blue.

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
