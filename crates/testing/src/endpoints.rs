//! Two endpoints and the wires between them. The client has one uplink per wire, and the server has one address.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{Event, SendOptions, Transmit};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::{Envelope, FourTuple, SealId};
use strandcast_proto::policy::{LinkId, PathId};
use strandcast_proto::rx::Message;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use crate::plain;

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;
pub const SERVER_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9899);

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A wire, which is one uplink of the client.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Address of the client on this uplink.
    pub inside: SocketAddr,
    /// Address of the client that the server sees, after the NAT.
    pub outside: SocketAddr,
    pub delay: Duration,
    /// Bound of an extra delay, which is drawn uniformly. The extra delay makes packets overtake each other.
    pub jitter: Duration,
    /// True for each direction that works: towards the server, and towards the client.
    pub up: [bool; 2],
    /// Probability that a packet is lost. `duplicate` is the probability that it is duplicated, and `corrupt` the
    /// probability that one of its bits is flipped.
    pub loss: f64,
    pub duplicate: f64,
    pub corrupt: f64,
    /// Maximum size in bytes of an IP packet. Larger packets are lost, unless they may be fragmented.
    pub mtu: usize,
    /// Maximum bytes of an IP packet of the client at its interface. Larger packets are refused, and are then sent in
    /// fragments.
    pub interface_mtu: usize,
}

impl Wire {
    pub fn new(n: usize, delay_ms: u64) -> Self {
        let inside = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, n as u8, 2)), 40_000);
        let outside = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 51, 100, n as u8)), 50_000);
        Wire {
            inside,
            outside,
            delay: ms(delay_ms),
            jitter: ms(0),
            up: [true; 2],
            loss: 0.0,
            duplicate: 0.0,
            corrupt: 0.0,
            mtu: 65_535,
            interface_mtu: 65_535,
        }
    }

    pub fn client_tuple(&self, n: usize) -> FourTuple {
        FourTuple::new(LinkId(n as u32), self.inside, SERVER_ADDRESS)
    }
}

/// A datagram in transit.
#[derive(Clone, Debug)]
struct Flying {
    to: usize,
    tuple: FourTuple,
    bytes: Vec<u8>,
}

/// Function that decides whether a packet is delivered: (now, sender, wire, bytes) → true to deliver it.
pub type Filter = Box<dyn FnMut(Instant, usize, usize, &[u8]) -> bool>;

/// Observations by the application of one side.
#[derive(Debug, Default)]
pub struct App {
    pub id: Option<AssociationId>,
    pub events: Vec<Event>,
    pub messages: Vec<Message>,
    /// If true, messages stay in the receive buffer.
    pub lazy: bool,
}

pub struct TestPair {
    pub now: Instant,
    pub ends: [Endpoint; 2],
    pub apps: [App; 2],
    pub wires: Vec<Wire>,
    flying: BTreeMap<(Instant, u64), Flying>,
    sequence: u64,
    random: Random,
    pub filter: Filter,
    /// Number of packets sent, by sender and wire.
    pub sent: BTreeMap<(usize, usize), u64>,
    /// Session of each end, by its own number. The session is used with a seal, and packets then have envelopes. The
    /// wires carry all packets.
    pub sealed: [SealId; 2],
    pub envelope: Envelope,
    /// Number of datagrams in the largest batch.
    pub largest_batch: usize,
    /// Time, sender and wire of each packet that arrived and contained at least one DATA chunk.
    pub data_log: Vec<(Instant, usize, usize)>,
}

pub fn config() -> TransportConfig {
    TransportConfig::default()
}

impl TestPair {
    pub fn new(delays_ms: &[u64], transport: TransportConfig, seed: u64) -> Self {
        let factory: SchemeFactory = Arc::new(|_| plain::simple());
        TestPair::with(delays_ms, [transport.clone(), transport], factory, seed)
    }

    pub fn with(
        delays_ms: &[u64],
        transports: [TransportConfig; 2],
        accept: SchemeFactory,
        seed: u64,
    ) -> Self {
        let seeds = Seeds::new(seed, 0);
        let [client, server] = transports.map(Arc::new);
        let client = EndpointConfig { transport: client, ..EndpointConfig::default() };
        let server = EndpointConfig { transport: server, accept: Some(accept), ..EndpointConfig::default() };
        TestPair {
            now: Instant::from_millis(10_000),
            ends: [
                Endpoint::new(client, &seeds.child("client")),
                Endpoint::new(server, &seeds.child("server")),
            ],
            apps: Default::default(),
            wires: delays_ms.iter().enumerate().map(|(n, d)| Wire::new(n, *d)).collect(),
            flying: BTreeMap::new(),
            sequence: 0,
            random: seeds.stream("wires"),
            filter: Box::new(|_, _, _, _| true),
            sent: BTreeMap::new(),
            sealed: [SealId::CLEAR; 2],
            envelope: Envelope::NONE,
            largest_batch: 0,
            data_log: Vec::new(),
        }
    }

    /// Creates a pair with an envelope that protects nothing.
    pub fn sealed(delays_ms: &[u64], transport: TransportConfig, seed: u64) -> Self {
        let envelope = Envelope { front: 13, back: 16 };
        let pair = TestPair::new(delays_ms, TransportConfig { envelope, ..transport }, seed);
        TestPair { sealed: [SealId(3), SealId(8)], envelope, ..pair }
    }

    /// Returns the client's 4-tuple of wire `n`, in the session of this wire.
    pub fn client_tuple(&self, n: usize) -> FourTuple {
        FourTuple { sealed: self.sealed[CLIENT], ..self.wires[n].client_tuple(n) }
    }

    /// Returns the server's 4-tuple of wire `n`, in the session of this wire.
    pub fn server_tuple(&self, n: usize) -> FourTuple {
        let tuple = FourTuple::new(LinkId(0), SERVER_ADDRESS, self.wires[n].outside);
        FourTuple { sealed: self.sealed[SERVER], ..tuple }
    }

    pub fn connect(&mut self) -> AssociationId {
        self.connect_with(plain::simple())
    }

    pub fn connect_with(&mut self, scheme: Box<dyn strandcast_proto::policy::Scheme>) -> AssociationId {
        let paths = (0..self.wires.len()).map(|n| (self.client_tuple(n), None)).collect();
        let connect = Connect { paths, port: 5000, scheme, transport: None };
        let id = self.ends[CLIENT].connect(self.now, connect).expect("a free endpoint");
        self.apps[CLIENT].id = Some(id);
        self.pump();
        id
    }

    /// Connects the endpoints, and runs until the handshake is complete and all paths have joined.
    pub fn up(&mut self) {
        self.connect();
        self.run(ms(3000));
        assert!(self.apps[SERVER].id.is_some(), "connected: {:?}", self.apps[CLIENT].events);
    }

    pub fn send(&mut self, side: usize, bytes: impl Into<Bytes>, options: SendOptions) {
        let id = self.apps[side].id.expect("connected");
        self.ends[side].send(self.now, id, bytes.into(), options).expect("room to send");
        self.pump();
    }

    fn wire_of(&self, from: usize, tuple: &FourTuple) -> Option<usize> {
        let own = |w: &Wire| if from == CLIENT { w.inside == tuple.local } else { w.outside == tuple.remote };
        self.wires.iter().position(own)
    }

    fn launch(&mut self, from: usize, tuple: FourTuple, bytes: &[u8], fragment: bool) {
        let Some(n) = self.wire_of(from, &tuple) else { return };
        assert_eq!(tuple.sealed, self.sealed[from], "of its session");
        let Envelope { front, back } = self.envelope;
        let packet = &bytes[front..bytes.len() - back];
        *self.sent.entry((from, n)).or_default() += 1;
        let w = self.wires[n].clone();
        let lost = self.random.chance(w.loss);
        let refused = from == CLIENT && bytes.len() + 28 > w.interface_mtu;
        if refused {
            self.ends[from].handle_input(self.now, Input::TooBig { tuple, size: bytes.len() });
        }
        let too_large = bytes.len() + 28 > w.mtu && !fragment && !refused;
        if !w.up[from] || lost || too_large || !(self.filter)(self.now, from, n, packet) {
            return;
        }
        let arrival = if from == CLIENT { self.server_tuple(n) } else { self.client_tuple(n) };
        if packet.get(12) == Some(&0) {
            self.data_log.push((self.now, from, n));
        }
        for copy in 0..2 {
            if copy == 1 && !self.random.chance(w.duplicate) {
                break;
            }
            let mut bytes = bytes.to_vec();
            // A seal may leave anything around a packet that it opened.
            bytes[..front].fill(0xa5);
            let end = bytes.len() - back;
            bytes[end..].fill(0xa5);
            if self.random.chance(w.corrupt) {
                let bit = self.random.below(bytes.len() as u64 * 8) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            let jitter = Duration::from_nanos(self.random.below(w.jitter.as_nanos() as u64 + 1));
            self.sequence += 1;
            let flying = Flying { to: 1 - from, tuple: arrival, bytes };
            self.flying.insert((self.now + w.delay + jitter, self.sequence), flying);
        }
    }

    /// Sends all pending output of both endpoints at the current time.
    pub fn pump(&mut self) {
        for side in 0..2 {
            let mut buf = Vec::new();
            while let Some(Transmit { tuple, len, segment_size, fragment }) =
                self.ends[side].poll_output(self.now, &mut buf)
            {
                assert_eq!(buf.len(), len, "only what was announced is appended");
                self.largest_batch = self.largest_batch.max(len.div_ceil(segment_size));
                for datagram in buf.chunks(segment_size) {
                    self.launch(side, tuple, datagram, fragment);
                }
                buf.clear();
            }
            self.take_events(side);
        }
    }

    fn take_events(&mut self, side: usize) {
        while let Some((id, event)) = self.ends[side].poll_event() {
            self.apps[side].id.get_or_insert(id);
            self.apps[side].events.push(event);
        }
        if !self.apps[side].lazy {
            self.read(side);
        }
    }

    /// Reads all messages that can be read.
    pub fn read(&mut self, side: usize) {
        let Some(id) = self.apps[side].id else { return };
        while let Some(message) = self.ends[side].recv(id) {
            self.apps[side].messages.push(message);
        }
    }

    /// Handles the next event (arrival or timer), if its time is at most `end`. Returns false if there is no such
    /// event.
    pub fn step(&mut self, end: Instant) -> bool {
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let timers = [0, 1].map(|s| self.ends[s].poll_timeout());
        let next = arrival.into_iter().chain(timers.into_iter().flatten()).min();
        let Some(at) = next.filter(|at| *at <= end) else { return false };
        self.now = self.now.max(at);
        if arrival == Some(at) {
            let (_, f) = self.flying.pop_first().expect("an arrival");
            let segment_size = f.bytes.len();
            let data = Bytes::from(f.bytes);
            self.ends[f.to].handle_input(self.now, Input::Datagrams { tuple: f.tuple, data, segment_size });
        } else {
            for side in 0..2 {
                self.ends[side].handle_timeout(self.now);
            }
        }
        self.pump();
        true
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        let mut steps = 0;
        while self.step(end) {
            steps += 1;
            assert!(steps < 3_000_000, "no progress in time at {:?}: {:?}", self.now, self.reasons());
        }
        self.now = end;
        self.pump();
    }

    /// Runs until the function `done` returns true, or for `limit`. Returns whether `done` returned true.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&TestPair) -> bool) -> bool {
        let end = self.now + limit;
        while !done(self) {
            if !self.step(end) {
                return done(self);
            }
        }
        true
    }

    pub fn reasons(&self) -> Vec<String> {
        let reason = |s: usize| self.apps[s].id.and_then(|id| self.ends[s].timeout_reason(id));
        (0..2).map(|s| format!("{s}: {:?}", reason(s))).collect()
    }

    /// Returns the payload that a side received, in the order of delivery.
    pub fn received(&self, side: usize) -> Vec<u8> {
        self.apps[side].messages.iter().flat_map(|m| m.payload.iter().copied()).collect()
    }

    pub fn association(&self, side: usize) -> &strandcast_proto::association::Association {
        self.ends[side].association(self.apps[side].id.expect("connected")).expect("not released")
    }

    pub fn states(&self, side: usize) -> Vec<strandcast_proto::policy::PathState> {
        self.association(side).paths().iter().map(|p| p.state).collect()
    }

    pub fn saw(&self, side: usize, event: &Event) -> bool {
        self.apps[side].events.contains(event)
    }
}

/// Returns bytes that differ at every position, so that swapped bytes are detected.
pub fn pattern(from: usize, len: usize) -> Vec<u8> {
    (from..from + len).map(|i| ((i * 131) + (i >> 8) * 7 + (i >> 16)) as u8).collect()
}

pub fn distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    items.into_iter().collect()
}

pub const P0: PathId = PathId(0);
pub const P1: PathId = PathId(1);
