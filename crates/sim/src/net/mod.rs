//! The network: nodes, links, routes and the agents at their ends, in simulated time.

mod agent;
mod graph;
mod network;
mod nic;
mod observer;
mod packet;
#[cfg(test)]
mod tests;

pub use agent::{Agent, AgentOutput, Held, Outgoing, Paths, Standing, TraceEvent};
pub use graph::{DirectedLink, DirectedLinkId, Forward, Hop, NodeId, Route, RouteId};
pub use network::{AgentId, FlowId, Network};
pub use observer::{EnqueueOutcome, Observer};
pub use packet::{Body, Datagram, Packet, PacketMeta};
