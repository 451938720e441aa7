//! Observation of a network.

use strandcast_proto::time::Instant;

pub use strandcast_netem::link::EnqueueOutcome;

use strandcast_radio::{Destination, DropCause, FrameRecord, StationId};

use super::{Agent, AgentId, DirectedLinkId, FlowId, Frame, Packet, PacketMeta, RadioId, TraceEvent};

/// What happened on a radio.
#[derive(Clone, Copy, Debug)]
pub enum RadioNote<'a> {
    /// A frame ended, if frames are reported.
    Frame(&'a FrameRecord),
    /// A packet came to a station's interface queue.
    Offered {
        /// Whose.
        station: StationId,
        /// To whom it is to be transmitted.
        to: Destination,
        /// The packet.
        packet: &'a Frame,
    },
    /// A packet arrived at a station that it was transmitted to.
    Received {
        /// Which.
        station: StationId,
        /// Who transmitted it.
        from: StationId,
        /// The packet.
        packet: &'a Frame,
    },
    /// A station gave a packet up after the last retry; its router decides where the packet goes.
    Failed {
        /// Which.
        station: StationId,
        /// Who did not answer.
        to: StationId,
        /// The packet.
        packet: &'a Frame,
    },
    /// An interface queue dropped a packet.
    QueueDropped {
        /// Whose.
        station: StationId,
        /// The packet.
        packet: &'a Frame,
        /// Why.
        cause: DropCause,
    },
    /// A router dropped a packet.
    RouterDropped {
        /// Where.
        station: StationId,
        /// The packet.
        packet: &'a PacketMeta,
        /// Why.
        cause: strandcast_routing::DropCause,
    },
    /// A packet arrived at the station where it leaves the radio.
    Delivered {
        /// Which.
        station: StationId,
        /// The packet.
        packet: &'a PacketMeta,
        /// Hops it took.
        hops: u8,
    },
}

/// Is called for everything that happens in a network. Observation changes nothing: no draw, no order, no fingerprint.
pub trait Observer {
    /// An agent handed a packet to the network.
    fn sent(&mut self, _now: Instant, _from: AgentId, _packet: &Packet) {}

    /// A packet came to a link.
    fn offered(
        &mut self,
        _now: Instant,
        _wire: DirectedLinkId,
        _head: &PacketMeta,
        _outcome: EnqueueOutcome,
    ) {
    }

    /// A packet came out of a link.
    fn arrived(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta) {}

    /// A link that went down dropped a packet that waited for it or was under way.
    fn dropped(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta) {}

    /// Something happened on a radio.
    fn radio(&mut self, _now: Instant, _radio: RadioId, _note: RadioNote<'_>) {}

    /// A packet came to the agent it was sent to, which is handed it next; it may be damaged.
    fn received(&mut self, _now: Instant, _head: &PacketMeta) {}

    /// An agent reports an event.
    fn event(&mut self, _now: Instant, _flow: FlowId, _from: AgentId, _note: &TraceEvent) {}

    /// An agent has acted on an event and emitted its output.
    fn ran(&mut self, _now: Instant, _id: AgentId, _agent: &dyn Agent) {}
}

/// Observes nothing.
impl Observer for () {}
