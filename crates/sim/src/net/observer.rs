//! Observation of a network.

use strandcast_proto::time::Instant;

pub use strandcast_netem::link::EnqueueOutcome;

use super::{Agent, AgentId, DirectedLinkId, FlowId, Packet, PacketMeta, TraceEvent};

/// Is called for everything that happens in a network. Observation changes nothing: no draw, no order, no fingerprint.
pub trait Observer {
    /// An agent handed a packet to the network.
    fn sent(&mut self, _now: Instant, _from: AgentId, _packet: &Packet) {}

    /// A packet came to a link.
    fn offered(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta, _fate: EnqueueOutcome) {}

    /// A packet came out of a link.
    fn arrived(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta) {}

    /// A link that went down dropped a packet that waited for it or was under way.
    fn dropped(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta) {}

    /// A packet came to the agent it was sent to, which is handed it next; it may be damaged.
    fn received(&mut self, _now: Instant, _head: &PacketMeta) {}

    /// An agent reports an event.
    fn event(&mut self, _now: Instant, _flow: FlowId, _from: AgentId, _note: &TraceEvent) {}

    /// An agent has acted on an event and emitted its output.
    fn ran(&mut self, _now: Instant, _id: AgentId, _agent: &dyn Agent) {}
}

/// Observes nothing.
impl Observer for () {}
