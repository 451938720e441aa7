//! All meters of a run.

use core::any::Any;
use core::fmt::Debug;

use strandcast_proto::coding::Header;
use strandcast_proto::time::Instant;
use strandcast_sim::flow::message_number;
use strandcast_sim::host::{DataPart, data_parts, symbol};
use strandcast_sim::net::{
    Agent, AgentId, DirectedLinkId, EnqueueOutcome, FlowId, Frame, Framing, Observer, Packet, PacketMeta,
    RadioId, RadioNote, TraceEvent,
};

use super::byte_ledger::{ByteLedger, Done};
use super::routes::RouteLog;
use crate::result::meter::{BackgroundMeter, FlowMeter, LossPlace, ShareMeter};

/// Receives all events of a run, packet by packet.
pub trait Recorder: Any + Debug + Send {
    /// Called when an agent hands a packet to the network.
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet);
    /// Called when a packet reaches a link.
    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome);
    /// Called when the queue of a link sends or drops a packet that waited in it.
    fn decided(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome);
    /// Called when a packet leaves a link.
    fn arrived(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta);
    /// Called for an event on a radio.
    fn radio(&mut self, _now: Instant, _radio: RadioId, _note: &RadioNote<'_>) {}
    /// Called when an agent reports an event.
    fn event(&mut self, now: Instant, flow: FlowId, from: AgentId, event: &TraceEvent);
    /// Called when an agent has handled an event and emitted its output.
    fn ran(&mut self, _now: Instant, _id: AgentId, _agent: &dyn Agent) {}
}

/// Meters of all flows, and the recorder.
#[derive(Debug, Default)]
pub struct Metrics {
    pub(super) flows: Vec<Metered>,
    /// Meters of background loads. The flow numbers of background loads follow the numbers of flows.
    pub(super) background: Vec<BackgroundMeter>,
    /// Meter of the shares of flows in the traffic of links. `None` until all flows are added.
    pub(super) shares: Option<ShareMeter>,
    pub(super) routes: RouteLog,
    pub(super) recorder: Option<Box<dyn Recorder>>,
}

/// A flow's meter.
#[derive(Debug)]
pub(super) struct Metered {
    pub meter: FlowMeter,
    /// Sender of the flow's data. The packets of its peer are acknowledgements and similar packets.
    pub sender: AgentId,
    /// Ledger of bytes, for transports without message boundaries.
    pub ledger: Option<ByteLedger>,
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Number of packets with data that were lost so far, by path.
    pub lost: Vec<u64>,
}

impl Metered {
    fn event(&mut self, now: Instant, event: &TraceEvent) {
        match *event {
            TraceEvent::Submitted { message, bytes } => {
                self.meter.submitted(bytes);
                if let Some(ledger) = &mut self.ledger {
                    ledger.submit(now, message, bytes);
                }
            }
            // Further chunks of a packet add no bytes on the wire.
            TraceEvent::Arrived { path, wire: 0, payload, new, .. } => {
                self.meter.bundled(now, path, payload, new)
            }
            TraceEvent::Arrived { path, sent, payload, sequence, new, .. } => {
                self.meter.arrived(now, path, sent, payload, sequence, new);
            }
            TraceEvent::Delivered { message, bytes, submitted } => {
                self.delivered += u64::from(bytes);
                self.meter.delivered(now, message, bytes, submitted, true);
            }
            TraceEvent::Progress { bytes } => self.progress(now, bytes),
            TraceEvent::Dropped(_) | TraceEvent::Redrawn => {}
        }
    }

    fn lost(&mut self, now: Instant, path: u8, place: LossPlace) {
        self.lost[usize::from(path)] += 1;
        self.meter.lost(now, path, place);
    }

    fn progress(&mut self, now: Instant, bytes: u64) {
        self.delivered += bytes;
        let Some(ledger) = &mut self.ledger else {
            self.meter.progressed(now, bytes);
            return;
        };
        ledger.deliver(bytes);
        while let Some(Done { message, bytes, submitted }) = ledger.next_done() {
            self.meter.delivered(now, message, bytes, submitted, true);
        }
    }
}

/// Number of the message that begins in a chunk. Symbols of blocks do not carry this number, and repair symbols carry
/// no message.
fn message_in(framing: Framing, part: &DataPart<'_>) -> Option<u64> {
    match (framing, symbol(framing, part)) {
        (Framing::Blocks, _) | (_, (Some(Header::Repair { .. } | Header::WindowRepair { .. }), _)) => None,
        (_, (_, message)) => message_number(message),
    }
}

impl Metrics {
    /// Flow of a packet that carries data.
    fn data_of(&mut self, meta: &PacketMeta) -> Option<&mut Metered> {
        self.flows.get_mut(meta.flow.0 as usize).filter(|_| meta.payload > 0)
    }
}

impl Metrics {
    /// Counts the outcome of a packet at a link.
    fn outcome(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        if let (EnqueueOutcome::Taken { departs, .. }, Some(shares)) = (outcome, &mut self.shares) {
            shares.departs(departs, wire.index(), meta.flow.0 as usize, meta.len);
        }
        if let Some(place) = LossPlace::of(outcome)
            && let Some(flow) = self.data_of(meta)
        {
            flow.lost(now, meta.path, place);
        }
    }
}

impl Observer for Metrics {
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet) {
        let meta = packet.meta;
        if let Some(flow) = self.flows.get_mut(meta.flow.0 as usize).filter(|flow| flow.sender == from) {
            flow.meter.sent(now, meta.path, meta.len, meta.payload, meta.retransmission);
            if let Some(bytes) = packet.body.sctp() {
                if meta.payload > 0 {
                    flow.meter.framed(meta.framing);
                }
                let begun = data_parts(bytes).filter(|part| part.begins);
                for message in begun.filter_map(|part| message_in(meta.framing, &part)) {
                    flow.meter.message_sent(now, message);
                }
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.sent(now, from, packet);
        }
    }

    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        self.outcome(now, wire, meta, outcome);
        if let Some(recorder) = &mut self.recorder {
            recorder.offered(now, wire, meta, outcome);
        }
    }

    fn decided(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        self.outcome(now, wire, meta, outcome);
        if let Some(recorder) = &mut self.recorder {
            recorder.decided(now, wire, meta, outcome);
        }
    }

    fn dropped(&mut self, now: Instant, _: DirectedLinkId, meta: &PacketMeta) {
        if let Some(flow) = self.data_of(meta) {
            flow.lost(now, meta.path, LossPlace::Down);
        }
    }

    fn received(&mut self, now: Instant, meta: &PacketMeta) {
        if let Some(flow) = self.data_of(meta) {
            flow.meter.received(now, meta.path, meta.damaged);
        }
    }

    fn radio(&mut self, now: Instant, radio: RadioId, note: RadioNote<'_>) {
        match note {
            RadioNote::Delivered { packet, hops, .. } => {
                if let Some(flow) = self.data_of(packet) {
                    flow.meter.hopped(now, packet.path, hops);
                }
            }
            RadioNote::QueueDropped { packet: Frame::Data(datagram), .. } => {
                let meta = datagram.body.meta;
                if let Some(flow) = self.data_of(&meta) {
                    flow.lost(now, meta.path, LossPlace::Queue);
                }
            }
            RadioNote::RouterDropped { packet, .. } => {
                if let Some(flow) = self.data_of(packet) {
                    flow.lost(now, packet.path, LossPlace::Routing);
                }
            }
            _ => self.routes.note(now, radio, &note),
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.radio(now, radio, &note);
        }
    }

    fn arrived(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta) {
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(now, wire, meta);
        }
    }

    fn event(&mut self, now: Instant, flow: FlowId, from: AgentId, event: &TraceEvent) {
        let index = flow.0 as usize;
        if let Some(metered) = self.flows.get_mut(index) {
            metered.event(now, event);
        } else if let Some(background) = self.background.get_mut(index - self.flows.len()) {
            match *event {
                TraceEvent::Submitted { bytes, .. } => background.offered(now, bytes),
                TraceEvent::Arrived { wire, payload, sequence, new, .. } => {
                    background.carried(now, wire);
                    // Datagrams have no sequence numbers.
                    if sequence.is_some() && new {
                        background.tcp_arrived(now, payload);
                    }
                }
                _ => {}
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.event(now, flow, from, event);
        }
    }

    fn ran(&mut self, now: Instant, id: AgentId, agent: &dyn Agent) {
        if let Some(recorder) = &mut self.recorder {
            recorder.ran(now, id, agent);
        }
    }
}
