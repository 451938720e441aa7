//! Spontaneous actions of schemes (`Policy::act`): copies of chunks in flight, losses that they declare, and actions
//! that the core refuses.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use strandcast_proto::association::{AssociationStats, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{
    AckInfo, Act, ChunkInfo, Flight, LossCause, LossPolicy, MOST_ACTS, Parts, PathId, Policy, Retransmit,
    Scheme, Signal, View,
};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::{Chunk, Packet, Tsn};
use strandcast_testing::endpoints::{CLIENT, P0, P1, SERVER, TestPair, config, ms, pattern};
use strandcast_testing::plain::{Split, parts, simple, windowed};

type Script = Box<dyn FnMut(&View<'_>, &Flight<'_>) -> Option<Act> + Send>;

/// Split fast retransmit that acts by a script and records the signals, and the bytes acknowledged and proven.
struct Acting {
    script: Script,
    signals: Arc<Mutex<Vec<String>>>,
    proven: Arc<Mutex<[(u64, u64); 4]>>,
}

impl std::fmt::Debug for Acting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Acting")
    }
}

impl Policy for Acting {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::LossEvent { trigger, .. } => self.signals.lock().unwrap().push(format!("{trigger:?}")),
            Signal::Lost { cause, path, .. } => {
                self.signals.lock().unwrap().push(format!("lost {} {cause:?}", path.0));
            }
            Signal::Acked(ack) => {
                let sums = &mut self.proven.lock().unwrap()[ack.path.index()];
                *sums = (sums.0 + ack.newly_acked, sums.1 + ack.proven);
                assert!(ack.proven <= ack.newly_acked, "{ack:?}");
            }
            _ => {}
        }
    }

    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        for path in view.paths {
            let listed: BTreeSet<u32> = flight.on(path.id).map(|c| c.tsn.0).collect();
            let bytes: u64 = listed.iter().filter_map(|t| flight.chunk(Tsn(*t))).map(|c| c.len).sum();
            assert!(bytes <= path.in_flight, "{} bytes listed of {}", bytes, path.in_flight);
        }
        (self.script)(view, flight)
    }
}

impl LossPolicy for Acting {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        Split.misses(view, ack, chunk)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        Split.retransmit(view, chunk, cause)
    }
}

struct Recorded {
    scheme: Box<dyn Scheme>,
    signals: Arc<Mutex<Vec<String>>>,
    proven: Arc<Mutex<[(u64, u64); 4]>>,
}

fn acting(window: u64, script: Script) -> Recorded {
    let (signals, proven) = (Arc::default(), Arc::default());
    let loss = Acting { script, signals: Arc::clone(&signals), proven: Arc::clone(&proven) };
    Recorded { scheme: Box::new(Parts { loss: Box::new(loss), ..parts(window) }), signals, proven }
}

/// A connected pair whose client acts.
fn pair(delays_ms: &[u64], scheme: Box<dyn Scheme>) -> TestPair {
    pair_with(delays_ms, config(), scheme, 1)
}

fn pair_with(delays_ms: &[u64], transport: TransportConfig, scheme: Box<dyn Scheme>, seed: u64) -> TestPair {
    let factory: SchemeFactory = Arc::new(|_| simple());
    let mut pair = TestPair::with(delays_ms, [transport.clone(), transport], factory, seed);
    pair.connect_with(scheme);
    pair.run(ms(3000));
    pair
}

fn stats(pair: &TestPair) -> AssociationStats {
    pair.association(CLIENT).stats().clone()
}

fn path_stats(pair: &TestPair, path: PathId) -> PathStats {
    pair.association(CLIENT).path_stats(path).unwrap().clone()
}

fn send(pair: &mut TestPair, messages: usize) {
    (0..messages).for_each(|n| pair.send(CLIENT, pattern(n * 1000, 1000), SendOptions::default()));
}

/// The chunks in flight on `path` for longer than `age`, and not elsewhere.
fn old<'a>(view: &View<'_>, flight: &Flight<'a>, path: PathId, age: Duration) -> Option<&'a ChunkInfo> {
    let now = view.now;
    flight.on(path).find(|c| {
        let flies = c.transmissions.iter().filter(|t| t.in_flight).count();
        flies == 1 && c.on(path).is_some_and(|t| now - t.at > age)
    })
}

/// A path that fails in the forward direction: the chunks in flight there leave by the other path as soon as the scheme
/// decides so, without a timer.
#[test]
fn copies_of_what_is_in_flight_arrive_by_another_path() {
    let script: Script = Box::new(|view, flight| {
        let doubtful = old(view, flight, P0, ms(60))?;
        Some(Act::Copy { tsn: doubtful.tsn, to: P1 })
    });
    let spied = acting(100_000, script);
    let mut pair = pair(&[20, 30], spied.scheme);
    pair.wires[0].up = [false; 2];
    send(&mut pair, 20);
    // Acknowledgements of the other path's half come every 10 ms: then the scheme is asked.
    for n in 20..40 {
        pair.run(ms(10));
        pair.send(CLIENT, pattern(n * 1000, 1000), SendOptions::default());
    }
    assert_eq!(pair.received(SERVER)[..20_000], pattern(0, 20_000), "in 200 ms, in order");
    assert_eq!((path_stats(&pair, P0).timeouts, path_stats(&pair, P0).lost_fast), (0, 0));
    pair.association(CLIENT).assert_consistent();
    pair.run(ms(100_000));
    pair.association(CLIENT).assert_consistent();
    assert_eq!(pair.association(CLIENT).send_buffered(), 0);
}

#[test]
fn what_is_declared_lost_is_sent_again_at_once() {
    let script: Script = Box::new(|view, flight| {
        old(view, flight, P0, ms(60))?;
        let sent_before = Instant::from_nanos(view.now.as_nanos() - 60_000_000);
        Some(Act::Lose { path: P0, sent_before, cause: LossCause::PathFailure })
    });
    let spied = acting(100_000, script);
    let mut pair = pair(&[20, 30], spied.scheme);
    pair.wires[0].up = [false; 2];
    send(&mut pair, 20);
    pair.run(ms(70));
    assert_eq!(path_stats(&pair, P0).lost_by_scheme, 0, "nothing happened since it would be lost");
    // A signal, and the path is no longer the one with more room.
    pair.send(CLIENT, pattern(20_000, 1000), SendOptions::default());
    let lost = path_stats(&pair, P0).lost_by_scheme;
    assert_eq!(lost, 10);
    pair.association(CLIENT).assert_consistent();
    let said = spied.signals.lock().unwrap().clone();
    assert_eq!(said, vec!["lost 0 PathFailure"; 10], "with its cause, and no loss event");
    let timed_out = |p: &TestPair| path_stats(p, P0).timeouts;
    assert_eq!(
        (timed_out(&pair), path_stats(&pair, P0).loss()),
        (0, 10.0 / path_stats(&pair, P0).chunks_sent as f64)
    );
    pair.run(ms(100_000));
    assert_eq!(pair.received(SERVER), pattern(0, 21_000));
    pair.association(CLIENT).assert_consistent();
}

/// All chunks in flight are declared lost again and again: everything still arrives.
#[test]
fn losing_everything_on_the_only_path_ends_nothing() {
    let script: Script = Box::new(|view, flight| {
        flight.on(P0).next()?;
        let sent_before = view.now;
        Some(Act::Lose { path: P0, sent_before, cause: LossCause::Wireless })
    });
    let mut pair = pair(&[20], acting(20_000, script).scheme);
    send(&mut pair, 100);
    pair.run(ms(60_000));
    assert_eq!(pair.received(SERVER), pattern(0, 100_000));
    pair.association(CLIENT).assert_consistent();
    let again = pair.association(SERVER).stats().duplicates_received;
    assert!(path_stats(&pair, P0).lost_by_scheme > 0 && again > 0);
}

#[test]
fn what_can_not_be_done_is_refused_and_counted() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let acts = Arc::clone(&asked);
    // 200 stands for the path of the chunk, 201 for the other one.
    let script: Script = Box::new(move |_, flight| {
        let mut act = acts.lock().unwrap().pop()?;
        if let Act::Copy { tsn, to } = &mut act {
            let path = flight.chunk(*tsn).map_or(P0, ChunkInfo::path);
            *to = PathId(if to.0 < 200 { to.0 } else { path.0 ^ (to.0 - 200) });
        }
        Some(act)
    });
    let mut pair = pair(&[20, 30], acting(100_000, script).scheme);
    let first = pair.association(CLIENT).first_unacknowledged();
    pair.wires[0].up[CLIENT] = false;
    pair.wires[1].up[CLIENT] = false;
    send(&mut pair, 2);
    let (closed, never, here, other) = (PathId(7), Instant::ZERO, PathId(200), PathId(201));
    let (now, cause) = (pair.now, LossCause::Congestion);
    let nonsense = vec![
        Act::Copy { tsn: first - 1, to: P1 },
        Act::Copy { tsn: first + 9, to: P1 },
        Act::Copy { tsn: first, to: here },
        Act::Copy { tsn: first, to: closed },
        Act::Copy { tsn: first, to: PathId(199) },
        Act::Lose { path: PathId(255), sent_before: now, cause },
        Act::Lose { path: closed, sent_before: now, cause },
        Act::Lose { path: P0, sent_before: never, cause },
        Act::Lose { path: P0, sent_before: now, cause },
        Act::Drop { group: 3 },
        Act::Drop { group: 3 },
    ];
    // A group may be given up once before it exists.
    let n = nonsense.len() as u64 - 1;
    *asked.lock().unwrap() = nonsense;
    send(&mut pair, 1);
    assert_eq!(stats(&pair).refused_acts, n);
    // The same copy is requested twice.
    let copy = Act::Copy { tsn: first, to: other };
    *asked.lock().unwrap() = vec![copy, copy];
    let sent = |p: &TestPair| path_stats(p, P0).chunks_sent + path_stats(p, P1).chunks_sent;
    let before = sent(&pair);
    pair.run(ms(10));
    assert_eq!((stats(&pair).refused_acts, sent(&pair)), (n, before), "without a signal no act");
    send(&mut pair, 1);
    assert_eq!((stats(&pair).refused_acts, sent(&pair)), (n + 1, before + 2));
    pair.association(CLIENT).assert_consistent();
}

/// A scheme that never stops acting is asked at most `MOST_ACTS` times after each event.
#[test]
fn acts_without_end_end() {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let script: Script = Box::new(move |_, _| {
        *count.lock().unwrap() += 1;
        Some(Act::Copy { tsn: Tsn(1), to: P0 })
    });
    let mut pair = pair(&[20], acting(20_000, script).scheme);
    let before = *asked.lock().unwrap();
    pair.send(CLIENT, pattern(0, 1000), SendOptions::default());
    assert_eq!(*asked.lock().unwrap() - before, MOST_ACTS);
    send(&mut pair, 50);
    pair.run(ms(10_000));
    assert_eq!(pair.received(SERVER).len(), 51_000);
    assert_eq!(stats(&pair).refused_acts, *asked.lock().unwrap() as u64);
}

/// A copy waits until its path has room, and leaves before lost and new chunks then.
#[test]
fn a_copy_waits_for_room() {
    let copied = Arc::new(Mutex::new(Vec::new()));
    let wanted = Arc::clone(&copied);
    let script: Script = Box::new(move |view, flight| {
        let full = view.paths.len() == 2 && view.paths.iter().all(|p| !p.has_room());
        let mut wanted = wanted.lock().unwrap();
        let tsn = flight.on(P0).next()?.tsn;
        (full && wanted.is_empty()).then(|| {
            wanted.push(tsn);
            Act::Copy { tsn, to: P1 }
        })
    });
    let mut pair = pair(&[200, 20], acting(8000, script).scheme);
    send(&mut pair, 30);
    // The windows are full once the first are sent; a message more is not a signal, an acknowledgement is.
    pair.run(ms(300));
    let tsn = copied.lock().unwrap().first().copied();
    assert!(tsn.is_some() && stats(&pair).refused_acts == 0, "{tsn:?}");
    pair.run(ms(10_000));
    assert_eq!(pair.received(SERVER), pattern(0, 30_000));
    assert!(pair.association(SERVER).stats().duplicates_received >= 1);
}

/// Random impossible acts, over wires that lose, delay and reorder, with and without a peer that names copies: the
/// counts agree all the time, and everything arrives in order.
#[test]
fn nonsense_does_no_harm() {
    for seed in 0..24 {
        let mut random = Seeds::new(seed, 0).stream("nonsense");
        let script: Script = Box::new(move |view, flight| {
            let path = PathId(random.below(4) as u8);
            if random.chance(0.3) {
                return None;
            }
            if random.chance(0.1) {
                let back = Duration::from_millis(random.below(300));
                let (sent_before, cause) = (view.now - back, LossCause::Congestion);
                return Some(Act::Lose { path, sent_before, cause });
            }
            let from = PathId(random.below(view.paths.len() as u64) as u8);
            let tsn = flight.on(from).nth(random.below(6) as usize).map_or(Tsn(random.u32()), |c| c.tsn);
            Some(Act::Copy { tsn, to: path })
        });
        let base = if seed % 2 == 0 { config() } else { TransportConfig::live() };
        let transport = TransportConfig { reports: seed % 3 > 0, strict_rfc: seed % 5 == 0, ..base };
        let delays: &[u64] = if transport.reports { &[20, 60, 5] } else { &[20] };
        let mut pair = pair_with(delays, transport, acting(15_000, script).scheme, seed);
        for wire in &mut pair.wires {
            (wire.loss, wire.jitter) = (0.05, ms(10));
        }
        for n in 0..200 {
            pair.send(CLIENT, pattern(n * 1000, 1000), SendOptions::default());
            pair.run(ms(7));
            pair.association(CLIENT).assert_consistent();
        }
        for wire in &mut pair.wires {
            wire.loss = 0.0;
        }
        pair.run(ms(200_000));
        assert_eq!(pair.received(SERVER), pattern(0, 200_000), "seed {seed}: {:?}", pair.reasons());
        assert_eq!(pair.association(CLIENT).send_buffered(), 0);
    }
}

/// Without repeated transmissions every byte is proven. A dead path proves nothing, although its chunks were copied and
/// acknowledged.
#[test]
fn what_is_proven_came_by_that_path() {
    for names in [true, false] {
        let script: Script = Box::new(|view, flight| {
            let doubtful = old(view, flight, P0, ms(60))?;
            Some(Act::Copy { tsn: doubtful.tsn, to: P1 })
        });
        let spied = acting(100_000, script);
        let mut pair = pair(&[20, 30], spied.scheme);
        send(&mut pair, 20);
        pair.run(ms(50));
        let [first, second, ..] = *spied.proven.lock().unwrap();
        assert!(first.0 > 0 && first.0 == first.1 && second.0 == second.1, "sent once: {first:?} {second:?}");
        if !names {
            // The peer is never asked to name copies: for a TSN in flight on both paths, the path of its arrival is
            // unknown.
            pair.filter = Box::new(|_, from, _, bytes| {
                let packet = Packet::parse(bytes.to_vec().into()).expect("a packet");
                let asks = |c: &Chunk| matches!(c, Chunk::Report(r) if r.items.iter().any(|i| i.kind == 6));
                from == SERVER || !packet.chunks().flatten().any(|(_, chunk)| asks(&chunk))
            });
        }
        *spied.proven.lock().unwrap() = [(0, 0); 4];
        pair.wires[0].up[CLIENT] = false;
        for n in 20..60 {
            pair.send(CLIENT, pattern(n * 1000, 1000), SendOptions::default());
            pair.run(ms(10));
        }
        let [dead, other, ..] = *spied.proven.lock().unwrap();
        assert_eq!(dead.1, 0, "{names}: {dead:?}");
        assert!(other.1 > 0, "{names}: {other:?}");
    }
}

/// A scheme whose parts never act is never asked.
#[test]
fn who_does_not_act_is_not_asked() {
    #[derive(Debug)]
    struct Quiet;
    impl Policy for Quiet {
        fn act(&mut self, _: &View<'_>, _: &Flight<'_>) -> Option<Act> {
            panic!("asked")
        }
    }
    impl LossPolicy for Quiet {
        fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
            Split.misses(view, ack, chunk)
        }
        fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
            Split.retransmit(view, chunk, cause)
        }
    }
    let factory: SchemeFactory = Arc::new(|_| windowed(20_000));
    let mut pair = TestPair::with(&[20], [config(), config()], factory, 1);
    pair.connect_with(Box::new(Parts { loss: Box::new(Quiet), ..parts(20_000) }));
    pair.run(ms(3000));
    send(&mut pair, 20);
    pair.run(ms(3000));
    assert_eq!(pair.received(SERVER).len(), 20_000);
}
