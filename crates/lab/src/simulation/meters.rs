//! Everything that is measured in a run.

use core::any::Any;
use core::fmt::Debug;

use strandcast_proto::time::Instant;
use strandcast_sim::flow::message_number;
use strandcast_sim::host::data_parts;
use strandcast_sim::net::{Agent, AgentId, Body, Fate, FlowId, Head, Note, Packet, Watch, WireId};

use super::ledger::{Done, Ledger};
use crate::result::meter::{CrossMeter, FlowMeter, LossPlace, ShareMeter};

/// Writes down what happens, packet by packet.
pub trait Recorder: Any + Debug + Send {
    /// An agent handed a packet to the network.
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet);
    /// A packet came to a link.
    fn offered(&mut self, now: Instant, wire: WireId, head: &Head, fate: Fate);
    /// A packet came out of a link.
    fn arrived(&mut self, now: Instant, wire: WireId, head: &Head);
    /// An agent has something to note.
    fn note(&mut self, now: Instant, flow: FlowId, from: AgentId, note: &Note);
    /// An agent has acted on what happened, and said all it had to say.
    fn ran(&mut self, _now: Instant, _id: AgentId, _agent: &dyn Agent) {}
}

/// The meters of all flows, and whoever records.
#[derive(Debug, Default)]
pub struct Meters {
    pub(super) flows: Vec<Metered>,
    /// Of background loads, whose flow numbers come behind those of flows.
    pub(super) cross: Vec<CrossMeter>,
    /// Who has how much of each link, once all flows are there.
    pub(super) shares: Option<ShareMeter>,
    pub(super) recorder: Option<Box<dyn Recorder>>,
}

/// A flow's meter.
#[derive(Debug)]
pub(super) struct Metered {
    pub meter: FlowMeter,
    /// For transports without message boundaries.
    pub ledger: Option<Ledger>,
    /// Bytes delivered so far.
    pub delivered: u64,
}

impl Metered {
    fn note(&mut self, now: Instant, note: &Note) {
        match *note {
            Note::Submitted { message, bytes } => {
                if let Some(ledger) = &mut self.ledger {
                    ledger.submit(now, message, bytes);
                }
            }
            // Further chunks of a packet have no bytes on the wire of their own.
            Note::Arrived { path, wire: 0, payload, new, .. } => self.meter.bundled(now, path, payload, new),
            Note::Arrived { path, sent, payload, sequence, new, .. } => {
                self.meter.arrived(now, path, sent, payload, sequence, new);
            }
            Note::Delivered { message, bytes, submitted } => {
                self.delivered += u64::from(bytes);
                self.meter.delivered(now, message, bytes, submitted, true);
            }
            Note::Progress { bytes } => self.progress(now, bytes),
            Note::Redrawn => {}
        }
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

impl Meters {
    /// The flow of a packet with data.
    fn data_of(&mut self, head: &Head) -> Option<&mut Metered> {
        self.flows.get_mut(head.flow.0 as usize).filter(|_| head.payload > 0)
    }
}

impl Watch for Meters {
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet) {
        let head = packet.head;
        if let Some(flow) = self.flows.get_mut(head.flow.0 as usize) {
            flow.meter.sent(now, head.path, head.len, head.payload, head.again);
            if let Body::Sctp(bytes) = &packet.body {
                let begun = data_parts(bytes).filter(|part| part.begins);
                for message in begun.filter_map(|part| message_number(part.data)) {
                    flow.meter.message_sent(now, message);
                }
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.sent(now, from, packet);
        }
    }

    fn offered(&mut self, now: Instant, wire: WireId, head: &Head, fate: Fate) {
        if let (Fate::Taken { departs, .. }, Some(shares)) = (fate, &mut self.shares) {
            shares.departs(departs, wire.index(), head.flow.0 as usize, head.len);
        }
        let place = match fate {
            Fate::Taken { lost: false, .. } => None,
            Fate::Taken { lost: true, .. } => Some(LossPlace::Random),
            Fate::QueueFull => Some(LossPlace::Queue),
            Fate::Down => Some(LossPlace::Down),
        };
        if let Some(place) = place
            && let Some(flow) = self.data_of(head)
        {
            flow.meter.lost(now, head.path, place);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.offered(now, wire, head, fate);
        }
    }

    fn dropped(&mut self, now: Instant, _: WireId, head: &Head) {
        if let Some(flow) = self.data_of(head) {
            flow.meter.lost(now, head.path, LossPlace::Down);
        }
    }

    fn received(&mut self, now: Instant, head: &Head) {
        if let Some(flow) = self.data_of(head) {
            flow.meter.received(now, head.path, head.damaged);
        }
    }

    fn arrived(&mut self, now: Instant, wire: WireId, head: &Head) {
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(now, wire, head);
        }
    }

    fn note(&mut self, now: Instant, flow: FlowId, from: AgentId, note: &Note) {
        let index = flow.0 as usize;
        if let Some(metered) = self.flows.get_mut(index) {
            metered.note(now, note);
        } else if let Some(cross) = self.cross.get_mut(index - self.flows.len()) {
            match *note {
                Note::Submitted { bytes, .. } => cross.offered(now, bytes),
                Note::Arrived { wire, payload, sequence, new, .. } => {
                    cross.carried(now, wire);
                    // Datagrams have no sequence.
                    if sequence.is_some() && new {
                        cross.tcp_arrived(now, payload);
                    }
                }
                _ => {}
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.note(now, flow, from, note);
        }
    }

    fn ran(&mut self, now: Instant, id: AgentId, agent: &dyn Agent) {
        if let Some(recorder) = &mut self.recorder {
            recorder.ran(now, id, agent);
        }
    }
}
