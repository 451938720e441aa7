//! Two endpoints, one of which codes in blocks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use strandcast_proto::association::{Event, SendError, SendOptions};
use strandcast_proto::coding::{BlockCoding, Code, Coding};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{Input, SchemeFactory};
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::{Chunk, Packet};
use strandcast_testing::endpoints;
use strandcast_testing::endpoints::{CLIENT, P1, SERVER, TestPair, config, ms, pattern};
use strandcast_testing::plain;

fn coded(code: Code) -> TransportConfig {
    let coding = Coding::Blocks(BlockCoding { code, sources: 0, flush: ms(20) });
    TransportConfig { coding: Some(coding), ..config() }
}

/// Both ends up, the client with `scheme`.
fn pair(delays: &[u64], transports: [TransportConfig; 2], scheme: Box<dyn Scheme>, seed: u64) -> TestPair {
    let factory: SchemeFactory = Arc::new(|_| plain::simple());
    let mut pair = TestPair::with(delays, transports, factory, seed);
    pair.connect_with(scheme);
    assert!(pair.run_until(ms(60_000), |p| p.apps[SERVER].id.is_some()), "connected");
    pair.run(ms(3000));
    pair
}

fn plain(stream: u16, ppid: u32) -> SendOptions {
    SendOptions { stream, ppid, ..SendOptions::default() }
}

/// Submits as many of `messages` as there is room for.
fn feed(pair: &mut TestPair, messages: &mut Vec<(Vec<u8>, SendOptions)>) {
    let Some(id) = pair.apps[CLIENT].id else { return };
    while let Some((bytes, options)) = messages.last() {
        match pair.ends[CLIENT].send(pair.now, id, bytes.clone().into(), *options) {
            Ok(_) => drop(messages.pop()),
            Err(SendError::Full) => break,
            Err(why) => panic!("{why}"),
        }
    }
    pair.pump();
}

/// Sends everything and runs until it has arrived, with checks of the counts in between.
fn carry(pair: &mut TestPair, mut messages: Vec<(Vec<u8>, SendOptions)>, limit: Duration) {
    let wanted = pair.apps[SERVER].messages.len() + messages.len();
    messages.reverse();
    feed(pair, &mut messages);
    let end = pair.now + limit;
    let mut steps = 0_u32;
    while pair.apps[SERVER].messages.len() < wanted {
        assert!(
            pair.step(end),
            "all arrives in {limit:?}: {:?}, {:#?}",
            pair.reasons(),
            pair.association(CLIENT).stats()
        );
        steps += 1;
        if steps.is_multiple_of(16) {
            feed(pair, &mut messages);
        }
        if steps.is_multiple_of(64) {
            pair.association(CLIENT).assert_consistent();
            pair.association(SERVER).assert_consistent();
        }
    }
}

fn assert_arrived(pair: &TestPair, messages: &[(Vec<u8>, SendOptions)]) {
    let got = &pair.apps[SERVER].messages;
    assert_eq!(got.len(), messages.len());
    for (i, (m, (bytes, options))) in got.iter().zip(messages).enumerate() {
        assert_eq!((m.stream.0, m.ppid.0), (options.stream, options.ppid), "message {i}");
        assert!(m.payload == bytes[..], "bytes of message {i}");
    }
}

/// Messages of many lengths and streams, `total` bytes together.
fn object(seed: u64, total: usize) -> Vec<(Vec<u8>, SendOptions)> {
    let mut random = Seeds::new(seed, 0).stream("object");
    let (mut messages, mut at) = (Vec::new(), 0);
    while at < total {
        let usual = 1 + random.below(1452) as usize;
        let len = if random.chance(0.02) { 20_000 } else { usual }.min(total - at);
        let options = plain(random.below(3) as u16, random.below(2) as u32 * 7);
        messages.push((pattern(at, len), options));
        at += len;
    }
    messages
}

/// Behaviour of the network.
#[derive(Clone, Debug)]
struct Weather {
    code: Code,
    paths: usize,
    loss: f64,
    /// Mean length of bursts of lost packets; 1: each by itself.
    burst: f64,
    jitter: u64,
    duplicate: f64,
    sources: bool,
    margin: u32,
}

fn weather() -> impl Strategy<Value = Weather> {
    let code = prop_oneof![Just(Code::Rlc), Just(Code::Fountain)];
    let network = (1usize..4, 0.0..0.4, prop_oneof![Just(1.0), 2.0..10.0], 0u64..80, 0.0..0.2);
    (code, network, any::<bool>(), 0u32..5).prop_map(
        |(code, (paths, loss, burst, jitter, duplicate), sources, margin)| Weather {
            code,
            paths,
            loss,
            burst,
            jitter,
            duplicate,
            sources,
            margin,
        },
    )
}

/// Packets of `wire` are lost by a Gilbert chain: `loss` of them, in bursts of `burst` on average.
fn gilbert(pair: &mut TestPair, seed: u64, w: &Weather) {
    let mut random = Seeds::new(seed, 0).stream("bursts");
    let mut bad = BTreeMap::new();
    let leave = 1.0 / w.burst;
    let enter = (leave * w.loss / (1.0 - w.loss)).min(1.0);
    pair.filter = Box::new(move |_, from, wire, _| {
        let state = bad.entry((from, wire)).or_insert(false);
        *state = if *state { !random.chance(leave) } else { random.chance(enter) };
        !*state
    });
}

fn object_arrives(seed: u64, bytes: usize, w: &Weather) {
    let delays: Vec<u64> = (0..w.paths as u64).map(|i| 10 + 35 * i).collect();
    let patient = |config| TransportConfig {
        association_max_retrans: 1000,
        path_max_retrans: 1000,
        rto_max: ms(2000),
        tail_probes: seed.is_multiple_of(2),
        ..config
    };
    let transports = [patient(coded(w.code)), patient(config())];
    let mut pair = pair(&delays, transports, plain::symbols(w.sources, w.margin), seed);
    for wire in &mut pair.wires {
        wire.jitter = ms(w.jitter);
        wire.duplicate = w.duplicate;
    }
    gilbert(&mut pair, seed, w);
    let messages = object(seed, bytes);
    carry(&mut pair, messages.clone(), ms(3_600_000));
    assert_arrived(&pair, &messages);
    let stats = &pair.association(CLIENT).stats().coding;
    assert!(stats.sources_sent + stats.repairs_sent > 0, "it was coded");
    assert_eq!(pair.association(CLIENT).stats().refused_assignments, 0);
    // Acknowledgements are also lost.
    let known = pair.run_until(ms(600_000), |p| p.association(CLIENT).send_buffered() == 0);
    let sender = pair.association(CLIENT);
    assert!(known, "everything is acknowledged: {} bytes", sender.send_buffered());
    assert_eq!(sender.stats().messages_acked, sender.stats().messages_sent);
    sender.assert_consistent();
}

/// Prints the parameters of a failed case.
struct Replay(u64, Weather);
impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again: object_arrives({}, 1 << 20, &{:?})", self.0, self.1);
        }
    }
}

/// Objects of 1 MB arrive bit for bit for any behaviour of the network: the same 64 cases each time.
#[test]
fn objects_arrive_bit_for_bit() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[16; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for seed in 0..64 {
        let weather = weather().new_tree(&mut runner).expect("a strategy without filters").current();
        let _again = Replay(seed, weather.clone());
        object_arrives(seed, 1 << 20, &weather);
    }
}

/// The corners: no loss at all, and 40 % of it in bursts, on one path and on three.
#[test]
fn objects_arrive_at_the_extremes() {
    for (seed, (paths, loss)) in [(1, 0.0), (3, 0.0), (1, 0.4), (3, 0.4)].into_iter().enumerate() {
        for code in [Code::Rlc, Code::Fountain] {
            let burst = if loss > 0.0 { 5.0 } else { 1.0 };
            let weather =
                Weather { code, paths, loss, burst, jitter: 0, duplicate: 0.0, sources: false, margin: 0 };
            let _again = Replay(100 + seed as u64, weather.clone());
            object_arrives(100 + seed as u64, 1 << 20, &weather);
        }
    }
}

/// A symbol on the wire, as an observer sees it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Seen {
    tsn: u32,
    kind: u8,
    block: u32,
}

fn seen(bytes: &[u8]) -> Vec<Seen> {
    let Ok(packet) = Packet::parse(bytes.to_vec().into()) else { return Vec::new() };
    let data = packet.chunks().filter_map(|c| match c {
        Ok((_, Chunk::Data(d))) => Some(d),
        _ => None,
    });
    let number = |b: &[u8]| u32::from_be_bytes([b[2], b[3], b[4], b[5]]);
    data.map(|d| Seen { tsn: d.header.tsn.0, kind: d.payload[0] >> 4, block: number(&d.payload) }).collect()
}

type Log = Arc<Mutex<Vec<Seen>>>;

/// Records every symbol that the client sends; `drop` selects the lost ones.
fn watch(pair: &mut TestPair, mut drop: impl FnMut(&Seen) -> bool + 'static) -> Log {
    let log = Log::default();
    let out = Arc::clone(&log);
    pair.filter = Box::new(move |_, from, _, bytes| {
        if from != CLIENT {
            return true;
        }
        let all = seen(bytes);
        out.lock().expect("one thread").extend(&all);
        !all.iter().any(&mut drop)
    });
    log
}

const SOURCES: [u8; 2] = [1, 2];
const REPAIR: u8 = 3;

/// A repair symbol that is lost, by misses, by timeouts or at the tail, is never sent again; FORWARD-TSN moves the peer
/// on.
#[test]
fn lost_repair_symbols_are_never_sent_again() {
    for tail_probes in [false, true] {
        let transports = [TransportConfig { tail_probes, ..coded(Code::Rlc) }, config()];
        let mut pair = pair(&[10, 30], transports, plain::symbols(false, 0), 5);
        let mut random = Seeds::new(5, 0).stream("losses");
        let log = watch(&mut pair, move |_| random.chance(0.25));
        let messages = object(5, 300_000);
        carry(&mut pair, messages.clone(), ms(600_000));
        pair.run(ms(60_000));
        assert_arrived(&pair, &messages);
        let log = log.lock().expect("one thread");
        let mut times: BTreeMap<u32, u32> = BTreeMap::new();
        log.iter().for_each(|s| *times.entry(s.tsn).or_default() += 1);
        assert!(log.iter().all(|s| s.kind == REPAIR));
        let again: Vec<_> = times.iter().filter(|(_, n)| **n > 1).collect();
        assert!(again.is_empty(), "TSN and how often it was sent: {again:?}");
        let lost: u64 = (0..2).map(|i| lost_on(&pair, i)).sum();
        assert!(lost > 20, "{lost} symbols were lost");
        assert_eq!(pair.association(CLIENT).stats().messages_abandoned(), 0, "symbols are not messages");
        assert_eq!(
            pair.association(CLIENT).first_unacknowledged().0.wrapping_sub(times.len() as u32),
            *times.keys().min().expect("some were sent"),
            "all of them are settled"
        );
    }
}

fn lost_on(pair: &TestPair, path: u8) -> u64 {
    let stats = pair.association(CLIENT).path_stats(strandcast_proto::policy::PathId(path)).expect("a path");
    stats.lost_fast + stats.lost_timeout
}

/// A source symbol is sent again until its block is done, and not after that.
#[test]
fn what_a_complete_block_lacks_is_not_sent_again() {
    // All source symbols at odd places are lost, as often as they are sent, until the client was silent for a while.
    let transports = [coded(Code::Rlc), config()];
    let mut pair = pair(&[20], transports, plain::symbols(true, 0), 9);
    let mut sources = 0;
    let log = watch(&mut pair, move |s| {
        sources += u32::from(SOURCES.contains(&s.kind));
        SOURCES.contains(&s.kind) && sources.is_multiple_of(2)
    });
    let messages = object(9, 200_000);
    carry(&mut pair, messages.clone(), ms(600_000));
    assert_arrived(&pair, &messages);
    let before = log.lock().expect("one thread").len();
    pair.run(ms(60_000));
    let log = log.lock().expect("one thread");
    let late: Vec<_> = log[before..].iter().filter(|s| SOURCES.contains(&s.kind)).collect();
    assert!(late.is_empty(), "everything had arrived: {late:?}");
    let again = log.len() - endpoints::distinct(log.iter().map(|s| s.tsn)).len();
    assert!(again > 0, "lost source symbols of incomplete blocks were sent again");
    assert_eq!(pair.association(CLIENT).send_buffered(), 0);
}

/// While the application does not read, symbols wait in the receive buffer and close the window; nothing is lost.
#[test]
fn a_slow_reader_closes_the_window_and_loses_nothing() {
    for code in [Code::Rlc, Code::Fountain] {
        let small = TransportConfig { receive_buffer: 64 << 10, ..config() };
        let mut pair = pair(&[20], [coded(code), small], plain::symbols(false, 4), 3);
        pair.apps[SERVER].lazy = true;
        let messages = object(3, 400_000);
        let mut waiting = messages.clone();
        waiting.reverse();
        feed(&mut pair, &mut waiting);
        pair.run(ms(20_000));
        let held = pair.association(SERVER).receive_buffered();
        assert!(held > 40_000, "{held} bytes wait in the receive buffer");
        assert!(
            pair.association(CLIENT).peer_rwnd() < 4000,
            "{} bytes",
            pair.association(CLIENT).peer_rwnd()
        );
        // Some at a time.
        for _ in 0..2000 {
            let id = pair.apps[SERVER].id.expect("connected");
            if let Some(m) = pair.ends[SERVER].recv(id) {
                pair.apps[SERVER].messages.push(m);
            }
            feed(&mut pair, &mut waiting);
            pair.run(ms(50));
        }
        pair.apps[SERVER].lazy = false;
        pair.run(ms(20_000));
        assert_arrived(&pair, &messages);
    }
}

/// Symbols in flight on a path that is closed count as lost at once, and others take their place.
#[test]
fn symbols_on_a_closed_path_are_lost_at_once() {
    let mut pair = pair(&[10, 100], [coded(Code::Fountain), config()], plain::symbols(false, 0), 8);
    let messages = object(8, 800_000);
    let mut waiting = messages.clone();
    waiting.reverse();
    feed(&mut pair, &mut waiting);
    pair.run(ms(150));
    let flying = pair.association(CLIENT).paths()[1].in_flight_chunks;
    assert!(flying >= 8, "{flying} symbols on the slow path");
    let id = pair.apps[CLIENT].id.expect("connected");
    let lost = lost_on(&pair, 1);
    pair.wires[1].up = [false; 2];
    let now = pair.now;
    pair.ends[CLIENT].with(id, |a| a.remove_path(now, P1)).expect("not the last one");
    assert_eq!(pair.association(CLIENT).paths()[1].in_flight_chunks, 0);
    assert_eq!(lost_on(&pair, 1) - lost, u64::from(flying));
    // No block has any symbols in flight there.
    pair.association(CLIENT).assert_consistent();
    let from = pair.now;
    assert!(pair.run_until(ms(10_000), |p| p.apps[SERVER].messages.len() == messages.len()));
    assert!(pair.now - from < ms(2000), "no timeout of the dead path is waited for: {:?}", pair.now - from);
    assert_arrived(&pair, &messages);
}

/// Messages to a peer that did not announce a decoder leave as usual.
#[test]
fn a_peer_that_can_not_decode_gets_messages() {
    let other = TransportConfig { reports: false, ..config() };
    let mut pair = pair(&[20], [coded(Code::Rlc), other], plain::symbols(true, 2), 4);
    let messages = object(4, 100_000);
    carry(&mut pair, messages.clone(), ms(60_000));
    let stats = &pair.association(CLIENT).stats().coding;
    assert_eq!((stats.sources_sent, stats.repairs_sent), (0, 0));
    let mut got: Vec<_> = pair.apps[SERVER].messages.iter().map(|m| m.payload.to_vec()).collect();
    let mut sent: Vec<_> = messages.into_iter().map(|(bytes, _)| bytes).collect();
    got.sort();
    sent.sort();
    assert!(got == sent, "streams are on their own, but nothing is missing");
}

/// Messages submitted before the end of the handshake are coded, and messages submitted before a shutdown arrive.
#[test]
fn the_first_and_the_last_message_are_coded() {
    for (seed, sources) in [(1, false), (2, true)] {
        let factory: SchemeFactory = Arc::new(|_| plain::simple());
        let mut pair = TestPair::with(&[50], [coded(Code::Rlc), config()], factory, seed);
        pair.wires[0].loss = 0.2;
        let id = pair.connect_with(plain::symbols(sources, 0));
        let messages = object(seed, 60_000);
        for (bytes, options) in &messages {
            pair.ends[CLIENT].send(pair.now, id, bytes.clone().into(), *options).expect("room");
        }
        pair.ends[CLIENT].shutdown(pair.now, id);
        pair.run(ms(200_000));
        assert_arrived(&pair, &messages);
        for side in [CLIENT, SERVER] {
            let closed =
                |e: &Event| matches!(e, Event::Closed(strandcast_proto::association::CloseReason::Shutdown));
            assert!(pair.apps[side].events.iter().any(closed), "{side}: {:?}", pair.apps[side].events);
        }
    }
}

/// The send buffer bounds the data that wait for blocks, and reports when it has room again.
#[test]
fn the_send_buffer_bounds_the_backlog() {
    let transport = TransportConfig { send_buffer: 100_000, ..coded(Code::Rlc) };
    let mut pair = pair(&[50], [transport, config()], plain::symbols(false, 1), 6);
    let messages = object(6, 500_000);
    let mut waiting = messages.clone();
    waiting.reverse();
    feed(&mut pair, &mut waiting);
    let buffered = pair.association(CLIENT).send_buffered();
    assert!(!waiting.is_empty() && (79_000..=100_000).contains(&buffered), "{buffered} bytes are held");
    assert!(!pair.saw(CLIENT, &Event::Writable));
    assert!(pair.run_until(ms(5000), |p| p.saw(CLIENT, &Event::Writable)), "blocks that are done make room");
    for _ in 0..2000 {
        feed(&mut pair, &mut waiting);
        pair.run(ms(10));
    }
    assert_arrived(&pair, &messages);
}

/// A message that fills no symbol leaves after it has waited, and not before.
#[test]
fn a_small_message_leaves_after_the_flush_time() {
    let mut pair = pair(&[20], [coded(Code::Fountain), config()], plain::symbols(false, 0), 7);
    let sent = pair.now;
    pair.send(CLIENT, pattern(0, 10), SendOptions::default());
    assert!(pair.run_until(ms(10_000), |p| !p.apps[SERVER].messages.is_empty()));
    let took = pair.now - sent;
    // The receiver cannot use a symbol of zeros, which one in two is: the sender then finds this from a SACK.
    assert!(took >= ms(40), "20 ms of waiting and 20 ms of way: {took:?}");
    assert_eq!(pair.received(SERVER), pattern(0, 10));
}

/// Both ends code at the same time, each with its own code.
#[test]
fn both_directions_may_be_coded() {
    let factory: SchemeFactory = Arc::new(|_| plain::symbols(false, 2));
    let mut pair = TestPair::with(&[10, 40], [coded(Code::Rlc), coded(Code::Fountain)], factory, 2);
    pair.connect_with(plain::symbols(true, 0));
    pair.run(ms(3000));
    for wire in &mut pair.wires {
        wire.loss = 0.1;
    }
    let messages = object(2, 100_000);
    for (bytes, options) in &messages {
        pair.send(CLIENT, bytes.clone(), *options);
        pair.send(SERVER, bytes.clone(), *options);
    }
    pair.run(ms(120_000));
    assert_arrived(&pair, &messages);
    let back: Vec<_> = pair.apps[CLIENT].messages.iter().map(|m| m.payload.to_vec()).collect();
    assert!(back == messages.into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>());
    for side in [CLIENT, SERVER] {
        let stats = &pair.association(side).stats().coding;
        let (sent, received) =
            (stats.sources_sent + stats.repairs_sent, stats.sources_received + stats.repairs_received);
        assert!(sent > 70 && received > 70, "{side}: {stats:?}");
        pair.association(side).assert_consistent();
    }
}

/// The network's MTU becomes smaller: symbols of later messages fit it.
#[test]
fn symbols_follow_the_path_mtu() {
    let mut pair = pair(&[20], [coded(Code::Rlc), config()], plain::symbols(false, 0), 12);
    let mut messages = object(12, 100_000);
    carry(&mut pair, messages.clone(), ms(60_000));
    let tuple = pair.wires[0].client_tuple(0);
    pair.ends[CLIENT].handle_input(pair.now, Input::Mtu { tuple, mtu: 700 });
    let longest = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&longest);
    pair.filter = Box::new(move |_, from, _, bytes| {
        let mut longest = seen.lock().expect("one thread");
        *longest = if from == CLIENT { bytes.len().max(*longest) } else { *longest };
        true
    });
    let more = object(13, 100_000);
    carry(&mut pair, more.clone(), ms(60_000));
    messages.extend(more);
    assert_arrived(&pair, &messages);
    let longest = *longest.lock().expect("one thread");
    assert!((600..=700 - 28).contains(&longest), "{longest} bytes");
}

/// Acknowledgements are missing for longer than the timeout, while symbols arrive: the needless timeouts cost symbols,
/// but the counts agree and everything arrives.
#[test]
fn spurious_timeouts_cost_symbols_alone() {
    let mut pair = pair(&[20, 30], [coded(Code::Fountain), config()], plain::symbols(false, 0), 14);
    let messages = object(14, 200_000);
    let mut waiting = messages.clone();
    waiting.reverse();
    feed(&mut pair, &mut waiting);
    for wire in &mut pair.wires {
        wire.up[SERVER] = false;
    }
    pair.run(ms(2500));
    pair.association(CLIENT).assert_consistent();
    for wire in &mut pair.wires {
        wire.up[SERVER] = true;
    }
    assert!(pair.run_until(ms(120_000), |p| p.apps[SERVER].messages.len() == messages.len()));
    pair.run(ms(20_000));
    assert_arrived(&pair, &messages);
    pair.association(CLIENT).assert_consistent();
    assert_eq!(pair.association(CLIENT).send_buffered(), 0);
    let stats = pair.association(CLIENT).path_stats(endpoints::P0).expect("a path");
    assert!(stats.timeouts > 0, "the test has its timeouts");
}
