//! A network for tests: routers, links that fail and return, and an interface queue per node that sends one packet per
//! millisecond. After each event, the routes are searched for loops. Each datagram must end.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::datagram::{Datagram, Packet};
use crate::fixed::Routes;
use crate::message::Message;
use crate::node::{Body, Context, Link, Routing, Transmission};
use crate::output::{DropCause, NextHop, RoutingOutput, Transmit};
use crate::spec::parse;

/// Capacity of an interface queue in packets.
const QUEUE: usize = 50;

/// Payload of a test datagram.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// Number of the datagram, which is unique.
    pub number: u64,
    /// Transmission of data, for the classifier.
    pub transmission: Option<Transmission>,
}

impl Body for Tag {
    fn transmission(&self) -> Option<Transmission> {
        self.transmission
    }
}

struct Node {
    router: Box<dyn Routing<Tag>>,
    queue: VecDeque<(NextHop, Packet<Tag>, Instant)>,
    serving: bool,
    idle_until: Instant,
    idle: Duration,
    timer: Option<Instant>,
}

#[derive(Debug)]
enum Event {
    Timer(usize),
    Serve(usize),
    Enter(usize, Transmit<Tag>),
    Send(usize, Datagram<Tag>),
    Links(Vec<(u32, u32, bool)>),
}

/// A network of routers.
pub struct Net {
    pub now: Instant,
    nodes: Vec<Node>,
    links: BTreeSet<(u32, u32)>,
    /// Time that a node needs to send one packet.
    pub service: Duration,
    /// Extra delay that is reported for each link.
    pub extra: BTreeMap<(u32, u32), Duration>,
    /// Fraction of the time for which transmissions of others keep a node's channel busy.
    pub busy: BTreeMap<u32, f64>,
    /// Probability that a broadcast is lost. The probability also applies to each attempt of a unicast.
    pub loss: f64,
    random: Random,
    events: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    pending: BTreeMap<usize, Event>,
    order: u64,
    numbers: u64,
    /// Delivered datagrams, each with its time.
    pub delivered: Vec<(Datagram<Tag>, Instant)>,
    /// Dropped datagrams, each with its cause.
    pub dropped: Vec<(Datagram<Tag>, DropCause)>,
    /// Every transmission, with its time, sender, receiver and packet.
    pub air: Vec<(Instant, u32, NextHop, Packet<Tag>)>,
    /// Number of packets lost in an interface queue or on a link that went down.
    lost: u64,
    pub check: bool,
}

impl Net {
    /// Creates the nodes 0 … `nodes` - 1 with the protocol `spec`. The nodes are linked in both directions.
    pub fn new(spec: &str, nodes: u32, links: &[(u32, u32)], seed: u64) -> Self {
        let seeds = Seeds::new(seed, 0);
        let spec = parse(spec).expect("specs of tests are right");
        let mut neighbours = vec![Vec::new(); nodes as usize];
        for &(a, b) in links {
            neighbours[a as usize].push(Address(b));
            neighbours[b as usize].push(Address(a));
        }
        let routes = Arc::new(Routes::new(&neighbours));
        let node = |address| Node {
            router: spec.router(Address(address), &routes, &seeds.child("routing")),
            queue: VecDeque::new(),
            serving: false,
            idle_until: Instant::ZERO,
            idle: Duration::ZERO,
            timer: None,
        };
        let mut net = Net {
            now: Instant::ZERO,
            nodes: (0..nodes).map(node).collect(),
            links: links.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect(),
            service: Duration::from_millis(1),
            extra: BTreeMap::new(),
            busy: BTreeMap::new(),
            loss: 0.0,
            random: seeds.stream("net"),
            events: BinaryHeap::new(),
            pending: BTreeMap::new(),
            order: 0,
            numbers: 0,
            delivered: Vec::new(),
            dropped: Vec::new(),
            air: Vec::new(),
            lost: 0,
            check: true,
        };
        for node in 0..nodes as usize {
            net.call(node, |router, context, out| router.start(context, out));
        }
        net
    }

    /// Sends a datagram of 1000 bytes at the time `at`. Returns its number.
    pub fn send(&mut self, at: f64, from: u32, to: u32) -> u64 {
        self.send_transmission(at, from, to, None)
    }

    /// Sends a datagram of 1000 bytes with a transmission for the classifier. Returns the datagram's number.
    pub fn send_transmission(
        &mut self,
        at: f64,
        from: u32,
        to: u32,
        transmission: Option<Transmission>,
    ) -> u64 {
        let number = self.numbers;
        self.numbers += 1;
        let datagram = Datagram::new(Address(from), Address(to), 1000, Tag { number, transmission });
        self.schedule(Instant::from_secs_f64(at), Event::Send(from as usize, datagram));
        number
    }

    /// Sets a link up (`true`) or down (`false`) at the time `at`.
    pub fn set_link(&mut self, at: f64, a: u32, b: u32, up: bool) {
        self.schedule(Instant::from_secs_f64(at), Event::Links(vec![(a, b, up)]));
    }

    /// Runs the network until the time `until`.
    pub fn run(&mut self, until: f64) {
        let until = Instant::from_secs_f64(until);
        while let Some(Reverse((at, _, key))) = self.events.peek().copied() {
            if at > until {
                break;
            }
            self.events.pop();
            self.now = at;
            let event = self.pending.remove(&key).expect("each event is scheduled once");
            self.handle(event);
            if self.check {
                self.assert_no_loops();
                self.assert_paths();
            }
        }
        self.now = until;
    }

    /// Runs the network until `until`. Checks that each datagram has ended or waits.
    pub fn finish(&mut self, until: f64) {
        self.run(until);
        let waiting: usize = self.nodes.iter().map(|node| node.router.waiting()).sum();
        let queued: usize =
            self.nodes.iter().map(|node| data(node.queue.iter().map(|(_, packet, _)| packet))).sum();
        let later = self.pending.values().filter(|event| match event {
            Event::Enter(_, transmit) => matches!(transmit.packet, Packet::Data(_)),
            Event::Send(..) => true,
            Event::Timer(_) | Event::Serve(_) | Event::Links(_) => false,
        });
        let ended = self.delivered.len() + self.dropped.len() + self.lost as usize;
        assert_eq!(ended + waiting + queued + later.count(), self.numbers as usize, "each datagram ends");
        let numbers: BTreeSet<u64> = self
            .delivered
            .iter()
            .map(|(d, _)| d.body.number)
            .chain(self.dropped.iter().map(|(d, _)| d.body.number))
            .collect();
        assert_eq!(numbers.len(), self.delivered.len() + self.dropped.len(), "none ends twice");
        for node in &self.nodes {
            let counted: u64 = node.router.counters().drops.iter().sum();
            assert!(counted as usize <= self.dropped.len());
        }
        let counted: u64 = self.nodes.iter().map(|n| n.router.counters().drops.iter().sum::<u64>()).sum();
        assert_eq!(counted as usize, self.dropped.len(), "each drop is counted by its router");
    }

    /// Returns the router of a node.
    pub fn router(&self, node: u32) -> &dyn Routing<Tag> {
        &*self.nodes[node as usize].router
    }

    /// Passes a message to a node, as if the neighbour `from` had sent it. Returns the node's transmissions.
    pub fn tell(&mut self, node: u32, from: u32, message: Message) -> Vec<Transmit<Tag>> {
        let link = Link { from: Address(from), delay: self.service };
        let mut out = RoutingOutput::default();
        let context = self.context(node as usize);
        self.nodes[node as usize].router.handle_message(&context, link, message, &mut out);
        let sent = out.transmit.clone();
        self.carry_out(node as usize, &mut out);
        sent
    }

    /// Returns the next hop of the best path.
    pub fn next_hop(&self, node: u32, destination: u32) -> Option<u32> {
        self.hops(node, destination).first().map(|(hop, _)| *hop)
    }

    /// Returns the next hops and lengths of all paths.
    pub fn hops(&self, node: u32, destination: u32) -> Vec<(u32, u8)> {
        let paths = self.router(node).paths(self.now, Address(destination));
        paths.iter().map(|path| (path.next_hop.0, path.hops)).collect()
    }

    /// Returns the transmitted messages of one kind, each with its time and sender.
    pub fn messages<T>(&self, which: impl Fn(&Message) -> Option<T>) -> Vec<(f64, u32, T)> {
        let found = self.air.iter().filter_map(|(at, from, _, packet)| match packet {
            Packet::Control(message) => Some((at.as_secs_f64(), *from, which(message)?)),
            Packet::Data(_) => None,
        });
        found.collect()
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        let key = self.order as usize;
        self.pending.insert(key, event);
        self.events.push(Reverse((at, self.order, key)));
        self.order += 1;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Timer(node) => {
                if self.nodes[node].timer.is_some_and(|at| at <= self.now) {
                    self.nodes[node].timer = None;
                    self.call(node, |router, context, out| router.handle_timeout(context, out));
                }
            }
            Event::Serve(node) => self.serve(node),
            Event::Enter(node, transmit) => self.enter(node, transmit),
            Event::Send(node, datagram) => {
                self.call(node, |router, context, out| router.originate(context, datagram, out));
            }
            Event::Links(changes) => {
                for (a, b, up) in changes {
                    let link = (a.min(b), a.max(b));
                    if up {
                        self.links.insert(link)
                    } else {
                        self.links.remove(&link)
                    };
                }
            }
        }
    }

    fn context(&mut self, node: usize) -> Context {
        let busy = self.busy.get(&(node as u32)).copied().unwrap_or(0.0);
        let now = self.now;
        let node = &mut self.nodes[node];
        if !node.serving {
            node.idle += (now - node.idle_until).mul_f64(1.0 - busy);
        }
        node.idle_until = node.idle_until.max(now);
        Context { now, idle: node.idle, room: QUEUE - node.queue.len() }
    }

    fn call(
        &mut self,
        node: usize,
        what: impl FnOnce(&mut dyn Routing<Tag>, &Context, &mut RoutingOutput<Tag>),
    ) {
        let context = self.context(node);
        let mut out = RoutingOutput::default();
        what(&mut *self.nodes[node].router, &context, &mut out);
        self.carry_out(node, &mut out);
    }

    fn carry_out(&mut self, node: usize, out: &mut RoutingOutput<Tag>) {
        while let Some(to) = out.reclaim.pop() {
            while let Some(packet) = self.take_queued(node, to) {
                let context = self.context(node);
                self.nodes[node].router.handle_reclaimed(&context, to, packet, out);
            }
        }
        for transmit in out.transmit.drain(..) {
            if transmit.after.is_zero() {
                self.enter(node, transmit);
            } else {
                self.schedule(self.now + transmit.after, Event::Enter(node, transmit));
            }
        }
        self.delivered.extend(out.deliver.drain(..).map(|datagram| (datagram, self.now)));
        self.dropped.append(&mut out.drop);
        if let Some(at) = self.nodes[node].router.poll_timeout()
            && self.nodes[node].timer.is_none_or(|set| at < set)
        {
            self.nodes[node].timer = Some(at);
            self.schedule(at.max(self.now), Event::Timer(node));
        }
    }

    /// Removes and returns a packet that waits for `to`. The first packet of the queue is on the air and stays.
    fn take_queued(&mut self, node: usize, to: Address) -> Option<Packet<Tag>> {
        let node = &mut self.nodes[node];
        let first = usize::from(node.serving);
        let at = node.queue.iter().skip(first).position(|queued| queued.0 == NextHop::Neighbour(to))?;
        node.queue.remove(at + first).map(|(_, packet, _)| packet)
    }

    fn enter(&mut self, node: usize, transmit: Transmit<Tag>) {
        if self.nodes[node].queue.len() == QUEUE {
            self.lost += u64::from(matches!(transmit.packet, Packet::Data(_)));
            return;
        }
        self.context(node);
        let now = self.now;
        self.nodes[node].queue.push_back((transmit.to, transmit.packet, now));
        self.begin(node);
    }

    fn begin(&mut self, node: usize) {
        if self.nodes[node].serving {
            return;
        }
        if let Some((to, packet, _)) = self.nodes[node].queue.front() {
            self.air.push((self.now, node as u32, *to, packet.clone()));
            self.nodes[node].serving = true;
            self.schedule(self.now + self.service, Event::Serve(node));
        }
    }

    fn serve(&mut self, node: usize) {
        self.context(node);
        self.nodes[node].serving = false;
        let Some((to, packet, entered)) = self.nodes[node].queue.pop_front() else { return };
        match to {
            NextHop::All => self.broadcast(node, &packet, entered),
            NextHop::Neighbour(to) => self.unicast(node, to, packet, entered),
        }
        self.begin(node);
        self.call(node, |router, context, out| router.handle_room(context, out));
    }

    fn linked(&self, a: u32, b: u32) -> bool {
        self.links.contains(&(a.min(b), a.max(b)))
    }

    fn link(&self, from: u32, to: u32, entered: Instant) -> Link {
        let extra = self.extra.get(&(from, to)).copied().unwrap_or_default();
        Link { from: Address(from), delay: self.now - entered + extra }
    }

    fn broadcast(&mut self, node: usize, packet: &Packet<Tag>, entered: Instant) {
        let from = node as u32;
        for to in 0..self.nodes.len() as u32 {
            if to != from && self.linked(from, to) && !self.random.chance(self.loss) {
                self.hand_over(from, to, packet.clone(), entered);
            }
        }
    }

    fn unicast(&mut self, node: usize, to: Address, packet: Packet<Tag>, entered: Instant) {
        let from = node as u32;
        if self.linked(from, to.0) && (0..4).any(|_| !self.random.chance(self.loss)) {
            return self.hand_over(from, to.0, packet, entered);
        }
        let context = self.context(node);
        let mut out = RoutingOutput::default();
        let Node { router, queue, .. } = &mut self.nodes[node];
        let mut queued = || {
            let at = queue.iter().position(|q| q.0 == NextHop::Neighbour(to))?;
            queue.remove(at).map(|(_, packet, _)| packet)
        };
        router.handle_link_failure(&context, to, packet, &mut queued, &mut out);
        self.carry_out(node, &mut out);
    }

    fn hand_over(&mut self, from: u32, to: u32, packet: Packet<Tag>, entered: Instant) {
        let link = self.link(from, to, entered);
        self.call(to as usize, |router, context, out| match packet {
            Packet::Data(datagram) => router.handle_datagram(context, link, datagram, out),
            Packet::Control(message) => router.handle_message(context, link, message, out),
        });
    }

    /// Follows all paths of all nodes to each destination. Panics if there is a loop.
    fn assert_no_loops(&self) {
        let nodes = self.nodes.len() as u32;
        for destination in 0..nodes {
            let mut left: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for node in (0..nodes).filter(|node| *node != destination) {
                let paths = self.hops(node, destination);
                left.insert(node, paths.iter().map(|p| p.0).filter(|hop| *hop != destination).collect());
            }
            // A graph without cycles loses all its nodes if nodes without a successor are removed repeatedly.
            loop {
                let ends: Vec<u32> =
                    left.iter().filter(|(_, to)| to.is_empty()).map(|(node, _)| *node).collect();
                if ends.is_empty() {
                    break;
                }
                ends.iter().for_each(|node| drop(left.remove(node)));
                left.values_mut().for_each(|to| to.retain(|hop| !ends.contains(hop)));
            }
            assert!(left.is_empty(), "at {:?} a loop to {destination}: {left:?}", self.now);
        }
    }
}

impl Net {
    /// Checks the invariants of AOMDV (Marina and Das 2001). No path exceeds the announced length. Paths of one
    /// destination have different next hops and different last hops. Each next hop has a newer path, or announces fewer
    /// hops.
    fn assert_paths(&self) {
        let nodes = self.nodes.len() as u32;
        for (node, destination) in (0..nodes).flat_map(|node| (0..nodes).map(move |to| (node, to))) {
            let paths = self.router(node).paths(self.now, Address(destination));
            let hops: BTreeSet<Address> = paths.iter().map(|path| path.next_hop).collect();
            assert_eq!(hops.len(), paths.len(), "next hops of {node} to {destination}: {paths:?}");
            let last: BTreeSet<Address> = paths.iter().filter_map(|path| path.last_hop).collect();
            let labelled = paths.iter().filter(|path| path.last_hop.is_some()).count();
            assert_eq!(last.len(), labelled, "last hops of {node} to {destination}: {paths:?}");
            for path in &paths {
                assert!(path.advertised.is_none_or(|advertised| path.hops <= advertised), "{path:?}");
                let Some(sequence) = path.sequence else { continue };
                for next in self.router(path.next_hop.0).paths(self.now, Address(destination)) {
                    let ahead = next.sequence.expect("all have one");
                    let nearer = next.hops < path.hops && next.advertised.is_none_or(|a| a < path.hops);
                    assert!(
                        ahead > sequence || (ahead == sequence && nearer),
                        "{node}: {path:?} then {next:?}"
                    );
                }
            }
        }
    }
}

fn data<'a>(packets: impl Iterator<Item = &'a Packet<Tag>>) -> usize {
    packets.filter(|packet| matches!(packet, Packet::Data(_))).count()
}

/// Returns the settings of property tests, with a number of cases that fits the tests' time.
pub fn settings() -> proptest::prelude::ProptestConfig {
    proptest::prelude::ProptestConfig { cases: 96, ..Default::default() }
}
