//! The network: links, radios, routes and agents in simulated time.

mod agent;
mod air;
mod event;
mod graph;
mod ids;
mod network;
mod nic;
mod observer;
mod packet;
mod spent;
#[cfg(test)]
mod tests;

pub use agent::{Agent, AgentOutput, Held, Outgoing, Paths, Standing, TraceEvent};
pub use air::Air;
pub use graph::{DirectedLink, Route, Step};
pub use ids::{AgentId, DirectedLinkId, FlowId, RadioId, RouteId};
pub use network::Network;
pub use observer::{EnqueueOutcome, Observer, RadioNote};
pub use packet::{Body, Datagram, Frame, Framing, Packet, PacketMeta};
