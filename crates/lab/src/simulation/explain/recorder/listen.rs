//! Events of a run that reach the recorder.

use strandcast_proto::time::Instant;
use strandcast_radio::{Destination, FrameKind, FrameRecord};
use strandcast_sim::host::SymbolName;
use strandcast_sim::net::{
    Agent, AgentId, DirectedLinkId, EnqueueOutcome, FlowId, Frame, Framing, Packet, PacketMeta, RadioId,
    RadioNote, TraceEvent,
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
        let (parts, symbol) = self.parts_of(packet);
        let block = match symbol {
            Some(SymbolName::Source { block, .. } | SymbolName::Repair { block })
                if meta.framing == Framing::Blocks =>
            {
                self.blocks.sent(meta.id, block);
                true
            }
            _ => false,
        };
        let mut owners: Vec<u64> = parts.iter().flat_map(|&(start, end)| self.owners(start, end)).collect();
        owners.dedup();
        // The messages of a block are known once the sender has sent everything that it may send.
        if owners.is_empty() && !block {
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
            symbol,
            beside: !block && symbol.is_some_and(|symbol| symbol.is_repair()),
            nth: 1,
            timeout: None,
            hops: Vec::new(),
            outcome: Outcome::UnderWay,
        };
        let flight = Flight {
            path: meta.path,
            messages: owners,
            parts,
            transmission,
            wires: Vec::new(),
            steps: Vec::new(),
        };
        self.flights.insert(meta.id, flight);
    }

    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        let index = wire.index();
        if self.free.len() <= index {
            self.free.resize(index + 1, Instant::ZERO);
        }
        let mut hop = Hop { link: String::new(), entered: now, started: None, departed: None, arrived: None };
        if let EnqueueOutcome::Taken { departs, .. } = outcome {
            hop.started = Some(now.max(self.free[index].min(departs)));
            hop.departed = Some(departs);
            self.free[index] = departs;
        }
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        // If a link has duplicated a packet, the second copy is not followed.
        if flight.steps.len() != usize::from(meta.hop) {
            return;
        }
        hop.link = self.names.link(wire).to_owned();
        flight.steps.push(flight.wires.len());
        flight.wires.push(Some(wire));
        flight.transmission.hops.push(hop);
        if let Some(place) = LossPlace::of(outcome) {
            flight.transmission.outcome = Outcome::Lost(place);
        }
    }

    fn decided(&mut self, now: Instant, _: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        let hop = flight.steps.get(usize::from(meta.hop)).copied();
        let Some(hop) = hop.and_then(|hop| flight.transmission.hops.get_mut(hop)) else { return };
        if let EnqueueOutcome::Taken { departs, .. } = outcome {
            (hop.started, hop.departed) = (Some(now), Some(departs));
        }
        if let Some(place) = LossPlace::of(outcome) {
            flight.transmission.outcome = Outcome::Lost(place);
        }
    }

    fn arrived(&mut self, now: Instant, _: DirectedLinkId, meta: &PacketMeta) {
        self.last_out = meta.id;
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        let hop = flight.steps.get(usize::from(meta.hop)).copied();
        if let Some(hop) = hop.and_then(|hop| flight.transmission.hops.get_mut(hop)) {
            hop.arrived.get_or_insert(now);
        }
    }

    fn radio(&mut self, now: Instant, radio: RadioId, note: &RadioNote<'_>) {
        match *note {
            RadioNote::Offered { station, to, packet: Frame::Data(datagram) } => {
                let (from, to) = (self.names.station(radio, station), self.names.destination(radio, to));
                let link = format!("{} {from} > {to}", self.names.radio(radio));
                self.hop_begins(now, link, &datagram.body.meta);
            }
            RadioNote::Frame(frame) if frame.kind == FrameKind::Data => {
                self.frames.retain(|(_, other)| other.end == now);
                self.frames.push((radio, *frame));
            }
            RadioNote::Received { station, from, packet: Frame::Data(datagram) } => {
                let carried = |(of, frame): &&(RadioId, FrameRecord)| {
                    *of == radio && frame.from == from && frame.to == Destination::Station(station)
                };
                let started = self.frames.iter().find(carried).map(|(_, frame)| frame.start);
                self.hop_ends(now, started, &datagram.body.meta);
            }
            RadioNote::QueueDropped { packet: Frame::Data(datagram), .. } => {
                self.lose(datagram.body.meta.id, LossPlace::Queue);
            }
            RadioNote::RouterDropped { packet, .. } => self.lose(packet.id, LossPlace::Routing),
            _ => {}
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
            TraceEvent::Dropped(ref dropped) => self.drop_message(now, dropped),
            TraceEvent::Redrawn => {}
        }
    }

    fn ran(&mut self, now: Instant, id: AgentId, agent: &dyn Agent) {
        if id == self.subject.sender {
            self.look_at_paths(now, agent);
            self.look_at_blocks(agent);
            self.stands(now, agent);
        }
    }
}

/// Events of symbols of coded blocks.
impl Explainer {
    /// Finds the messages of the symbols that the sender has sent. The caller calls it when the sender has sent
    /// everything that it may send.
    fn look_at_blocks(&mut self, agent: &dyn Agent) {
        agent.blocks(&mut |block, bytes| self.blocks.extend(block, bytes));
        for (packet, block, messages) in self.blocks.resolve() {
            self.begun(messages.last().map_or(0, |last| last + 1));
            let owners: Vec<u64> =
                messages.into_iter().filter(|number| self.messages.contains_key(number)).collect();
            for number in &owners {
                let Some(open) = self.messages.get_mut(number) else { continue };
                open.packets.push(packet);
                let (first, last) = open.explanation.blocks.unwrap_or((block, block));
                open.explanation.blocks = Some((first.min(block), last.max(block)));
            }
            match self.flights.get_mut(&packet) {
                Some(flight) if !owners.is_empty() => flight.messages = owners,
                _ => {
                    self.flights.remove(&packet);
                }
            }
        }
    }
}

/// Events of packets on radios.
impl Explainer {
    /// Records a packet that entered a station's interface queue.
    fn hop_begins(&mut self, now: Instant, link: String, meta: &PacketMeta) {
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        if flight.steps.len() == usize::from(meta.hop) {
            flight.steps.push(flight.wires.len());
        }
        flight.wires.push(None);
        let hop = Hop { link, entered: now, started: None, departed: None, arrived: None };
        flight.transmission.hops.push(hop);
    }

    /// Records a packet that arrived at the next station. `started` is the time at which the frame that carried it
    /// began. If the acknowledgement of the frame is lost, the sender transmits a copy.
    fn hop_ends(&mut self, now: Instant, started: Option<Instant>, meta: &PacketMeta) {
        self.last_out = meta.id;
        let Some(flight) = self.flights.get_mut(&meta.id) else { return };
        if let Some(hop) = flight.transmission.hops.last_mut().filter(|hop| hop.arrived.is_none()) {
            (hop.started, hop.departed, hop.arrived) = (started, started.and(Some(now)), Some(now));
        }
    }

    /// Records that a packet was dropped. A copy of it may still arrive.
    fn lose(&mut self, packet: u64, place: LossPlace) {
        if let Some(flight) = self.flights.get_mut(&packet)
            && flight.transmission.outcome == Outcome::UnderWay
        {
            flight.transmission.outcome = Outcome::Lost(place);
        }
    }
}
