//! The event loop of the network.

use core::any::Any;
use core::time::Duration;

use strandcast_netem::engine::{Engine, Fingerprint};
use strandcast_netem::link::{Link, LinkConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_radio::Radio;
use strandcast_routing::Routing;

use super::air::{Air, Surroundings};
use super::event::Event;
use super::graph::Around;
use super::nic::Nic;
use super::spent::Spent;
use super::{
    Agent, AgentId, AgentOutput, DirectedLink, DirectedLinkId, FlowId, Frame, Observer, Outgoing, Packet,
    PacketMeta, RadioId, Route, RouteId, Step,
};

/// A network of links, radios, routes and agents in simulated time.
///
/// Model: packets follow their route step by step, over links and radios. On a radio, the routers find the route
/// between stations. Nodes need no processing time. Agents answer an arrival immediately. If the route has a random
/// delay, the answer waits for it. Limits: no fragmentation, no ARP, and no queues except those of links and
/// interfaces. Equal seeds and equal calls give an equal [`Network::fingerprint`], with any observer.
#[derive(Debug)]
pub struct Network<W = ()> {
    engine: Engine<Event>,
    seeds: Seeds,
    wires: Vec<DirectedLink>,
    airs: Vec<Air>,
    routes: Vec<Route>,
    agents: Vec<Slot>,
    background: FlowId,
    fingerprint: Fingerprint,
    packets: u64,
    hops: u64,
    unroutable: u64,
    out: AgentOutput,
    delivered: Vec<Packet>,
    spent: Spent,
    observer: W,
}

#[derive(Debug)]
struct Slot {
    agent: Box<dyn Agent>,
    flow: FlowId,
    /// Time of the earliest scheduled event. Later events have no effect.
    alarm: Option<Instant>,
}

impl<W: Observer> Network<W> {
    /// Creates an empty network. The time of the network is [`Instant::ZERO`].
    pub fn new(seeds: &Seeds, observer: W) -> Self {
        Network {
            engine: Engine::new(),
            seeds: seeds.clone(),
            wires: Vec::new(),
            airs: Vec::new(),
            routes: Vec::new(),
            agents: Vec::new(),
            background: FlowId(u32::MAX),
            fingerprint: Fingerprint::new(),
            packets: 0,
            hops: 0,
            unroutable: 0,
            out: AgentOutput::default(),
            delivered: Vec::new(),
            spent: Spent::default(),
            observer,
        }
    }

    /// Adds one direction of a link. The random streams of this direction have the label `label`.
    ///
    /// # Panics
    /// Panics if [`LinkConfig::validate`] rejects `config`.
    pub fn add_wire(&mut self, config: LinkConfig, label: &str) -> DirectedLinkId {
        self.wires.push(DirectedLink::new(Link::new(config, &self.seeds, label)));
        DirectedLinkId(self.wires.len() as u32 - 1)
    }

    /// Makes a link count its frames, and report them to agents whose routes begin with it.
    pub fn set_wireless(&mut self, wire: DirectedLinkId) {
        self.wires[wire.index()].wireless = true;
    }

    /// Makes the random loss of a link spare [background load](Self::set_background).
    pub fn set_sparing(&mut self, wire: DirectedLinkId) {
        self.wires[wire.index()].spares_background = true;
    }

    /// Adds a radio with one router per station. The routers start at [`wake_all`](Self::wake_all).
    pub fn add_radio(&mut self, radio: Radio<Frame>, routers: Vec<Box<dyn Routing<Packet>>>) -> RadioId {
        let id = RadioId(self.airs.len() as u16);
        self.airs.push(Air::new(id, radio, routers));
        id
    }

    /// Reports each frame to the observer from now on ([`RadioNote::Frame`](super::RadioNote::Frame)).
    pub fn report_frames(&mut self) {
        self.airs.iter_mut().for_each(Air::report_frames);
    }

    /// Makes all flows from the number `first` on background load.
    pub fn set_background(&mut self, first: FlowId) {
        self.background = first;
    }

    /// Adds an agent. The agent runs with its first event, or when it is [woken](Self::wake).
    pub fn add_agent(&mut self, flow: FlowId, agent: impl Agent) -> AgentId {
        self.agents.push(Slot { agent: Box::new(agent), flow, alarm: None });
        AgentId(self.agents.len() as u32 - 1)
    }

    /// Returns the identifiers of the next two agents. Routes can then be added before their ends.
    pub fn next_agents(&self) -> [AgentId; 2] {
        let next = self.agents.len() as u32;
        [AgentId(next), AgentId(next + 1)]
    }

    /// Lets every router and every agent run once.
    pub fn wake_all(&mut self) {
        for id in 0..self.airs.len() as u16 {
            self.on_air(RadioId(id), Air::start);
        }
        for id in 0..self.agents.len() as u32 {
            self.wake(AgentId(id));
        }
    }

    /// Adds a route from one agent to another agent. Each packet waits a time of U(0, `overhead`) in the sending host.
    pub fn add_route(
        &mut self,
        (from, to): (AgentId, AgentId),
        path: u8,
        steps: Vec<Step>,
        overhead: Option<(Duration, &str)>,
    ) -> RouteId {
        let nic = overhead.map(|(most, label)| Nic::new(most, self.seeds.child(label).stream("overhead")));
        self.routes.push(Route { from, to, path, steps, nic });
        RouteId(self.routes.len() as u32 - 1)
    }

    /// Calls the function `f` with an agent of a known type, and lets the agent run.
    ///
    /// # Panics
    /// Panics if the agent's type is not `A`.
    pub fn with_agent<A: Agent, T>(&mut self, id: AgentId, f: impl FnOnce(Instant, &mut A) -> T) -> T {
        let agent: &mut dyn Any = &mut *self.agents[id.0 as usize].agent;
        let agent = agent.downcast_mut().expect("the agent is of the type it was added with");
        let result = f(self.engine.now(), agent);
        self.wake(id);
        result
    }

    /// Returns an agent of a known type.
    ///
    /// # Panics
    /// Panics if the agent's type is not `A`.
    pub fn agent<A: Agent>(&self, id: AgentId) -> &A {
        let agent: &dyn Any = &*self.agents[id.0 as usize].agent;
        agent.downcast_ref().expect("the agent is of the type it was added with")
    }

    /// Returns an agent of a known type, to be changed. The agent runs with its next event.
    ///
    /// # Panics
    /// Panics if the agent's type is not `A`.
    pub fn agent_mut<A: Agent>(&mut self, id: AgentId) -> &mut A {
        let agent: &mut dyn Any = &mut *self.agents[id.0 as usize].agent;
        agent.downcast_mut().expect("the agent is of the type it was added with")
    }

    /// Returns an agent, to read its counters and gauges.
    pub fn any_agent(&self, id: AgentId) -> &dyn Agent {
        &*self.agents[id.0 as usize].agent
    }

    /// Returns a link.
    pub fn wire(&self, wire: DirectedLinkId) -> &DirectedLink {
        &self.wires[wire.index()]
    }

    /// Returns a radio with its routers.
    pub fn air(&self, radio: RadioId) -> &Air {
        &self.airs[radio.index()]
    }

    /// Returns a route.
    pub fn route(&self, route: RouteId) -> &Route {
        &self.routes[route.index()]
    }

    /// Returns the observer.
    pub fn observer(&self) -> &W {
        &self.observer
    }

    /// Returns the observer, to be changed.
    pub fn observer_mut(&mut self) -> &mut W {
        &mut self.observer
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Instant {
        self.engine.now()
    }

    /// Returns the fingerprint of all packets that left links or arrived at stations, and of every intervention.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the number of packets that left a link or arrived at a station. Each hop counts.
    pub fn packet_hops(&self) -> u64 {
        self.hops
    }

    /// Returns the number of packets that have no route.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Turns a black hole in a link on or off. A black hole drops all packets, including packets in transit.
    pub fn set_black_hole(&mut self, wire: DirectedLinkId, on: bool) {
        self.wires[wire.index()].link.set_black_hole(on);
        self.fingerprint.record(self.engine.now(), "black hole", &[u64::from(wire.0), u64::from(on)]);
    }

    /// Takes a link down, or brings it up again. Taking the link down drops all packets in transit. With `notify`,
    /// agents whose routes begin with the link are notified.
    pub fn set_down(&mut self, wire: DirectedLinkId, down: bool, notify: bool) {
        let now = self.engine.now();
        let w = &mut self.wires[wire.index()];
        for packet in w.link.set_down(now, down) {
            self.observer.dropped(now, wire, &packet.meta);
        }
        if down {
            w.departing.retain(|d| d.at <= now);
        }
        self.fingerprint.record(now, "down", &[u64::from(wire.0), u64::from(down)]);
        if !notify {
            return;
        }
        let first = Some(&Step::Link(wire));
        let mut senders: Vec<AgentId> =
            self.routes.iter().filter(|r| r.steps.first() == first).map(|r| r.from).collect();
        senders.dedup();
        for id in senders {
            self.agents[id.0 as usize].agent.handle_interface(now, wire, !down);
            self.wake(id);
        }
    }

    /// Returns the time of the next event. `None` means that no event follows unless a packet is added from outside.
    pub fn next_time(&self) -> Option<Instant> {
        self.engine.next_time()
    }

    /// Runs all events up to and including the time `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
    }

    /// Runs at most `events` events up to and including the time `end`. Returns true if no such event is left.
    pub fn run_within(&mut self, end: Instant, events: usize) -> bool {
        !(0..events).all(|_| self.step(end))
    }

    /// Runs the next event, if its time is at most `end`. If there is no such event, advances time to `end` and returns
    /// false.
    pub fn step(&mut self, end: Instant) -> bool {
        let Some(event) = self.engine.pop_until(end) else { return false };
        let now = self.engine.now();
        match event {
            Event::DirectedLink(wire) => self.deliver(now, wire),
            Event::Leave(route) => self.leave(now, route),
            Event::Departed(wire) => self.departed(now, wire),
            Event::Radio(id, alarm) => self.on_air(id, |air, cx| air.handle_alarm(alarm, cx)),
            Event::Router(id, at) => self.on_air(id, |air, cx| air.handle_timeout(at, cx)),
            Event::Delayed(id, place) => self.on_air(id, |air, cx| air.release(place, cx)),
            Event::Agent(id) => {
                let slot = &mut self.agents[id.0 as usize];
                if slot.alarm.is_some_and(|at| at <= now) {
                    slot.alarm = None;
                }
                if slot.agent.poll_timeout().is_some_and(|at| at <= now) {
                    self.wake(id);
                } else {
                    self.set_alarm(id);
                }
            }
        }
        true
    }

    /// Lets an agent send its pending output.
    pub fn wake(&mut self, id: AgentId) {
        let now = self.engine.now();
        let mut out = core::mem::take(&mut self.out);
        self.agents[id.0 as usize].agent.run(now, &mut out);
        self.emit(now, id, &mut out);
        self.out = out;
        self.observer.ran(now, id, &*self.agents[id.0 as usize].agent);
        self.set_alarm(id);
    }

    fn set_alarm(&mut self, id: AgentId) {
        let slot = &mut self.agents[id.0 as usize];
        let Some(at) = slot.agent.poll_timeout() else { return };
        if slot.alarm.is_none_or(|set| at < set) {
            slot.alarm = Some(at);
            self.engine.schedule(at, Event::Agent(id));
        }
    }

    fn emit(&mut self, now: Instant, from: AgentId, out: &mut AgentOutput) {
        let flow = self.agents[from.0 as usize].flow;
        for event in out.events.drain(..) {
            self.observer.event(now, flow, from, &event);
        }
        for outgoing in out.packets.drain(..) {
            self.launch(now, from, flow, outgoing);
        }
    }

    fn launch(&mut self, now: Instant, from: AgentId, flow: FlowId, outgoing: Outgoing) {
        let Outgoing { route: id, len, payload, retransmission, framing, body } = outgoing;
        let route = &mut self.routes[id.index()];
        let meta = PacketMeta {
            id: self.packets,
            flow,
            route: id,
            hop: 0,
            path: route.path,
            len,
            payload,
            retransmission,
            framing,
            sent: now,
            spared: false,
            damaged: false,
        };
        self.packets += 1;
        let packet = self.spent.boxed(Packet { meta, body });
        self.observer.sent(now, from, &packet);
        match &mut route.nic {
            Some(nic) => {
                if let Some(at) = nic.hold(now, packet) {
                    self.engine.schedule(at, Event::Leave(id));
                }
            }
            None => self.forward_from_host(now, packet),
        }
    }

    fn leave(&mut self, now: Instant, id: RouteId) {
        loop {
            let nic =
                self.routes[id.index()].nic.as_mut().expect("only routes with one are scheduled to leave");
            let Some(packet) = nic.release(now) else {
                if let Some(at) = nic.next() {
                    self.engine.schedule(at, Event::Leave(id));
                }
                return;
            };
            self.forward_from_host(now, packet);
        }
    }

    fn forward_from_host(&mut self, now: Instant, packet: Box<Packet>) {
        match self.step_of(&packet) {
            Some(step) => self.take(now, step, packet),
            None => self.unroutable += 1,
        }
    }

    /// Returns the next step of a packet's route; `None` if the packet has arrived.
    fn step_of(&self, packet: &Packet) -> Option<Step> {
        let steps = &self.routes[packet.meta.route.index()].steps;
        steps.get(usize::from(packet.meta.hop)).copied()
    }

    fn take(&mut self, now: Instant, step: Step, packet: Box<Packet>) {
        match step {
            Step::Link(wire) => self.enter(now, wire, packet),
            Step::Radio { radio, from, to } => {
                let packet = self.spent.unboxed(packet);
                self.on_air(radio, |air, cx| air.originate(from, to, packet, cx));
            }
        }
    }

    /// Calls the function `happen` with a radio. The call also delivers the packets that have left the radio.
    fn on_air(&mut self, id: RadioId, happen: impl FnOnce(&mut Air, &mut Surroundings<'_, W>)) {
        let now = self.engine.now();
        let mut cx = Surroundings {
            now,
            engine: &mut self.engine,
            fingerprint: &mut self.fingerprint,
            observer: &mut self.observer,
            delivered: &mut self.delivered,
            hops: &mut self.hops,
        };
        happen(&mut self.airs[id.index()], &mut cx);
        if self.delivered.is_empty() {
            return;
        }
        let mut delivered = core::mem::take(&mut self.delivered);
        for packet in delivered.drain(..) {
            let mut packet = self.spent.boxed(packet);
            packet.meta.hop += 1;
            match self.step_of(&packet) {
                Some(step) => self.take(now, step, packet),
                None => {
                    let to = self.routes[packet.meta.route.index()].to;
                    self.receive(now, to, packet);
                    self.wake(to);
                }
            }
        }
        self.delivered = delivered;
    }

    fn enter(&mut self, now: Instant, id: DirectedLinkId, mut packet: Box<Packet>) {
        let Network { wires, routes, engine, observer, .. } = self;
        let wire = &mut wires[id.index()];
        packet.meta.spared = wire.spares_background && packet.meta.flow >= self.background;
        wire.enter(now, id, packet, Around { routes, engine, observer });
        self.observe_link(id);
    }

    fn observe_link(&mut self, id: DirectedLinkId) {
        let wire = &mut self.wires[id.index()];
        let Some(at) = wire.link.poll_timeout() else { return };
        if wire.alarm.is_none_or(|set| at < set) {
            wire.alarm = Some(at);
            self.engine.schedule(at, Event::DirectedLink(id));
        }
    }

    /// Delivers the packets that have left a link.
    fn deliver(&mut self, now: Instant, id: DirectedLinkId) {
        let wire = &mut self.wires[id.index()];
        if wire.alarm.is_some_and(|at| at <= now) {
            wire.alarm = None;
        }
        let Network { wires, routes, engine, observer, .. } = self;
        wires[id.index()].serve(now, id, &mut Around { routes, engine, observer });
        let mut pending = None;
        while let Some(mut packet) = self.wires[id.index()].link.poll(now) {
            self.hops += 1;
            self.fingerprint.add_word(now.as_nanos());
            self.fingerprint.add_word(packet.digest() ^ u64::from(id.0) << 56);
            self.observer.arrived(now, id, &packet.meta);
            packet.meta.hop += 1;
            match self.step_of(&packet) {
                Some(step) => self.take(now, step, packet),
                None => {
                    let to = self.routes[packet.meta.route.index()].to;
                    if let Some(waiting) = pending.replace(to).filter(|waiting| *waiting != to) {
                        self.wake(waiting);
                    }
                    self.receive(now, to, packet);
                }
            }
        }
        self.observe_link(id);
        if let Some(id) = pending {
            self.wake(id);
        }
    }

    fn receive(&mut self, now: Instant, to: AgentId, mut packet: Box<Packet>) {
        self.observer.received(now, &packet.meta);
        let mut out = core::mem::take(&mut self.out);
        self.agents[to.0 as usize].agent.handle_packet(now, &mut packet, &mut out);
        drop(self.spent.unboxed(packet));
        self.emit(now, to, &mut out);
        self.out = out;
    }

    /// Reports the counters of a wireless link to the senders of packets whose last bit has left it.
    fn departed(&mut self, now: Instant, id: DirectedLinkId) {
        loop {
            let wire = &mut self.wires[id.index()];
            let Some(frame) = wire.departing.pop_front_if(|d| d.at <= now) else { return };
            let sample = wire.frames.count(&frame);
            self.agents[frame.from.0 as usize].agent.handle_link(now, id, sample);
            self.wake(frame.from);
        }
    }
}
