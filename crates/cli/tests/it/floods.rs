//! Floods against a real `receive` with keys while it plays a stream: the stream continues, another sender connects,
//! and memory stays.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use nix::sys::signal::Signal;
use strandcast_proto::endpoint::{Connect, EndpointConfig};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_seal::{Access, Peer, SealConfig, SealedEndpoint, SecretKey};

use crate::common::home::Home;
use crate::common::scene::{LATENCY, Scene, as_it_is};
use crate::common::wire::Direction;
use crate::common::{pairing, seconds};

/// Datagrams per second of senders without keys.
const RATE: u32 = 20_000;
/// Handshakes per second of senders with a token.
const INSIDERS: u32 = 2000;
/// Interval of a flood's datagrams.
const TICK: Duration = Duration::from_millis(2);
/// A flood that reached less has shown nothing: of senders without keys a quarter of what was meant; of insiders twice what
/// makes a receiver ask for cookies.
const LEAST: u32 = RATE / 4;
const MIN_INSIDERS: u32 = 200;
/// Minimum duration of a flood.
const SHORTEST: Duration = Duration::from_secs(5);
/// Maximum time in which another sender connects.
const CONNECTS: Duration = Duration::from_secs(3);
/// Maximum growth of a receiver's memory in bytes: the arenas of received datagrams (8 MiB, docs/architecture.md),
/// which any 32 datagrams of the largest size fill, and another stream's buffers. Tables of handshakes have a fixed
/// size.
const GROWTH: u64 = 12 << 20;
/// Bytes of IP and UDP header of each datagram.
const HEADERS: u64 = 28;

/// Datagrams and bytes that a flood sent and received. Bytes include IP and UDP headers.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    datagrams: u32,
    sent: u64,
    answered: u64,
}

/// A flood that runs until it is ended.
struct Flood {
    over: Arc<AtomicBool>,
    begun: Instant,
    thread: JoinHandle<Tally>,
}

impl Flood {
    /// Calls `tick` once per [`TICK`] with how many datagrams are due in all.
    fn start(rate: u32, mut tick: impl FnMut(u32, &mut Tally) + Send + 'static) -> Flood {
        let (over, begun) = (Arc::<AtomicBool>::default(), Instant::now());
        let ends = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut tally = Tally::default();
            while !ends.load(Ordering::Relaxed) {
                tick((begun.elapsed().as_secs_f64() * f64::from(rate)) as u32, &mut tally);
                std::thread::sleep(TICK);
            }
            tally
        });
        Flood { over, begun, thread }
    }

    /// Sends these datagrams in turn to a port, each from the next address.
    fn of(port: u16, datagrams: Vec<Vec<u8>>) -> Flood {
        let sources = Sources::bind(64, port);
        let mut next = 0;
        Flood::start(RATE, move |due, tally| {
            // Datagrams that are late by more than a tick are left out: a flood does not arrive in bursts of its own
            // making.
            next = due.saturating_sub(RATE / 50).max(next);
            while next < due {
                let datagram = &datagrams[next as usize % datagrams.len()];
                sources.send(next as usize, datagram, tally);
                next += 1;
            }
            sources.hear(tally, |_, _| ());
        })
    }

    /// Ends it.
    fn end(self) -> (Tally, Duration) {
        self.over.store(true, Ordering::Relaxed);
        (self.thread.join().unwrap(), self.begun.elapsed())
    }
}

/// Sockets on different networks, connected to a port.
struct Sources(Vec<UdpSocket>);

impl Sources {
    fn bind(networks: u8, port: u16) -> Sources {
        let bind = |n: u8| {
            let socket = UdpSocket::bind((format!("127.9.{n}.1"), 0)).unwrap();
            socket.connect(("127.0.0.1", port)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        Sources((0..networks).map(bind).collect())
    }

    fn send(&self, from: usize, datagram: &[u8], tally: &mut Tally) {
        if self.0[from % self.0.len()].send(datagram).is_ok() {
            tally.datagrams += 1;
            tally.sent += datagram.len() as u64 + HEADERS;
        }
    }

    /// Takes what came.
    fn hear(&self, tally: &mut Tally, mut answered: impl FnMut(usize, &[u8])) {
        let mut buffer = [0; 2048];
        for (n, socket) in self.0.iter().enumerate() {
            while let Ok(len) = socket.recv(&mut buffer) {
                tally.answered += len as u64 + HEADERS;
                answered(n, &buffer[..len]);
            }
        }
    }
}

/// One flood at a time: two would share a machine's processors with each other.
static ALONE: Mutex<()> = Mutex::new(());

/// A receiver that plays a stream withstands a flood: given a scene, `flood` starts it.
fn withstands(name: &str, least: u32, flood: impl FnOnce(&Scene) -> Flood) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let scene = Scene::listening(name, "", as_it_is);
    let guest = Home::new(&format!("{name}-guest"));
    guest.reads("key add studio", &scene.studio.pairing(&scene.receiver_at().to_string(), "")).succeeds();
    let key = guest.run("key show --json").json()["fingerprint"].as_str().unwrap().to_owned();
    let (long, short) = (seconds(7, &format!("{name}-long.ts")), seconds(3, &format!("{name}-short.ts")));
    let sender = scene.van.start(&format!("send {} @studio --latency {LATENCY} --json", long.0.display()));
    scene.receiver.until("data", || scene.played() > 20_000);
    let before = scene.receiver.resident();
    let flood = flood(&scene);
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    let guest =
        guest.start(&format!("send {} @studio --latency {LATENCY} --retry 30 --json", short.0.display()));
    scene.receiver.says(&format!("new sender {key}"));
    let took = asked.elapsed();
    // It is received when the first stream is over.
    guest.says("already receiving from another sender");
    let (sender, guest) = (sender.end(), guest.end());
    let grown = scene.receiver.resident().saturating_sub(before);
    let (tally, lasted) = flood.end();
    sender.succeeds();
    guest.succeeds();
    assert_eq!(sender.json()["reconnects"], 0, "{sender:?}");
    scene
        .receiver
        .until("both ends", || scene.receiver.said().matches("every byte as it was sent").count() == 2);
    assert!(std::fs::read(scene.out()).unwrap() == [long.1, short.1].concat());
    scene.receiver.signal(Signal::SIGTERM);
    scene.receiver.end().succeeds();
    let reached = f64::from(tally.datagrams) / lasted.as_secs_f64();
    println!("{name}: {reached:.0} per second, {tally:?}, {grown} bytes grown, connected after {took:?}");
    assert!(lasted >= SHORTEST && reached > f64::from(least), "{reached} per second for {lasted:?}");
    assert!(took < CONNECTS, "it took {took:?}");
    assert!(tally.answered <= 3 * tally.sent, "{tally:?}");
    assert!(grown < GROWTH, "{grown} bytes");
}

/// The first message that passed, and all datagrams to the receiver until now.
fn recorded(scene: &Scene) -> (Vec<u8>, Vec<Vec<u8>>) {
    let all =
        scene.wire.recorded().into_iter().filter(|r| r.direction == Direction::ToReceiver).map(|r| r.bytes);
    let all: Vec<Vec<u8>> = all.collect();
    assert_eq!((all[0][0], all[0].len()), (2, 1200), "message 1 (ADR 17)");
    (all[0].clone(), all)
}

/// Noise of any length and type, and first messages with an unknown token or a wrong MAC.
#[test]
fn garbage_and_forged_first_messages() {
    withstands("garbage", LEAST, |scene| {
        let (first, _) = recorded(scene);
        let garbage =
            |n: usize| (0..n * 5).map(|i| (if i == 0 { n } else { i * i * (n + 7) }) as u8).collect();
        let unknown = |n: usize| {
            let mut other = first.clone();
            (other[12], other[13]) = (other[12] ^ n as u8, other[13] ^ 1);
            other
        };
        let forged = |n: usize| {
            let mut other = first.clone();
            *other.last_mut().unwrap() ^= (n % 255 + 1) as u8;
            other
        };
        Flood::of(scene.port, (0..256).flat_map(|n| [garbage(n), unknown(n), forged(n)]).collect())
    });
}

/// The running stream's own first message, and all its datagrams.
#[test]
fn recorded_messages() {
    withstands("recorded", LEAST, |scene| {
        let (first, all) = recorded(scene);
        Flood::of(scene.port, all.into_iter().flat_map(|datagram| [first.clone(), datagram]).collect())
    });
}

/// Senders with a valid token, from 250 networks, which send the requested cookies. Every other one continues and opens
/// a session and an association.
#[test]
fn handshakes_of_insiders() {
    withstands("insiders", MIN_INSIDERS, |scene| {
        let peer = pairing::peer(&scene.studio.pairing(&scene.receiver_at().to_string(), ""));
        let (mut insiders, sources) =
            (Insiders::new(peer, scene.receiver_at()), Sources::bind(250, scene.port));
        Flood::start(INSIDERS, move |due, tally| {
            insiders.next = due.saturating_sub(INSIDERS / 10).max(insiders.next);
            while insiders.next < due {
                insiders.begin(&sources, tally);
            }
            insiders.answer(&sources, tally);
        })
    });
}

/// The side that connects, for many associations. Its timers never run: an insider says everything once.
struct Insiders {
    peer: Peer,
    to: SocketAddr,
    begun: Instant,
    next: u32,
    /// Endpoints of this second and of the second before it, each with a key of its own.
    ends: BTreeMap<u32, SealedEndpoint>,
}

impl Insiders {
    fn new(peer: Peer, to: SocketAddr) -> Insiders {
        Insiders { peer, to, begun: Instant::now(), next: 0, ends: BTreeMap::new() }
    }

    fn now(&self) -> strandcast_proto::time::Instant {
        strandcast_proto::time::Instant::ZERO + self.begun.elapsed()
    }

    /// The next handshake, from the next source.
    fn begin(&mut self, sources: &Sources, tally: &mut Tally) {
        let (now, n) = (self.now(), self.next);
        self.next += 1;
        let second = n / INSIDERS;
        self.ends.retain(|&of, _| of + 1 >= second);
        self.ends.entry(second).or_insert_with(|| {
            let seeds = Seeds::new(u64::from(second), 17);
            let identity = SecretKey::generate(&mut seeds.stream("insider"));
            let config =
                EndpointConfig { port: 5000, max_associations: 1 << 20, ..EndpointConfig::default() };
            SealedEndpoint::new(config, Some(SealConfig::new(identity, Access::default())), &seeds)
        });
        let tuple = self.tuple(n as usize % sources.0.len());
        let scheme = Box::new(rfc::scheme());
        let connect = Connect { paths: vec![(tuple, None)], port: 5000, scheme, transport: None };
        let end = self.ends.get_mut(&second).expect("there is one for each second");
        end.connect(now, connect, Some(self.peer.clone())).unwrap();
        flush(end, now, sources, tally);
    }

    /// The 4-tuple of a source.
    fn tuple(&self, source: usize) -> FourTuple {
        let local = SocketAddr::from(([127, 9, source as u8, 1], 1));
        FourTuple::new(LinkId(source as u32), local, self.to)
    }

    /// Answers what came.
    fn answer(&mut self, sources: &Sources, tally: &mut Tally) {
        let (now, mut came) = (self.now(), Vec::new());
        sources.hear(tally, |source, bytes| came.push((source, BytesMut::from(bytes))));
        for (source, bytes) in came {
            let tuple = self.tuple(source);
            for end in self.ends.values_mut() {
                end.receive(now, tuple, bytes.clone(), bytes.len());
                flush(end, now, sources, tally);
            }
        }
    }
}

/// Sends what one side has to say: with every other session nothing but its handshake.
fn flush(
    end: &mut SealedEndpoint,
    now: strandcast_proto::time::Instant,
    sources: &Sources,
    tally: &mut Tally,
) {
    let mut buffer = Vec::new();
    while let Some(transmit) = end.poll_output(now, &mut buffer) {
        let tuple = transmit.tuple;
        for datagram in buffer.chunks(transmit.segment_size.max(1)) {
            if datagram[0] != 1 || tuple.sealed.0 % 2 == 0 {
                sources.send(tuple.link.0 as usize, datagram, tally);
            }
        }
        buffer.clear();
    }
    while end.poll_event().is_some() || end.poll_seal_event().is_some() {}
}
