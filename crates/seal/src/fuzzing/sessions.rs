//! A receiver and two senders, for fuzzing. The input decides which datagrams are delivered, changed, repeated, or sent
//! from other hosts' addresses. The input also decides when a NAT drops its mappings.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::BytesMut;
use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, EndpointConfig, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use super::bounded;
use crate::config::SealConfig;
use crate::endpoint::SealedEndpoint;
use crate::identity::{Access, Grant, Peer, PublicKey, SecretKey, Token};
use crate::wire::Kind;

/// Limits of one input: steps, datagrams in transit, and datagrams that an attacker recorded.
const STEPS: usize = 200;
const FLYING: usize = 64;
const RECORDED: usize = 64;
/// Number of uplinks of each sender.
const UPLINKS: usize = 2;
/// Work that a datagram may cause, regardless of its length. `KEYED` is the work of a handshake message.
const OPENED: u64 = 16 << 10;
const KEYED: u64 = 64 << 10;
const RECEIVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9899);

/// The input is a script of steps with four bytes: one for the action, and three for parameters. No foreign address
/// receives more than three times the bytes that came from it, by the receiver's count. IP and UDP headers are
/// included. An association delivers exactly the bytes that its sender submitted, from the first byte on. The number of
/// sessions is at most the number of the senders' handshakes. The work for a datagram is proportional to its bytes. A
/// handshake message may also cause the work for the keys of all paths.
pub fn seal_sessions(data: &[u8]) {
    let mut harness = Harness::new();
    for step in data.chunks_exact(4).take(STEPS) {
        let [what, a, b, c] = [step[0], step[1], step[2], step[3]];
        match what % 10 {
            0 => harness.connect(usize::from(a) % 2),
            1 => harness.send(usize::from(a) % 2, 1 + usize::from(b) * 8),
            2 => harness.deliver(a),
            3 => (0..=b % 32).for_each(|_| harness.deliver(0)),
            4 => harness.spoof(a, b),
            5 => harness.change(a, u16::from_be_bytes([b, c])),
            6 => harness.rebind(usize::from(a) % 2, usize::from(b) % UPLINKS),
            7 => harness.go_on(Duration::from_millis(u64::from(a) << (b % 12))),
            8 => harness.lose(a),
            _ => harness.revoke(a),
        }
        harness.check();
    }
}

#[derive(Clone)]
struct Flying {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// The application of a sender.
#[derive(Default)]
struct App {
    id: Option<AssociationId>,
    connected: bool,
    sent: usize,
}

struct Harness {
    now: Instant,
    ends: [SealedEndpoint; 3],
    keys: [PublicKey; 2],
    peer: Peer,
    access: Access,
    apps: [App; 2],
    /// Public address of each uplink, for each sender.
    outside: [[SocketAddr; UPLINKS]; 2],
    rebound: u16,
    flying: VecDeque<Flying>,
    recorded: VecDeque<Flying>,
    /// Bytes received from and sent to addresses that belong to no sender.
    victims: BTreeMap<SocketAddr, (usize, usize)>,
    received: BTreeMap<AssociationId, usize>,
    begun: u64,
}

fn address(net: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, net, 0, host)), port)
}

/// Returns the byte at position `at` of the stream of bytes that a sender submits.
fn byte(sender: usize, at: usize) -> u8 {
    (at * 131 + (at >> 8) * 7) as u8 ^ (0x55 * sender as u8)
}

fn endpoint(seal: SealConfig, accepts: bool, seeds: &Seeds) -> SealedEndpoint {
    let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
    let transport =
        TransportConfig { buffer_limit: None, receive_buffer: 64 << 10, ..TransportConfig::live() };
    let (accept, transport) = (accepts.then_some(accept), Arc::new(transport));
    let config = EndpointConfig { transport, accept, max_associations: 8, ..EndpointConfig::default() };
    SealedEndpoint::new(config, Some(seal), seeds)
}

impl Harness {
    fn new() -> Self {
        let seeds = Seeds::new(1, 0);
        let secret = |label: &str| SecretKey::generate(&mut seeds.stream(label));
        let token = Token::generate(&mut seeds.stream("token"));
        let peer = Peer { key: secret("receiver").public(), token: token.clone() };
        let grant = Grant { token, senders: BTreeSet::new(), open: true, once: false };
        let access = Access { grants: vec![grant], revoked: BTreeSet::new() };
        let mut config = SealConfig::new(secret("receiver"), access.clone());
        config.max_sessions = 8;
        let labels = ["sender 0", "sender 1"];
        let [first, second] = labels.map(|label| {
            endpoint(SealConfig::new(secret(label), Access::default()), false, &seeds.child(label))
        });
        Harness {
            now: Instant::from_millis(1000),
            ends: [endpoint(config, true, &seeds.child("receiver")), first, second],
            keys: labels.map(|label| secret(label).public()),
            peer,
            access,
            apps: Default::default(),
            outside: [1, 2].map(|net| [address(net, 1, 5000), address(net, 2, 5000)]),
            rebound: 0,
            flying: VecDeque::new(),
            recorded: VecDeque::new(),
            victims: BTreeMap::new(),
            received: BTreeMap::new(),
            begun: 0,
        }
    }

    fn connect(&mut self, sender: usize) {
        let open = |id| self.ends[1 + sender].endpoint().association(id).is_some_and(|a| !a.is_closed());
        if self.apps[sender].id.is_some_and(open) {
            return;
        }
        let path = |n| (FourTuple::new(LinkId(n), address(100, n as u8, 4000), RECEIVER), None);
        let paths = (0..UPLINKS as u32).map(path).collect();
        let connect = Connect { paths, port: 5000, scheme: Box::new(rfc::scheme()), transport: None };
        let id = self.ends[1 + sender].connect(self.now, connect, Some(self.peer.clone())).ok();
        self.apps[sender] = App { id, ..App::default() };
        self.begun += 1;
        self.pump();
    }

    fn send(&mut self, sender: usize, len: usize) {
        let App { id: Some(id), connected: true, sent } = &mut self.apps[sender] else { return };
        let payload: Vec<u8> = (*sent..*sent + len).map(|at| byte(sender, at)).collect();
        let endpoint = self.ends[1 + sender].endpoint_mut();
        if endpoint.send(self.now, *id, payload.into(), SendOptions::default()).is_ok() {
            *sent += len;
        }
        self.pump();
    }

    fn deliver(&mut self, which: u8) {
        if let Some(flying) = self.flying.remove(usize::from(which) % self.flying.len().max(1)) {
            self.arrive(&flying);
        }
    }

    fn lose(&mut self, which: u8) {
        self.flying.remove(usize::from(which) % self.flying.len().max(1));
    }

    /// Replays a recorded datagram, from its own address or from a foreign one.
    fn spoof(&mut self, which: u8, from: u8) {
        let at = usize::from(which) % self.recorded.len().max(1);
        let Some(mut flying) = self.recorded.get(at).cloned() else { return };
        if !from.is_multiple_of(4) && flying.to == RECEIVER {
            flying.from = address(200, from % 16, 53);
        }
        self.arrive(&flying);
    }

    fn change(&mut self, which: u8, bit: u16) {
        let at = usize::from(which) % self.recorded.len().max(1);
        let Some(mut flying) = self.recorded.get(at).cloned() else { return };
        let bit = usize::from(bit) % (8 * flying.bytes.len());
        flying.bytes[bit / 8] ^= 1 << (bit % 8);
        self.arrive(&flying);
    }

    fn rebind(&mut self, sender: usize, uplink: usize) {
        self.rebound += 1;
        self.outside[sender][uplink] = address(1 + sender as u8, 1 + uplink as u8, 6000 + self.rebound);
    }

    fn revoke(&mut self, which: u8) {
        self.access.revoked =
            self.keys.iter().enumerate().filter(|(n, _)| which & 1 << n != 0).map(|(_, k)| *k).collect();
        self.ends[0].set_access(self.now, self.access.clone());
        self.pump();
    }

    fn go_on(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..200 {
            let next = self.ends.iter().filter_map(SealedEndpoint::poll_timeout).min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            for end in &mut self.ends {
                end.handle_timeout(self.now);
            }
            self.pump();
        }
        self.now = end;
    }

    fn arrive(&mut self, flying: &Flying) {
        let stride = flying.bytes.len();
        let bytes = BytesMut::from(&flying.bytes[..]);
        let always = if bytes.first() == Some(&(Kind::Data as u8)) { OPENED } else { KEYED };
        if flying.to == RECEIVER {
            if !self.is_senders(&flying.from) {
                self.victims.entry(flying.from).or_default().1 += stride + 28;
            }
            let tuple = FourTuple::new(LinkId(0), RECEIVER, flying.from);
            bounded(stride, always, || self.ends[0].receive(self.now, tuple, bytes, stride));
        } else {
            let places = self.outside.iter().enumerate();
            let at = places.flat_map(|(s, own)| own.iter().enumerate().map(move |(n, o)| (s, n, *o)));
            let Some((sender, n, _)) = at.into_iter().find(|(.., outside)| *outside == flying.to) else {
                return;
            };
            let tuple = FourTuple::new(LinkId(n as u32), address(100, n as u8, 4000), flying.from);
            bounded(stride, always, || self.ends[1 + sender].receive(self.now, tuple, bytes, stride));
        }
        self.pump();
    }

    /// Returns whether an address is or was an address of a sender.
    fn is_senders(&self, address: &SocketAddr) -> bool {
        matches!(address.ip(), IpAddr::V4(ip) if ip.octets()[1] < 100)
    }

    /// Reads the output and the events of all endpoints.
    fn pump(&mut self) {
        for n in 0..3 {
            let mut buf = Vec::new();
            while let Some(transmit) = self.ends[n].poll_output(self.now, &mut buf) {
                for bytes in buf.chunks(transmit.segment_size) {
                    self.leave(n, &transmit.tuple, bytes);
                }
                buf.clear();
            }
            while let Some((id, event)) = self.ends[n].poll_event() {
                if n > 0 && matches!(event, Event::Connected { .. }) && self.apps[n - 1].id == Some(id) {
                    self.apps[n - 1].connected = true;
                }
                if n == 0 {
                    self.received.entry(id).or_default();
                }
            }
            while self.ends[n].poll_seal_event().is_some() {}
        }
        self.read();
    }

    fn leave(&mut self, n: usize, tuple: &FourTuple, bytes: &[u8]) {
        let from = match n {
            0 => RECEIVER,
            _ => self.outside[n - 1][tuple.link.0 as usize % UPLINKS],
        };
        let flying = Flying { from, to: tuple.remote, bytes: bytes.to_vec() };
        if n == 0 && !self.is_senders(&flying.to) {
            self.victims.entry(flying.to).or_default().0 += bytes.len() + 28;
        }
        if self.recorded.len() == RECORDED {
            self.recorded.pop_front();
        }
        self.recorded.push_back(flying.clone());
        if self.flying.len() < FLYING {
            self.flying.push_back(flying);
        }
    }

    /// Reads the received data, and compares them with the sent data.
    fn read(&mut self) {
        for (id, read) in &mut self.received {
            let peer = self.ends[0].peer(*id);
            let sender = self.keys.iter().position(|key| Some(*key) == peer);
            while let Some(message) = self.ends[0].endpoint_mut().recv(*id) {
                let Some(sender) = sender else { continue };
                for received in message.payload.iter() {
                    assert_eq!(*received, byte(sender, *read), "byte {read} of {id:?}");
                    *read += 1;
                }
            }
        }
    }

    fn check(&self) {
        for (victim, (out, came)) in &self.victims {
            assert!(*out <= 3 * came, "{out} bytes to {victim} for {came}");
        }
        let sessions = self.ends[0].seal_stats().map_or(0, |stats| stats.sessions);
        assert!(sessions <= self.begun.min(8), "{sessions} sessions, {} begun", self.begun);
    }
}
