//! What a run tells the recorder.

use strandcast_proto::time::Instant;
use strandcast_sim::net::{
    Agent, AgentId, DirectedLinkId, EnqueueOutcome, FlowId, Packet, PacketMeta, TraceEvent,
};

use super::{Explainer, Flight};
use crate::result::meter::LossPlace;
use crate::simulation::Recorder;
use crate::simulation::explain::explanation::{Hop, Outcome, Transmission};

impl Recorder for Explainer {
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet) {
        let meta = packet.meta;
        if from != self.subject.sender || meta.payload == 0 {
            return;
        }
        let parts = self.parts_of(&packet.body);
        let mut owners: Vec<u64> = parts.iter().flat_map(|&(start, end)| self.owners(start, end)).collect();
        owners.dedup();
        if owners.is_empty() {
            return;
        }
        for number in &owners {
            let open = self.messages.get_mut(number).expect("parts belong to messages that are followed");
            open.packets.push(meta.id);
        }
        let transmission = Transmission {
            packet: meta.id,
            path: self.names.path(self.subject.flow, meta.path).to_owned(),
            sent: now,
            len: meta.len,
            retransmission: meta.retransmission,
            nth: 1,
            timeout: None,
            hops: Vec::new(),
            outcome: Outcome::UnderWay,
        };
        let flight = Flight { path: meta.path, messages: owners, parts, transmission, wires: Vec::new() };
        self.flights.insert(meta.id, flight);
    }

    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        let index = wire.index();
        if self.free.len() <= index {
            self.free.resize(index + 1, Instant::ZERO);
        }
        let mut hop = Hop { link: String::new(), entered: now, started: None, departed: None, arrived: None };
        let lost = match outcome {
            EnqueueOutcome::Taken { departs, lost, .. } => {
                hop.started = Some(now.max(self.free[index].min(departs)));
                hop.departed = Some(departs);
                self.free[index] = departs;
                lost.then_some(LossPlace::Random)
            }
            EnqueueOutcome::QueueFull => Some(LossPlace::Queue),
            EnqueueOutcome::Down => Some(LossPlace::Down),
        };
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        // The second copy of a packet that a link has doubled is not followed.
        if flight.wires.len() != usize::from(meta.hop) {
            return;
        }
        hop.link = self.names.link(wire).to_owned();
        flight.wires.push(wire);
        flight.transmission.hops.push(hop);
        if let Some(place) = lost {
            flight.transmission.outcome = Outcome::Lost(place);
        }
    }

    fn arrived(&mut self, now: Instant, _: DirectedLinkId, meta: &PacketMeta) {
        self.last_out = meta.id;
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        if let Some(hop) = flight.transmission.hops.get_mut(usize::from(meta.hop)) {
            hop.arrived.get_or_insert(now);
        }
    }

    fn event(&mut self, now: Instant, flow: FlowId, _: AgentId, event: &TraceEvent) {
        if flow != self.subject.flow {
            return;
        }
        match *event {
            TraceEvent::Submitted { message, bytes } => self.submit(now, message, bytes),
            TraceEvent::Arrived { new, .. } => self.receive(now, new),
            TraceEvent::Delivered { message, .. } => self.deliver(now, message),
            TraceEvent::Progress { bytes } => self.progress(now, bytes),
            TraceEvent::Redrawn => {}
        }
    }

    fn ran(&mut self, now: Instant, id: AgentId, agent: &dyn Agent) {
        if id == self.subject.sender {
            self.stands(now, agent);
        }
    }
}
