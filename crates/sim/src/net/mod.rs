//! The network: nodes, links, routes and the agents at their ends, in simulated time.

mod agent;
mod graph;
mod network;
mod nic;
mod packet;
#[cfg(test)]
mod tests;
mod watch;

pub use agent::{Agent, Held, Note, Out, Outgoing, Paths, Standing};
pub use graph::{Forward, Hop, NodeId, Route, RouteId, Wire, WireId};
pub use network::{AgentId, FlowId, Network};
pub use packet::{Body, Datagram, Head, Packet};
pub use watch::{Fate, Watch};
