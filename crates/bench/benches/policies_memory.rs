//! One bulk transfer in memory over four paths, for counting instructions. `python3 -m bench instructions` runs it
//! under callgrind, with and without shadows of a scheme.
//!
//! `policies NETWORK SPEC SHADOWS` prints the number of DATA chunks sent, and a digest of the times, paths and lengths
//! of all datagrams. NETWORK is `lossy` or `clean`. `lossy` has the paths of the simulator's benchmark. `clean` has no
//! loss and no rate, and delivers all data that were sent at one time in one piece, as loopback does.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{SendOptions, Transmit};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, PathId};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_schemes::{Spec, parse_spec};
use strandcast_testing::recording::shadows::Shadowed;

/// Number of bytes of a message that fits a packet of 1400 bytes with the headers of any scheme.
const MESSAGE: usize = 1300;
/// Maximum number of packets that wait for a link.
const QUEUE: u32 = 60;
/// Properties of each path: (rate in Mbit/s, one-way delay in ms, loss).
const PATHS: [(u32, u64, f64); 4] = [(20, 10, 0.002), (12, 25, 0.005), (8, 40, 0.01), (4, 60, 0.02)];

/// One direction of a path: rate, tail drop, uniform loss, and delay.
struct Link {
    /// Rate in bits per second. `None` means that packets never wait.
    rate: Option<u32>,
    delay: Duration,
    loss: f64,
    free_at: Instant,
}

impl Link {
    /// Returns the time at which a packet that enters now leaves at the other end. Returns `None` if it is lost.
    fn carry(&mut self, now: Instant, bytes: usize, random: &mut Random) -> Option<Instant> {
        let Some(rate) = self.rate else { return Some(now + self.delay) };
        let takes = Duration::from_nanos(bytes as u64 * 8 * 1_000_000_000 / u64::from(rate));
        let begins = self.free_at.max(now);
        if begins - now > takes * QUEUE || random.chance(self.loss) {
            return None;
        }
        self.free_at = begins + takes;
        Some(self.free_at + self.delay)
    }
}

struct Flying {
    to: usize,
    tuple: FourTuple,
    data: Vec<u8>,
    segment_size: usize,
}

/// A client, a server, and the two directions of each path.
struct Net {
    now: Instant,
    ends: [Endpoint; 2],
    ids: [Option<AssociationId>; 2],
    links: Vec<[Link; 2]>,
    flying: BTreeMap<(Instant, u64), Flying>,
    sequence: u64,
    random: Random,
    payload: Bytes,
    buf: Vec<u8>,
    clean: bool,
    digest: u64,
}

fn address(end: usize, path: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, end as u8, path as u8, 1)), 9899)
}

/// Returns the 4-tuple of path `path` at the end `end`. The server has one address.
fn tuple(end: usize, path: usize) -> FourTuple {
    let (client, server) = (address(0, path), address(1, 0));
    let (local, remote) = if end == 0 { (client, server) } else { (server, client) };
    FourTuple::new(LinkId(if end == 0 { path as u32 } else { 0 }), local, remote)
}

impl Net {
    fn new(spec: &Spec, shadows: usize, clean: bool) -> Self {
        let seeds = Seeds::new(1, 0);
        let mut transport =
            TransportConfig { receive_buffer: 4 << 20, send_buffer: 4 << 20, ..TransportConfig::default() };
        spec.tune(&mut transport);
        let transport = Arc::new(transport);
        let accepted = spec.clone();
        let client = EndpointConfig { transport: Arc::clone(&transport), ..EndpointConfig::default() };
        let accept = Arc::new(move |s: &Seeds| Shadowed::boxed(|| accepted.build(s), shadows));
        let server = EndpointConfig { transport, accept: Some(accept), ..EndpointConfig::default() };
        let link = |loss, &(mbps, ms, _): &(u32, u64, f64)| Link {
            rate: (!clean).then_some(mbps * 1_000_000),
            delay: if clean { Duration::from_micros(50) } else { Duration::from_millis(ms) },
            loss,
            free_at: Instant::ZERO,
        };
        let now = Instant::from_millis(1000);
        let mut ends =
            [Endpoint::new(client, &seeds.child("client")), Endpoint::new(server, &seeds.child("server"))];
        let scheme = Shadowed::boxed(|| spec.build(&seeds.child("scheme")), shadows);
        let paths = (0..PATHS.len()).map(|p| (tuple(0, p), None)).collect();
        let id = ends[0].connect(now, Connect { paths, port: 5000, scheme, transport: None });
        Net {
            now,
            ends,
            ids: [Some(id.expect("a free endpoint")), None],
            links: PATHS.iter().map(|p| [link(p.2, p), link(0.0, p)]).collect(),
            flying: BTreeMap::new(),
            sequence: 0,
            random: seeds.stream("losses"),
            payload: Bytes::from(vec![7; MESSAGE]),
            buf: Vec::new(),
            clean,
            digest: 0xcbf2_9ce4_8422_2325,
        }
    }

    fn launch(&mut self, from: usize, sent: &Transmit) {
        let client = if from == 0 { sent.tuple.local } else { sent.tuple.remote };
        let path = (0..PATHS.len()).find(|p| address(0, *p) == client).expect("a path of these");
        let piece = if self.clean { self.buf.len() } else { sent.segment_size };
        for data in self.buf.chunks(piece) {
            for word in [self.now.as_nanos(), (2 * path + from) as u64, data.len() as u64] {
                self.digest = (self.digest ^ word).wrapping_mul(0x100_0000_01b3);
            }
            let link = &mut self.links[path][from];
            let Some(at) = link.carry(self.now, data.len(), &mut self.random) else { continue };
            self.sequence += 1;
            let (to, tuple) = (1 - from, tuple(1 - from, path));
            let flying = Flying { to, tuple, data: data.to_vec(), segment_size: sent.segment_size };
            self.flying.insert((at, self.sequence), flying);
        }
        self.buf.clear();
    }

    /// Runs the applications, and sends all pending output of the endpoints.
    fn pump(&mut self) {
        for end in 0..2 {
            while let Some((id, _)) = self.ends[end].poll_event() {
                self.ids[end] = Some(id);
            }
            if let Some(id) = self.ids[end] {
                let (now, it) = (self.now, &mut self.ends[end]);
                while it.recv(id).is_some() {}
                while end == 0 && it.send(now, id, self.payload.clone(), SendOptions::default()).is_ok() {}
            }
            while let Some(sent) = self.ends[end].poll_output(self.now, &mut self.buf) {
                self.launch(end, &sent);
            }
        }
    }

    /// Runs until `end`, or until `most` DATA chunks were sent.
    fn run(&mut self, end: Instant, most: u64) -> u64 {
        self.pump();
        loop {
            let arrival = self.flying.first_key_value().map(|(key, _)| key.0);
            let timers = self.ends.each_ref().map(Endpoint::poll_timeout);
            let next = arrival.into_iter().chain(timers.into_iter().flatten()).min().expect("a timer runs");
            if next > end || self.sent() >= most {
                return self.sent();
            }
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, f) = self.flying.pop_first().expect("it arrives");
                let (data, segment_size) = (Bytes::from(f.data), f.segment_size);
                self.ends[f.to]
                    .handle_input(self.now, Input::Datagrams { tuple: f.tuple, data, segment_size });
            } else {
                self.ends.iter_mut().for_each(|e| e.handle_timeout(self.now));
            }
            self.pump();
        }
    }

    fn sent(&self) -> u64 {
        let association = self.ids[0].and_then(|id| self.ends[0].association(id)).expect("open");
        let of = |path| association.path_stats(PathId(path)).map_or(0, |s| s.chunks_sent);
        (0..PATHS.len() as u8).map(of).sum()
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (network, spec, shadows) = match &words[..] {
        // `cargo bench` and `cargo test --benches` have nothing to say: one short run shows that it works.
        [] => ("lossy", "sctp", 1),
        [network, spec, shadows] => (network.as_str(), spec.as_str(), shadows.parse().expect("a number")),
        _ => panic!("policies lossy|clean SPEC SHADOWS"),
    };
    let spec = parse_spec(spec).unwrap_or_else(|e| panic!("{e}"));
    let clean = network == "clean";
    let mut net = Net::new(&spec, shadows, clean);
    let sent = net.run(Instant::from_millis(21_000), 20_000);
    println!("{sent} {:016x}", net.digest);
}
