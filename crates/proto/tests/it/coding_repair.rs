//! Two endpoints, one of which sends repair symbols in addition to its messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use strandcast_proto::association::SendOptions;
use strandcast_proto::coding::{Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::rx::Message;
use strandcast_proto::seeds::Seeds;
use strandcast_testing::endpoints::{CLIENT, SERVER, TestPair, config, ms, pattern};
use strandcast_testing::plain;

const CODES: [RepairCode; 3] = [RepairCode::Rlc, RepairCode::RaptorQ, RepairCode::ReedSolomon];

/// Behaviour of the network and the sender.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    code: RepairCode,
    when: RepairWhen,
    paths: usize,
    loss: f64,
    duplicate: f64,
    jitter: u64,
    /// Lifetime of messages, ms.
    lifetime: u64,
}

fn pair(case: &Case) -> TestPair {
    let coding = RepairCoding { code: case.code, redundancy: 0.3, when: case.when, window: 32 };
    let patient = TransportConfig {
        association_max_retrans: 1000,
        path_max_retrans: 1000,
        rto_max: ms(2000),
        ..config()
    };
    let client = TransportConfig { coding: Some(Coding::Repair(coding)), ..patient.clone() };
    let delays: Vec<u64> = (0..case.paths as u64).map(|i| 20 + 30 * i).collect();
    let factory: SchemeFactory = Arc::new(|_| plain::simple());
    let mut pair = TestPair::with(&delays, [client, patient], factory, case.seed);
    pair.up();
    for wire in &mut pair.wires {
        (wire.loss, wire.duplicate, wire.jitter) = (case.loss, case.duplicate, ms(case.jitter));
    }
    pair
}

/// Returns a message by its number: its bytes, which begin with the number, and its options.
fn message(n: u32, lifetime: u64) -> (Vec<u8>, SendOptions) {
    let len = 4 + (n as usize * 37) % 1300;
    let mut bytes = pattern(n as usize, len);
    bytes[..4].copy_from_slice(&n.to_be_bytes());
    let options = SendOptions { stream: (n % 5) as u16, ppid: n * 3, ..SendOptions::default() };
    let options = match n % 8 {
        // Ordered and reliable; unordered and reliable; ordered with a lifetime: no symbol covers these.
        0 => options,
        1 => SendOptions { unordered: true, ..options },
        2 => SendOptions { lifetime: Some(ms(lifetime)), ..options },
        // Longer than a packet.
        3 => {
            bytes.resize(5000, n as u8);
            SendOptions { unordered: true, lifetime: Some(ms(lifetime)), ..options }
        }
        _ => SendOptions { unordered: true, lifetime: Some(ms(lifetime)), ..options },
    };
    (bytes, options)
}

fn number(m: &Message) -> u32 {
    u32::from_be_bytes(m.payload[..4].try_into().expect("four bytes"))
}

/// Sends 600 messages, one every 5 ms. Each that arrives does so once, unchanged and with its options.
fn play(case: &Case) -> TestPair {
    let mut pair = pair(case);
    for n in 0..600 {
        let (bytes, options) = message(n, case.lifetime);
        pair.send(CLIENT, bytes, options);
        pair.run(ms(5));
        if n % 50 == 0 {
            pair.association(CLIENT).assert_consistent();
            pair.association(SERVER).assert_consistent();
        }
    }
    let reliable = |n: &u32| message(*n, 1).1.lifetime.is_none();
    let all = (0..600).filter(reliable).count();
    let done = |p: &TestPair| p.apps[SERVER].messages.iter().filter(|m| reliable(&number(m))).count() >= all;
    assert!(pair.run_until(ms(3_600_000), done), "reliable messages arrive: {case:?}");
    pair.run(ms(60_000));
    let mut found = BTreeMap::new();
    let mut next = [0u32; 5];
    for m in &pair.apps[SERVER].messages {
        let n = number(m);
        let (bytes, options) = message(n, case.lifetime);
        assert!(m.payload == bytes[..], "bytes of message {n}: {case:?}");
        let labels = (m.stream.0, m.ppid.0, m.unordered);
        assert_eq!(labels, (options.stream, options.ppid, options.unordered), "message {n}: {case:?}");
        if !options.unordered {
            let next = &mut next[usize::from(options.stream)];
            assert!(n >= *next, "ordered message {n} after {next}: {case:?}");
            *next = n + 1;
        }
        assert_eq!(found.insert(n, ()), None, "message {n} twice: {case:?}");
    }
    let missing: Vec<u32> = (0..600).filter(|n| reliable(n) && !found.contains_key(n)).collect();
    assert_eq!(missing, [0; 0], "reliable messages: {case:?}");
    let coding = pair.association(SERVER).stats().coding;
    assert_eq!((coding.symbols_refused, coding.damaged), (0, 0), "{case:?}");
    let sent = pair.association(CLIENT).stats().coding;
    assert!(sent.sources_sent >= 200, "{sent:?}");
    assert!(sent.repair_bytes as f64 <= 0.3 * sent.source_bytes as f64, "{sent:?}");
    assert!(coding.sources_received <= sent.sources_sent && coding.repairs_received <= sent.repairs_sent);
    pair
}

fn case(seed: u64, code: RepairCode) -> Case {
    let when = RepairWhen::Always;
    Case { seed, code, when, paths: 2, loss: 0.0, duplicate: 0.0, jitter: 0, lifetime: 2000 }
}

/// Any behaviour of the network and any code: the same cases each time.
#[test]
fn messages_arrive_once_unchanged_and_in_order() {
    let mut random = Seeds::new(16, 0).stream("cases");
    for seed in 0..24 {
        let late = random.chance(0.3);
        let case = Case {
            when: if late { RepairWhen::Late } else { RepairWhen::Always },
            paths: 1 + random.below(3) as usize,
            loss: random.below(4) as f64 * 0.1,
            duplicate: random.below(2) as f64 * 0.2,
            jitter: random.below(60),
            lifetime: [40, 100, 300, 2000][random.below(4) as usize],
            ..case(seed, CODES[seed as usize % 3])
        };
        play(&case);
    }
}

/// Without loss on one path nothing is computed, and every message arrives by itself. (On several paths, a repair
/// symbol may overtake the messages that it covers.)
#[test]
fn without_loss_nothing_is_recovered() {
    for code in CODES {
        let pair = play(&Case { paths: 1, ..case(1, code) });
        assert_eq!(pair.apps[SERVER].messages.len(), 600);
        let coding = pair.association(SERVER).stats().coding;
        assert_eq!((coding.recovered, coding.sources_late), (0, 0), "{code:?}: {coding:?}");
        assert_eq!(coding.repairs_unused, coding.repairs_received);
        assert_eq!(coding.sources_received, pair.association(CLIENT).stats().coding.sources_sent);
    }
}

/// Messages that could not be sent again in time are restored by repair symbols: more arrive than without.
#[test]
fn what_is_lost_comes_by_repair_symbols() {
    for code in CODES {
        let case = Case { loss: 0.05, lifetime: 60, ..case(3, code) };
        let pair = play(&case);
        let coding = pair.association(SERVER).stats().coding;
        assert!(coding.recovered >= 5, "{code:?}: {coding:?}");
    }
}
