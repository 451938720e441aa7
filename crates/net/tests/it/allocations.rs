//! No allocation per packet in steady state: sockets allocate nothing at all, drivers, seals and presets only
//! occasionally.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use strandcast_net::driver::{Client, ClientSeal, SealHooks, Server, ServerSeal, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_net::pool::RecvPool;
use strandcast_net::socket::{BindSpec, PathSocket, SendOutcome, Transmit};
use strandcast_proto::app::App;
use strandcast_proto::association::{Event, SendError, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_schemes::{Spec, parse_spec, presets};
use strandcast_seal::{Access, Grant, Peer, SecretKey, Token};
use tokio::sync::watch;

/// Messages before the count, and during it.
const MESSAGES: u64 = 10_000;
/// Allocations per packet, which timers, interfaces and growing buffers cause.
const MOST: f64 = 0.05;
/// Allocations per message that is assembled from symbols: each message has separate memory, each block of 16
/// has some, and a window may contain messages that are assembled during the count and read after it.
const MOST_CODED: f64 = 1.4;
/// Number of times that an exchange is counted; the lowest count is used. Messages that wait for a gap are
/// copied, and a busy machine occasionally delays one path; allocations per packet occur every time.
const TRIES: usize = 5;

fn loopback() -> PathSocket {
    let address = Some("127.0.0.1".parse().expect("an address"));
    PathSocket::bind(&BindSpec { address, ..BindSpec::default() }).expect("loopback")
}

#[test]
fn sending_and_receiving_allocate_nothing_in_steady_state() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let enter = runtime.enter();
    let (a, b, mut pool) = (loopback(), loopback(), RecvPool::new());
    drop(enter);
    let contents = vec![7; 20 * 1400];
    let mut exchange = |batches: usize| {
        for _ in 0..batches {
            let batch =
                Transmit { remote: b.local_addr(), src_ip: None, segment_size: 1400, contents: &contents };
            assert!(matches!(a.try_send(&batch), SendOutcome::Sent));
            runtime.block_on(async {
                let mut datagrams = 0;
                while datagrams < 20 {
                    b.readable().await.expect("the runtime runs");
                    if let Some(received) = b.try_recv(&mut pool).expect("the socket lives") {
                        datagrams += received.datagrams().inspect(|d| assert_eq!(d.len(), 1400)).count();
                    }
                }
            });
        }
    };
    exchange(100);
    let counted = allocation_counter::measure(|| exchange(500));
    assert_eq!(counted.count_total, 0, "{counted:?} for 10,000 datagrams");
}

/// Sends messages until the endpoint is full.
struct Sender {
    id: AssociationId,
    payload: Bytes,
    options: SendOptions,
    full: bool,
    packets: Arc<AtomicU64>,
}

impl App for Sender {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, _: AssociationId, event: &Event) {
        assert!(!matches!(event, Event::Closed(_)), "{event:?}");
        self.full &= *event != Event::Writable;
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        while !self.full {
            match endpoint.send(now, self.id, self.payload.clone(), self.options) {
                Ok(_) => {}
                Err(SendError::Full) => self.full = true,
                Err(e) => panic!("{e}"),
            }
        }
        self.packets.store(packets(endpoint, self.id), Ordering::Relaxed);
    }
}

/// Number of packets sent.
fn packets(endpoint: &Endpoint, id: AssociationId) -> u64 {
    let Some(association) = endpoint.association(id) else { return 0 };
    association.paths().iter().filter_map(|p| association.path_stats(p.id)).map(|s| s.packets_sent).sum()
}

/// Counts arriving messages.
struct Counter {
    readable: Vec<AssociationId>,
    messages: watch::Sender<u64>,
    packets: Arc<AtomicU64>,
}

impl App for Counter {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        if *event == Event::Readable {
            self.readable.push(id);
        }
    }

    fn poll(&mut self, _: Instant, endpoint: &mut Endpoint) {
        for id in self.readable.drain(..) {
            let messages = std::iter::from_fn(|| endpoint.recv(id)).count() as u64;
            self.packets.store(packets(endpoint, id), Ordering::Relaxed);
            self.messages.send_modify(|all| *all += messages);
        }
    }
}

fn endpoint(spec: &Spec) -> EndpointConfig {
    let mut transport = TransportConfig { mtu_discovery: None, ..TransportConfig::live() };
    spec.tune(&mut transport);
    let spec = spec.clone();
    let accept = Arc::new(move |seeds: &Seeds| spec.build(seeds));
    EndpointConfig { transport: Arc::new(transport), accept: Some(accept), ..EndpointConfig::default() }
}

/// A running transfer.
struct Transfer {
    /// Number of messages that arrived.
    arrived: watch::Receiver<u64>,
    /// Number of packets sent by each end.
    packets: [Arc<AtomicU64>; 2],
}

/// Starts both ends of a transfer over two paths on loopback.
fn start(spec: &Spec, sealed: bool, options: SendOptions) -> Transfer {
    let identities = [1, 2].map(|n| SecretKey::from_bytes([n; 32]));
    let token = Token::from_bytes([3; 32]);
    let peer = Peer { key: identities[1].public(), token: token.clone() };
    let grant = Grant { token, senders: BTreeSet::new(), open: true, once: false };
    let access = Access { grants: vec![grant], revoked: BTreeSet::new() };
    let [ours, theirs] = identities;
    let hooks = SealHooks::default;
    let seal = sealed.then(|| ServerSeal { identity: theirs, access, max_sessions: None, hooks: hooks() });
    let listen = vec!["127.0.0.1:0".parse().expect("an address")];
    let (messages, arrived) = watch::channel(0);
    let counts: [Arc<AtomicU64>; 2] = Default::default();
    let [sent, answered] = counts.clone();
    let server = Server { endpoint: endpoint(spec), listen, seal, tap: None };
    let counter = Counter { readable: Vec::new(), messages, packets: answered };
    let (server, _) = server.run(counter).expect("loopback");
    let to = server.local_addrs()[0];
    let seal = sealed.then(|| ClientSeal { identity: ours, peer, hooks: hooks() });
    let path = PathSpec::address(to.ip());
    let uplinks = vec![Uplink::new(path, &[to]); 2];
    let scheme = spec.build(&Seeds::new(1, 0));
    let client = Client { endpoint: endpoint(spec), uplinks, port: 5000, scheme, seal, tap: None };
    let payload = Bytes::from_static(&[7; 1200]);
    client.run(|id| Sender { id, payload, options, full: false, packets: sent }).expect("loopback");
    Transfer { arrived, packets: counts }
}

/// Allocations of both ends in steady state per packet, including packets with messages, acknowledgements and
/// probes; per message if the scheme codes. Returns the first count of [`TRIES`] that is at most `most`, or
/// the lowest one. Each try has a new association: on a busy machine a path may lag for the lifetime of an
/// association, and messages that wait for it are copied.
fn allocations(spec: &Spec, sealed: bool, most: f64, options: SendOptions) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..TRIES {
        least = least.min(count(spec, sealed, options));
        if least <= most {
            break;
        }
    }
    least
}

fn count(spec: &Spec, sealed: bool, options: SendOptions) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let Transfer { mut arrived, packets } = {
        let _guard = runtime.enter();
        start(spec, sealed, options)
    };
    let mut exchange = |messages: u64| {
        let begun = *arrived.borrow();
        runtime.block_on(arrived.wait_for(|all| *all >= begun + messages)).expect("the receiver runs");
    };
    let left = || packets.iter().map(|of_end| of_end.load(Ordering::Relaxed)).sum::<u64>();
    exchange(MESSAGES);
    let before = left();
    let counted = allocation_counter::measure(|| exchange(MESSAGES));
    let packets = left() - before;
    assert!(packets > MESSAGES / 2, "{packets} packets for {MESSAGES} messages");
    let per = if codes(spec) { MESSAGES } else { packets };
    counted.count_total as f64 / per as f64
}

/// Returns whether messages are assembled from symbols.
fn codes(spec: &Spec) -> bool {
    endpoint(spec).transport.coding.is_some()
}

#[test]
fn no_preset_allocates_for_each_packet() {
    let mut over = Vec::new();
    for preset in presets() {
        let spec = parse_spec(preset.name).expect("a preset");
        let most = if codes(&spec) { MOST_CODED } else { MOST };
        let counts = [false, true].map(|sealed| allocations(&spec, sealed, most, SendOptions::default()));
        println!("{}: {:.4} plain, {:.4} sealed", preset.name, counts[0], counts[1]);
        if counts.iter().any(|n| *n > most) {
            over.push((preset.name, counts));
        }
    }
    assert!(over.is_empty(), "allocations per packet (coded: per message), plain and sealed: {over:?}");
}

/// Schemes for live video examine only messages with a lifetime, and none expires here.
#[test]
fn messages_with_lifetimes_allocate_no_more() {
    let options = SendOptions { lifetime: Some(Duration::from_secs(10)), ..SendOptions::default() };
    for preset in ["cmt", "bond", "strand"] {
        let spec = parse_spec(preset).expect("a preset");
        let count = allocations(&spec, false, MOST, options);
        println!("{preset}: {count:.4}");
        assert!(count <= MOST, "{preset}: {count} allocations per packet");
    }
}
