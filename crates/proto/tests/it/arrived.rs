//! Arrivals by each path, by the receiver's clock (REPORT items ARRIVED REQUEST and ARRIVED), which only schemes that
//! need arrivals request.

use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::policy::{
    Feedback, Parts, PathArrivals, PathId, PathSet, PeerArrivals, Policy, Scheme, Signal, View,
};
use strandcast_proto::time::Instant;
use strandcast_proto::wire::{Chunk, Packet};
use strandcast_testing::endpoints::{CLIENT, P0, P1, SERVER, TestPair, config, ms, pattern};
use strandcast_testing::plain::{parts, simple};

/// Received reports and their times.
type Received = Arc<Mutex<Vec<(Instant, PeerArrivals)>>>;
/// Requested return paths.
type ReturnPaths = Arc<Mutex<PathSet>>;

/// A scheme that receives arrivals and records them.
#[derive(Debug, Default)]
struct Hears {
    reports: Received,
    return_paths: ReturnPaths,
}

impl Policy for Hears {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if let Signal::PeerArrivals(arrivals) = signal {
            self.reports.lock().unwrap().push((view.now, (*arrivals).clone()));
        }
    }

    fn hears_arrivals(&self) -> bool {
        true
    }
}

impl Feedback for Hears {
    fn return_paths(&mut self, _: &View<'_>) -> PathSet {
        *self.return_paths.lock().unwrap()
    }
}

fn hearing() -> (Box<dyn Scheme>, Received, ReturnPaths) {
    let hears = Hears::default();
    let (reports, return_paths) = (Arc::clone(&hears.reports), Arc::clone(&hears.return_paths));
    (Box::new(Parts { feedback: Box::new(hears), ..parts(48_000) }), reports, return_paths)
}

/// A connected pair whose client receives arrivals.
fn pair(delays_ms: &[u64], transports: [TransportConfig; 2]) -> (TestPair, Received, ReturnPaths) {
    let factory: SchemeFactory = Arc::new(|_| simple());
    let mut pair = TestPair::with(delays_ms, transports, factory, 1);
    let (scheme, reports, return_paths) = hearing();
    pair.connect_with(scheme);
    pair.run(ms(3000));
    (pair, reports, return_paths)
}

/// Sends `messages` of 1000 bytes, one every 10 ms.
fn stream(pair: &mut TestPair, messages: usize) {
    for n in 0..messages {
        pair.send(CLIENT, pattern(n * 1000, 1000), SendOptions::default());
        pair.run(ms(10));
    }
}

fn of(arrivals: &PeerArrivals, path: PathId) -> Option<PathArrivals> {
    arrivals.paths.iter().copied().find(|p| p.path == path)
}

fn last(reports: &Received) -> PeerArrivals {
    reports.lock().unwrap().last().expect("a report came").1.clone()
}

/// Chunks of REPORT items of these kinds that leave from now on, by sender.
fn count_items(pair: &mut TestPair, kinds: &'static [u16]) -> Arc<Mutex<[usize; 2]>> {
    let counts = Arc::new(Mutex::new([0; 2]));
    let theirs = Arc::clone(&counts);
    pair.filter = Box::new(move |_, from, _, bytes| {
        let packet = Packet::parse(bytes.to_vec().into()).expect("a packet");
        for (_, chunk) in packet.chunks().flatten() {
            if let Chunk::Report(report) = chunk {
                let named = report.items.iter().filter(|i| kinds.contains(&i.kind)).count();
                theirs.lock().unwrap()[from] += named;
            }
        }
        true
    });
    counts
}

/// Both paths share both clocks: their values differ by the difference of their delays, to the microsecond.
#[test]
fn delays_of_paths_differ_by_exactly_what_they_differ() {
    for transport in [config(), TransportConfig { strict_rfc: true, ..config() }] {
        let (mut pair, reports, _) = pair(&[10, 57], [transport.clone(), transport]);
        reports.lock().unwrap().clear();
        stream(&mut pair, 100);
        pair.run(ms(500));
        let reports = reports.lock().unwrap();
        let ahead = |path| {
            let known = reports.iter().filter_map(|(_, a)| of(a, path));
            let ahead: Vec<i64> = known.filter_map(|p| Some(p.at.ahead_of(p.sent?))).collect();
            assert!(ahead.len() >= 20, "{} of {path:?}", ahead.len());
            (*ahead.iter().min().unwrap(), *ahead.iter().max().unwrap())
        };
        let (quick, slow) = (ahead(P0), ahead(P1));
        assert_eq!((quick.0, slow.0), (quick.1, slow.1), "no jitter");
        assert_eq!(slow.0 - quick.0, 47_000);
        let mut newest = reports[0].1.written;
        let mut overtaken = 0;
        for (_, report) in &reports[1..] {
            if report.written > newest {
                assert!(!report.paths.is_empty());
            } else if report.written < newest {
                assert!(report.paths.is_empty(), "it came by the slower way, and says that this works");
                overtaken += 1;
            }
            newest = newest.max(report.written);
        }
        assert!(overtaken > 0);
    }
}

#[test]
fn packets_and_bytes_are_those_that_arrived() {
    let (mut pair, reports, _) = pair(&[10, 20], [config(), config()]);
    pair.wires[1].loss = 0.3;
    stream(&mut pair, 300);
    pair.wires[1].loss = 0.0;
    pair.run(ms(3000));
    let arrivals = last(&reports);
    let mut received = 0;
    for path in [P0, P1] {
        let (said, stats) =
            (of(&arrivals, path).unwrap(), pair.association(SERVER).path_stats(path).unwrap());
        assert!(said.bytes >= stats.payload_received + 28 * said.packets, "{said:?} {stats:?}");
        assert!(said.bytes <= stats.bytes_received && said.packets <= stats.packets_received);
        received += stats.payload_received;
    }
    assert!(received >= 300_000);
}

/// A path that falls silent in the forward direction is detected within the other path's delay: its last arrival does
/// not change.
#[test]
fn what_falls_silent_is_told_by_the_path_that_works() {
    let (mut pair, reports, _) = pair(&[20, 30], [config(), config()]);
    stream(&mut pair, 50);
    let before = last(&reports);
    pair.wires[0].up = [false; 2];
    reports.lock().unwrap().clear();
    stream(&mut pair, 20);
    let first = reports.lock().unwrap()[2].clone();
    let now = last(&reports);
    assert!(now.written.since(of(&now, P0).unwrap().at) > ms(100), "{now:?}");
    assert!(of(&now, P0).unwrap().packets <= of(&before, P0).unwrap().packets + 2);
    assert_eq!(of(&now, P0).unwrap().sent, of(&first.1, P0).unwrap().sent, "it stays known when that left");
    assert!(of(&now, P1).unwrap().at > of(&before, P1).unwrap().at);
}

#[test]
fn while_nothing_is_sent_answers_to_heartbeats_say_so() {
    let (mut pair, reports, _) = pair(&[20, 30], [config(), config()]);
    stream(&mut pair, 10);
    pair.run(ms(1000));
    let before = last(&reports);
    pair.run(ms(60_000));
    let after = last(&reports);
    assert!(after.written > before.written && after.paths == before.paths, "{before:?} {after:?}");
}

#[test]
fn sacks_come_back_by_the_ways_that_were_named() {
    let (mut pair, reports, return_paths) = pair(&[10, 20, 30], [config(), config()]);
    let p2 = PathId(2);
    for (wanted, expected) in [(&[P1, p2][..], &[P1, p2][..]), (&[p2], &[p2]), (&[], &[P0, p2])] {
        *return_paths.lock().unwrap() = wanted.iter().copied().collect();
        stream(&mut pair, 30);
        reports.lock().unwrap().clear();
        stream(&mut pair, 60);
        let mut by: Vec<PathId> = reports.lock().unwrap().iter().map(|(_, a)| a.via).collect();
        let turns = by.windows(2).filter(|w| w[0] != w[1]).count();
        assert!(wanted.len() != 2 || turns > by.len() / 2, "in turn: {by:?}");
        by.sort();
        by.dedup();
        // Without a request, the receiver answers every second packet on its own path.
        assert_eq!(by, expected, "{wanted:?}");
    }
    // A return path that fails stays in the request: SACKs use another one, and all data arrive.
    *return_paths.lock().unwrap() = PathSet::one(p2);
    stream(&mut pair, 30);
    pair.run(ms(500));
    pair.wires[2].up = [false; 2];
    let before = pair.received(SERVER).len();
    stream(&mut pair, 100);
    pair.run(ms(60_000));
    assert_eq!(pair.received(SERVER).len() - before, 100_000);
    assert_eq!(pair.association(CLIENT).send_buffered(), 0);
}

/// Without a scheme that asks there is no cost, and the receiver's scheme is not asked.
#[test]
fn who_does_not_ask_is_told_nothing() {
    let factory: SchemeFactory = Arc::new(|_| hearing().0);
    let mut pair = TestPair::with(&[10, 20], [config(), config()], factory, 1);
    let items = count_items(&mut pair, &[9]);
    pair.up();
    stream(&mut pair, 50);
    assert_eq!(*items.lock().unwrap(), [0, 0], "the client sends, and did not ask");
    pair.send(SERVER, pattern(0, 5000), SendOptions::default());
    pair.run(ms(1000));
    let [client, server] = *items.lock().unwrap();
    assert!(client > 0 && server == 0, "the server asked: {client}, {server}");
}

/// Another stack, or a Strandcast that does not support the request: data flow, and few requests are repeated.
#[test]
fn a_peer_that_does_not_know_how_is_let_alone() {
    let mute = TransportConfig { reports: false, ..config() };
    let (mut silent_peer, reports, _) = pair(&[10], [config(), mute]);
    stream(&mut silent_peer, 50);
    assert!(reports.lock().unwrap().is_empty() && silent_peer.received(SERVER).len() == 50_000);

    // A peer that never echoes the request.
    let factory: SchemeFactory = Arc::new(|_| simple());
    let mut old = TestPair::with(&[10], [config(), config()], factory, 1);
    let requests = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&requests);
    old.filter = Box::new(move |_, _, _, bytes| {
        let packet = Packet::parse(bytes.to_vec().into()).expect("a packet");
        let asks = |chunk: &Chunk| matches!(chunk, Chunk::Report(r) if r.items.iter().any(|i| i.kind == 8));
        let asked = packet.chunks().flatten().any(|(_, chunk)| asks(&chunk));
        *seen.lock().unwrap() += u32::from(asked);
        !asked
    });
    old.connect_with(hearing().0);
    old.run(ms(3000));
    stream(&mut old, 50);
    assert_eq!(old.received(SERVER).len(), 50_000);
    old.run(ms(600_000));
    assert!(*requests.lock().unwrap() < 30, "{} requests in ten minutes", requests.lock().unwrap());
}

/// The request is repeated until it arrives, however long that takes.
#[test]
fn the_request_survives_an_outage() {
    let factory: SchemeFactory = Arc::new(|_| simple());
    let tolerant = TransportConfig { silence_timeout: Some(ms(600_000)), ..config() };
    let mut pair = TestPair::with(&[10, 20], [tolerant.clone(), tolerant], factory, 1);
    let (scheme, reports, _) = hearing();
    let blocked = Arc::new(Mutex::new(true));
    let blocks = Arc::clone(&blocked);
    pair.filter = Box::new(move |_, from, _, bytes| {
        let packet = Packet::parse(bytes.to_vec().into()).expect("a packet");
        let report = |chunk: &Chunk| matches!(chunk, Chunk::Report(r) if r.items.iter().any(|i| i.kind == 8));
        !(*blocks.lock().unwrap() && from == CLIENT && packet.chunks().flatten().any(|(_, c)| report(&c)))
    });
    pair.connect_with(scheme);
    pair.run(ms(60_000));
    stream(&mut pair, 10);
    assert!(reports.lock().unwrap().is_empty());
    *blocked.lock().unwrap() = false;
    pair.run(ms(60_000));
    stream(&mut pair, 10);
    assert!(!reports.lock().unwrap().is_empty());
}
