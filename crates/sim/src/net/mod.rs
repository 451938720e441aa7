//! The network: links, radios, routes and the agents at their ends, in simulated time.

mod agent;
mod air;
mod event;
mod graph;
mod network;
mod nic;
mod observer;
mod packet;
#[cfg(test)]
mod tests;

pub use agent::{Agent, AgentId, AgentOutput, FlowId, Held, Outgoing, Paths, Standing, TraceEvent};
pub use air::{Air, Frame};
pub use graph::{DirectedLink, DirectedLinkId, RadioId, Route, RouteId, Step};
pub use network::Network;
pub use observer::{EnqueueOutcome, Observer, RadioNote};
pub use packet::{Body, Datagram, Framing, Packet, PacketMeta};
