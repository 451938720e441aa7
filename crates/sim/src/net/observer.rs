//! Observation of a network.

use strandcast_proto::time::Instant;

pub use strandcast_netem::link::EnqueueOutcome;

use strandcast_radio::{Destination, DropCause, FrameRecord, StationId};

use super::{Agent, AgentId, DirectedLinkId, FlowId, Frame, Packet, PacketMeta, RadioId, TraceEvent};

/// An event on a radio.
#[derive(Clone, Copy, Debug)]
pub enum RadioNote<'a> {
    /// A frame ended. This event is reported if frames are reported.
    Frame(&'a FrameRecord),
    /// A packet arrived at a station's interface queue.
    Offered {
        /// Station that owns the queue.
        station: StationId,
        /// Receiver to which the packet is transmitted.
        to: Destination,
        /// The packet that arrived.
        packet: &'a Frame,
    },
    /// A station received a packet that was transmitted to it.
    Received {
        /// Receiving station.
        station: StationId,
        /// Transmitting station.
        from: StationId,
        /// The packet that arrived.
        packet: &'a Frame,
    },
    /// A station abandoned a packet after the last retry. The router of the station decides on the packet.
    Failed {
        /// Station that transmitted the packet.
        station: StationId,
        /// Station that did not answer.
        to: StationId,
        /// The abandoned packet.
        packet: &'a Frame,
    },
    /// An interface queue dropped a packet.
    QueueDropped {
        /// Station that owns the queue.
        station: StationId,
        /// The dropped packet.
        packet: &'a Frame,
        /// Reason for the drop.
        cause: DropCause,
    },
    /// A router dropped a packet.
    RouterDropped {
        /// Station of the router.
        station: StationId,
        /// The dropped packet.
        packet: &'a PacketMeta,
        /// Reason for the drop.
        cause: strandcast_routing::DropCause,
    },
    /// A packet arrived at the station at which it leaves the radio.
    Delivered {
        /// Station at which the packet leaves the radio.
        station: StationId,
        /// The packet that arrived.
        packet: &'a PacketMeta,
        /// Number of hops that the packet took.
        hops: u8,
    },
}

/// Observer with a method for each kind of event in a network. Observation does not affect the run: random numbers,
/// order of events and fingerprint stay equal.
pub trait Observer {
    /// Called when an agent passes a packet to the network.
    fn sent(&mut self, _now: Instant, _from: AgentId, _packet: &Packet) {}

    /// Called when a packet arrives at a link.
    fn offered(
        &mut self,
        _now: Instant,
        _wire: DirectedLinkId,
        _head: &PacketMeta,
        _outcome: EnqueueOutcome,
    ) {
    }

    /// Called when a link's queue sends or drops a packet that [waited](EnqueueOutcome::Waits) in it.
    fn decided(
        &mut self,
        _now: Instant,
        _wire: DirectedLinkId,
        _head: &PacketMeta,
        _outcome: EnqueueOutcome,
    ) {
    }

    /// Called when a packet leaves a link.
    fn arrived(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta) {}

    /// Called when a link that went down drops a waiting or propagating packet.
    fn dropped(&mut self, _now: Instant, _wire: DirectedLinkId, _head: &PacketMeta) {}

    /// Called when an event occurs on a radio.
    fn radio(&mut self, _now: Instant, _radio: RadioId, _note: RadioNote<'_>) {}

    /// Called before an agent receives a packet. The packet may be damaged.
    fn received(&mut self, _now: Instant, _head: &PacketMeta) {}

    /// Called when an agent reports an event.
    fn event(&mut self, _now: Instant, _flow: FlowId, _from: AgentId, _note: &TraceEvent) {}

    /// Called after an agent has handled an event and sent its output.
    fn ran(&mut self, _now: Instant, _id: AgentId, _agent: &dyn Agent) {}
}

/// Observer that ignores all events.
impl Observer for () {}
