//! Sealed endpoints and the network between them, in simulated time: uplinks after NATs, loss, duplication,
//! reordering, and a record of every datagram that left.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::BytesMut;
use strandcast_proto::association::{Event, SendOptions, Transmit};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, EndpointConfig, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, PathId};
use strandcast_proto::rfc;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_seal::{
    Access, Grant, Peer, SealConfig, SealEvent, SealStats, SealedEndpoint, SecretKey, Token,
};

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub const PORT: u16 = 5000;

/// One side: an endpoint, and the events of its application.
pub struct Node {
    pub end: SealedEndpoint,
    pub events: Vec<(AssociationId, Event)>,
    pub seal_events: Vec<SealEvent>,
    /// Payload received, by association.
    pub received: BTreeMap<AssociationId, Vec<u8>>,
}

/// A socket of a node, and its NAT.
#[derive(Clone, Debug)]
pub struct Uplink {
    pub node: usize,
    pub link: LinkId,
    pub inside: SocketAddr,
    /// Public address; the NAT drops the previous one when it changes.
    pub outside: SocketAddr,
    pub delay: Duration,
    pub jitter: Duration,
    pub loss: f64,
    pub duplicate: f64,
    pub up: bool,
}

/// A datagram that left, as seen by an observer of the network.
#[derive(Clone, Debug)]
pub struct Seen {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
}

pub struct Harness {
    pub now: Instant,
    pub seeds: Seeds,
    pub nodes: Vec<Node>,
    pub uplinks: Vec<Uplink>,
    flying: BTreeMap<(Instant, u64), Seen>,
    sequence: u64,
    random: Random,
    /// Every datagram that left, if recording is on.
    pub record: Option<Vec<Seen>>,
    /// A node that receives nothing.
    pub deaf: Option<usize>,
    /// Bytes with IP and UDP headers, by destination and by source, that left for an address and that arrived
    /// from it.
    pub towards: BTreeMap<SocketAddr, usize>,
    pub arrived: BTreeMap<SocketAddr, usize>,
}

pub fn address(last: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(last)), port)
}

pub fn server_address() -> SocketAddr {
    address([192, 0, 2, 1], 9899)
}

pub fn secret(seeds: &Seeds, label: &str) -> SecretKey {
    SecretKey::generate(&mut seeds.stream(label))
}

pub fn token(seeds: &Seeds) -> Token {
    Token::generate(&mut seeds.stream("token"))
}

/// Admits every host that has the token.
pub fn open_access(seeds: &Seeds) -> Access {
    let grant = Grant { token: token(seeds), senders: BTreeSet::new(), open: true, once: false };
    Access { grants: vec![grant], revoked: BTreeSet::new() }
}

pub fn live() -> TransportConfig {
    TransportConfig::live()
}

impl Harness {
    /// A network without nodes.
    pub fn new(seed: u64) -> Self {
        let seeds = Seeds::new(seed, 0);
        Harness {
            now: Instant::from_millis(10_000),
            random: seeds.stream("network"),
            seeds,
            nodes: Vec::new(),
            uplinks: Vec::new(),
            flying: BTreeMap::new(),
            sequence: 0,
            record: None,
            deaf: None,
            towards: BTreeMap::new(),
            arrived: BTreeMap::new(),
        }
    }

    /// A receiver at [`server_address`] and a sender with an uplink for each delay.
    pub fn pair(seed: u64, delays_ms: &[u64]) -> Self {
        let mut harness = Harness::new(seed);
        let access = open_access(&harness.seeds);
        let seeds = harness.seeds.clone();
        harness.add_server(access);
        let client = harness.add_client(secret(&seeds, "sender"));
        for (n, delay) in delays_ms.iter().enumerate() {
            harness.add_uplink(client, n as u8, *delay);
        }
        harness
    }

    pub fn endpoint(&self, seal: Option<SealConfig>, accepts: bool, label: &str) -> SealedEndpoint {
        let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
        let config = EndpointConfig {
            transport: Arc::new(live()),
            accept: accepts.then_some(accept),
            port: PORT,
            max_associations: 4096,
            ..EndpointConfig::default()
        };
        SealedEndpoint::new(config, seal, &self.seeds.child(label))
    }

    pub fn add_node(&mut self, end: SealedEndpoint) -> usize {
        let (events, seal_events, received) = (Vec::new(), Vec::new(), BTreeMap::new());
        self.nodes.push(Node { end, events, seal_events, received });
        self.nodes.len() - 1
    }

    pub fn add_server(&mut self, access: Access) -> usize {
        let config = SealConfig::new(secret(&self.seeds, "receiver"), access);
        let end = self.endpoint(Some(config), true, "receiver");
        self.add_server_with(end)
    }

    pub fn add_server_with(&mut self, end: SealedEndpoint) -> usize {
        let node = self.add_node(end);
        let mut uplink = self.uplink(node, 0, 0);
        (uplink.inside, uplink.outside) = (server_address(), server_address());
        self.uplinks.push(uplink);
        node
    }

    pub fn add_client(&mut self, identity: SecretKey) -> usize {
        let config = SealConfig::new(identity, Access::default());
        let end = self.endpoint(Some(config), false, &format!("sender {}", self.nodes.len()));
        self.add_node(end)
    }

    fn uplink(&self, node: usize, n: u8, delay_ms: u64) -> Uplink {
        let inside = address([10, (node >> 8) as u8, node as u8, n + 2], 40_000);
        let outside = address([198, 51 + (node >> 8) as u8, node as u8, n + 2], 50_000);
        let (link, delay, jitter) = (LinkId(u32::from(n)), ms(delay_ms), ms(0));
        Uplink { node, link, inside, outside, delay, jitter, loss: 0.0, duplicate: 0.0, up: true }
    }

    pub fn add_uplink(&mut self, node: usize, n: u8, delay_ms: u64) -> usize {
        self.uplinks.push(self.uplink(node, n, delay_ms));
        self.uplinks.len() - 1
    }

    /// The 4-tuples of a client's paths to the receiver.
    pub fn tuples(&self, node: usize) -> Vec<FourTuple> {
        let own = self.uplinks.iter().filter(|u| u.node == node);
        own.map(|u| FourTuple::new(u.link, u.inside, server_address())).collect()
    }

    pub fn peer(&self) -> Peer {
        Peer { key: secret(&self.seeds, "receiver").public(), token: token(&self.seeds) }
    }

    pub fn connect_as(&mut self, node: usize, peer: Peer) -> AssociationId {
        self.connect_with(node, peer, self.tuples(node))
    }

    pub fn connect_over(&mut self, node: usize, tuples: Vec<FourTuple>) -> AssociationId {
        self.connect_with(node, self.peer(), tuples)
    }

    fn connect_with(&mut self, node: usize, peer: Peer, tuples: Vec<FourTuple>) -> AssociationId {
        let paths = tuples.into_iter().map(|t| (t, None)).collect();
        let connect = Connect { paths, port: PORT, scheme: Box::new(rfc::scheme()), transport: None };
        let id = self.nodes[node].end.connect(self.now, connect, Some(peer)).expect("a free endpoint");
        self.pump();
        id
    }

    pub fn connect(&mut self, node: usize) -> AssociationId {
        self.connect_as(node, self.peer())
    }

    /// Connects node 1 and runs until all paths are up.
    pub fn up(&mut self) -> AssociationId {
        let id = self.connect(1);
        self.run(ms(3000));
        assert!(self.connected(1, id), "{:?} {:?}", self.nodes[1].events, self.nodes[1].seal_events);
        id
    }

    pub fn connected(&self, node: usize, id: AssociationId) -> bool {
        self.nodes[node].events.iter().any(|(i, e)| *i == id && matches!(e, Event::Connected { .. }))
    }

    /// The receiver's association, if it has exactly one.
    pub fn accepted(&self) -> AssociationId {
        let ids: BTreeSet<_> = self.nodes[0].events.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids.len(), 1, "{:?}", self.nodes[0].events);
        *ids.first().expect("one")
    }

    pub fn send(&mut self, node: usize, id: AssociationId, payload: Vec<u8>) {
        let endpoint = self.nodes[node].end.endpoint_mut();
        endpoint.send(self.now, id, payload.into(), SendOptions::default()).expect("room to send");
        self.pump();
    }

    pub fn stats(&self, node: usize) -> SealStats {
        self.nodes[node].end.seal_stats().expect("sealed")
    }

    fn launch(&mut self, node: usize, tuple: &FourTuple, bytes: &[u8]) {
        let own = |u: &&Uplink| u.node == node && (u.link, u.inside) == (tuple.link, tuple.local);
        let Some(uplink) = self.uplinks.iter().find(own).cloned() else { return };
        let seen = Seen { from: uplink.outside, to: tuple.remote, bytes: bytes.to_vec() };
        *self.towards.entry(tuple.remote).or_default() += bytes.len() + 28;
        if let Some(record) = &mut self.record {
            record.push(seen.clone());
        }
        // Losses and delays are those of the uplink, in both directions.
        let there = self.uplinks.iter().find(|u| u.outside == tuple.remote).cloned();
        let Some(there) = there else { return };
        let quality = if uplink.node == 0 { &there } else { &uplink };
        if !uplink.up || !there.up || self.random.chance(quality.loss) {
            return;
        }
        let copies = 1 + usize::from(self.random.chance(quality.duplicate));
        for _ in 0..copies {
            let jitter = Duration::from_nanos(self.random.below(quality.jitter.as_nanos() as u64 + 1));
            self.sequence += 1;
            self.flying.insert((self.now + quality.delay + jitter, self.sequence), seen.clone());
        }
    }

    /// Delivers a datagram now, from the source that it names.
    pub fn arrive(&mut self, seen: &Seen) {
        let Some(there) = self.uplinks.iter().find(|u| u.outside == seen.to && u.up).cloned() else { return };
        if self.deaf == Some(there.node) {
            return;
        }
        *self.arrived.entry(seen.from).or_default() += seen.bytes.len() + 28;
        let tuple = FourTuple::new(there.link, there.inside, seen.from);
        let bytes = BytesMut::from(&seen.bytes[..]);
        let stride = bytes.len();
        self.nodes[there.node].end.receive(self.now, tuple, bytes, stride);
        self.pump();
    }

    pub fn inject(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let seen = Seen { from, to, bytes: bytes.to_vec() };
        self.arrive(&seen);
    }

    /// Drains all endpoints at the current time.
    pub fn pump(&mut self) {
        for node in 0..self.nodes.len() {
            let mut buf = Vec::new();
            while let Some(transmit) = self.nodes[node].end.poll_output(self.now, &mut buf) {
                let Transmit { tuple, len, segment_size, .. } = transmit;
                assert_eq!(buf.len(), len, "only what was announced is appended");
                for datagram in buf.chunks(segment_size) {
                    self.launch(node, &tuple, datagram);
                }
                buf.clear();
            }
            self.take_events(node);
        }
    }

    fn take_events(&mut self, node: usize) {
        let Node { end, events, seal_events, received } = &mut self.nodes[node];
        while let Some((id, event)) = end.poll_event() {
            received.entry(id).or_default();
            events.push((id, event));
        }
        while let Some(event) = end.poll_seal_event() {
            seal_events.push(event);
        }
        for (id, bytes) in received {
            while let Some(message) = end.endpoint_mut().recv(*id) {
                message.payload.iter().for_each(|b| bytes.push(*b));
            }
        }
    }

    /// Runs the next event up to `end`; returns false when none is left.
    pub fn step(&mut self, end: Instant) -> bool {
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let timers = self.nodes.iter().filter_map(|n| n.end.poll_timeout());
        let next = arrival.into_iter().chain(timers).min();
        let Some(at) = next.filter(|at| *at <= end) else { return false };
        self.now = self.now.max(at);
        if arrival == Some(at) {
            let (_, seen) = self.flying.pop_first().expect("an arrival");
            self.arrive(&seen);
        } else {
            for node in &mut self.nodes {
                if node.end.poll_timeout().is_some_and(|at| at <= self.now) {
                    node.end.handle_timeout(self.now);
                }
            }
            self.pump();
        }
        true
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        let (mut steps, mut last) = (0, self.now);
        while self.step(end) {
            steps = if self.now == last { steps + 1 } else { 0 };
            last = self.now;
            assert!(steps < 100_000, "no progress in time at {:?}", self.now);
        }
        self.now = end;
        self.pump();
    }

    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&Harness) -> bool) -> bool {
        let end = self.now + limit;
        while !done(self) {
            if !self.step(end) {
                return done(self);
            }
        }
        true
    }

    /// Sends once the association is connected.
    pub fn send_when_up(&mut self, node: usize, id: AssociationId, payload: Vec<u8>) {
        assert!(self.run_until(ms(10_000), |w| w.connected(node, id)), "{:?}", self.nodes[node].events);
        self.send(node, id, payload);
    }

    /// Opens another association of a node, whose first one continues, from other ports.
    pub fn connect_again(&mut self, node: usize) -> AssociationId {
        for uplink in self.uplinks.iter_mut().filter(|u| u.node == node) {
            uplink.inside.set_port(uplink.inside.port() + 1);
            uplink.outside.set_port(uplink.outside.port() + 1);
        }
        self.connect(node)
    }

    pub fn path_stats(&self, node: usize, id: AssociationId, path: u8) -> strandcast_proto::path::PathStats {
        let association = self.nodes[node].end.endpoint().association(id).expect("not released");
        association.path_stats(PathId(path)).expect("a path").clone()
    }

    /// The states of an association's paths.
    pub fn states(&self, node: usize, id: AssociationId) -> Vec<strandcast_proto::policy::PathState> {
        let association = self.nodes[node].end.endpoint().association(id).expect("not released");
        association.paths().iter().map(|p| p.state).collect()
    }

    pub fn remote(&self, node: usize, id: AssociationId, path: u8) -> SocketAddr {
        let association = self.nodes[node].end.endpoint().association(id).expect("not released");
        association.tuple(PathId(path)).expect("a path").remote
    }

    pub fn count(&self, node: usize, which: impl Fn(&SealEvent) -> bool) -> usize {
        self.nodes[node].seal_events.iter().filter(|e| which(e)).count()
    }
}

/// Bytes that differ everywhere, so that any exchange is noticed.
pub fn pattern(from: usize, len: usize) -> Vec<u8> {
    (from..from + len).map(|i| ((i * 131) + (i >> 8) * 7 + (i >> 16)) as u8).collect()
}
