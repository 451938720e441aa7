//! Path MTU discovery (RFC 8899) between endpoints: the packets, the application's view, and data that arrive whatever
//! the paths carry.

use std::sync::{Arc, Mutex};

use strandcast_proto::association::{Event, PathChange, SendOptions};
use strandcast_proto::coding::{Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{Input, SchemeFactory};
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::PathId;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::chunk::{heartbeat, pad};
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// IPv4, UDP, and SCTP's common header.
const HEADERS: u64 = 20 + 8 + 12;

fn live() -> TransportConfig {
    TransportConfig::live()
}

/// Four messages of 1440 bytes every 20 ms: each fits one packet of 1500 bytes, and no smaller one.
fn stream(w: &mut TestPair, time: Duration, options: SendOptions) {
    let end = w.now + time;
    while w.now < end {
        (0..4).for_each(|n| w.send(CLIENT, pattern(n, 1440), options));
        w.run(ms(20));
    }
}

fn path_mtu(w: &TestPair, path: PathId) -> u64 {
    w.association(CLIENT).paths()[path.index()].mtu + HEADERS
}

fn stats(w: &TestPair, side: usize, path: PathId) -> PathStats {
    w.association(side).path_stats(path).expect("a path").clone()
}

/// Log of (sender, bytes of the IP packet, types of its first two chunks) of each packet that leaves.
type Log = Arc<Mutex<Vec<(usize, usize, u8, Option<u8>)>>>;

fn logged(w: &mut TestPair) -> Log {
    let log = Log::default();
    let seen = Arc::clone(&log);
    w.filter = Box::new(move |_, from, _, bytes| {
        let first = usize::from(u16::from_be_bytes([bytes[14], bytes[15]])).next_multiple_of(4);
        let entry = (from, bytes.len() + 28, bytes[12], bytes.get(12 + first).copied());
        seen.lock().expect("one thread").push(entry);
        true
    });
    log
}

fn is_probe(entry: &(usize, usize, u8, Option<u8>)) -> bool {
    entry.2 == heartbeat::TYPE && entry.3 == Some(pad::TYPE)
}

/// RFC 8899 §6.2.1: HEARTBEAT and PAD in one packet of the probed size. On Ethernet two of them are enough.
#[test]
fn packets_grow_to_what_the_path_carries() {
    let mut w = TestPair::new(&[20], live(), 1);
    w.wires[0].mtu = 1500;
    let log = logged(&mut w);
    w.up();
    let before = w.association(CLIENT).max_unfragmented();
    assert_eq!(path_mtu(&w, P0), 1400, "as configured to begin with");
    assert_eq!(stats(&w, CLIENT, P0).mtu_probes, 0, "nothing is probed before data leave");
    stream(&mut w, ms(2000), SendOptions::default());
    assert_eq!(path_mtu(&w, P0), 1500);
    assert!(w.saw(CLIENT, &Event::Path(P0, PathChange::Mtu(1500))), "{:?}", w.apps[CLIENT].events);
    assert_eq!(w.association(CLIENT).max_unfragmented(), before + 100);
    let log = log.lock().expect("one thread");
    let probes: Vec<usize> = log.iter().filter(|e| is_probe(e)).map(|e| e.1).collect();
    assert_eq!(probes, [1400, 1500]);
    assert_eq!(stats(&w, CLIENT, P0).mtu_probes, 2);
    let answers = log.iter().filter(|e| e.0 == SERVER).map(|e| e.1).max().expect("answers");
    assert!(answers < 400, "padding is not echoed: {answers} bytes");
    assert_eq!(stats(&w, SERVER, P0).mtu_probes, 0, "a side without data does not probe");
    let data = log.iter().filter(|e| e.2 == 0).map(|e| e.1).max().expect("data");
    assert!(data <= 1500, "{data}");
}

/// A message as long as the new size allows leaves in one packet.
#[test]
fn messages_fill_the_larger_packets() {
    let mut w = TestPair::new(&[20], live(), 2);
    w.wires[0].mtu = 1500;
    w.up();
    stream(&mut w, ms(1000), SendOptions::default());
    let longest = w.association(CLIENT).max_unfragmented();
    let log = logged(&mut w);
    w.send(CLIENT, pattern(0, longest), SendOptions::default());
    let data: Vec<usize> = log.lock().expect("one thread").iter().filter(|e| e.2 == 0).map(|e| e.1).collect();
    assert_eq!(data, [1500]);
}

/// Any size between the base and the maximum, with any SCTP peer. Lost probes are not congestion (§4.1): no loss is
/// counted, no timer expires, and all data packets arrive.
#[test]
fn lost_probes_cost_nothing_else() {
    for (mtu, reports) in [(1400, true), (1410, false), (1420, true), (1452, false), (1492, true)] {
        let other = TransportConfig { reports, mtu_discovery: None, ..TransportConfig::default() };
        let factory: SchemeFactory = Arc::new(|_| plain::simple());
        let mut w = TestPair::with(&[20], [live(), other], factory, 3);
        w.wires[0].mtu = mtu;
        w.up();
        stream(&mut w, ms(40_000), SendOptions::default());
        let found = path_mtu(&w, P0);
        assert!((mtu as u64 - 12..=mtu as u64).contains(&found), "{found} of {mtu}");
        let s = stats(&w, CLIENT, P0);
        assert_eq!(
            (s.timeouts, s.lost_fast, s.lost_timeout, s.retransmissions),
            (0, 0, 0, 0),
            "{mtu}: {s:?}"
        );
        assert_eq!((s.heartbeats_lost, s.down), (0, Duration::ZERO), "{mtu}");
        println!("{mtu}: {} probes", s.mtu_probes);
        assert!(s.mtu_probes <= 20, "{mtu}: {} probes", s.mtu_probes);
        w.run(ms(1000));
        assert_eq!(w.association(CLIENT).send_buffered(), 0);
    }
}

/// The MTU of the path falls below the packet size without a message. Data in flight cannot be cut again and may be
/// fragmented (RFC 9260 §6.9): everything arrives, and packets fit again.
#[test]
fn a_black_hole_is_left() {
    for seed in 0..4 {
        let mut w = TestPair::new(&[20], live(), seed);
        w.wires[0].mtu = 1500;
        w.up();
        stream(&mut w, ms(2000), SendOptions::default());
        w.wires[0].mtu = 1300;
        let (since, sent) = (w.now, w.apps[SERVER].messages.len());
        stream(&mut w, ms(1000), SendOptions::default());
        assert!(w.run_until(ms(9000), |w| w.apps[SERVER].messages.len() == sent + 4 * 50), "seed {seed}");
        println!("seed {seed}: all of it after {:?}", w.now - since);
        assert!(path_mtu(&w, P0) <= 1300, "seed {seed}");
        stream(&mut w, ms(40_000), SendOptions::default());
        assert!((1288..=1300).contains(&path_mtu(&w, P0)), "seed {seed}: {}", path_mtu(&w, P0));
        w.run(ms(1000));
        assert_eq!(w.association(CLIENT).send_buffered(), 0, "seed {seed}");
        w.association(CLIENT).assert_consistent();
    }
}

/// One of two paths shrinks: its data arrive by the other, so that no timer expires; the losses reveal it.
#[test]
fn losses_that_another_path_repairs_tell_of_a_black_hole_too() {
    for seed in 0..4 {
        let mut w = TestPair::new(&[20, 40], live(), seed);
        w.wires.iter_mut().for_each(|wire| wire.mtu = 1500);
        w.up();
        stream(&mut w, ms(3000), SendOptions::default());
        assert_eq!((path_mtu(&w, P0), path_mtu(&w, P1)), (1500, 1500), "seed {seed}");
        w.wires[0].mtu = 1250;
        stream(&mut w, ms(10_000), SendOptions::default());
        assert!(path_mtu(&w, P0) <= 1250, "seed {seed}: {}", path_mtu(&w, P0));
        assert_eq!(path_mtu(&w, P1), 1500, "seed {seed}");
        w.run(ms(2000));
        assert_eq!(w.association(CLIENT).send_buffered(), 0, "seed {seed}");
    }
}

/// If not even fragments pass, messages with a lifetime are given up, and the stream continues.
#[test]
fn a_live_stream_goes_on_after_a_black_hole() {
    let live_message = SendOptions { lifetime: Some(ms(500)), unordered: true, ..SendOptions::default() };
    let mut w = TestPair::new(&[20], live(), 5);
    w.wires[0].mtu = 1500;
    w.up();
    stream(&mut w, ms(2000), live_message);
    w.filter = Box::new(|_, from, _, bytes| from == SERVER || bytes.len() + 28 <= 1300);
    let since = w.now;
    let arrived = w.apps[SERVER].messages.len();
    stream(&mut w, ms(6000), live_message);
    let missing = 4 * 300 - (w.apps[SERVER].messages.len() - arrived);
    println!("{missing} of 1200 messages did not arrive in {:?}", w.now - since);
    let arrived = w.apps[SERVER].messages.len();
    stream(&mut w, ms(2000), live_message);
    w.run(ms(1000));
    assert_eq!(w.apps[SERVER].messages.len() - arrived, 400, "all of what was sent later");
}

/// A dead path is not a black hole: its packets have the same size when it returns.
#[test]
fn an_outage_changes_no_size() {
    let mut w = TestPair::new(&[20], live(), 6);
    w.wires[0].mtu = 1500;
    w.up();
    stream(&mut w, ms(2000), SendOptions::default());
    let probes = stats(&w, CLIENT, P0).mtu_probes;
    w.wires[0].up = [false; 2];
    stream(&mut w, ms(3000), SendOptions { lifetime: Some(ms(500)), ..SendOptions::default() });
    w.run(ms(20_000));
    assert!(stats(&w, CLIENT, P0).mtu_probes - probes <= 3, "{}", stats(&w, CLIENT, P0).mtu_probes);
    w.wires[0].up = [true; 2];
    w.run(ms(3000));
    stream(&mut w, ms(5000), SendOptions::default());
    assert_eq!(path_mtu(&w, P0), 1500);
    let shrunk = |e: &Event| matches!(e, Event::Path(_, PathChange::Mtu(mtu)) if *mtu < 1400);
    assert!(!w.apps[CLIENT].events.iter().any(shrunk), "{:?}", w.apps[CLIENT].events);
}

/// A probe that the interface refuses leaves in fragments as a last resort: its answer proves nothing.
#[test]
fn an_interface_that_refuses_a_probe_is_believed() {
    let mut w = TestPair::new(&[20], live(), 7);
    w.up();
    w.wires[0].interface_mtu = 1430;
    stream(&mut w, ms(30_000), SendOptions::default());
    let found = path_mtu(&w, P0);
    assert!((1418..=1430).contains(&found), "{found}");
    let tuple = w.wires[0].client_tuple(0);
    w.wires[0].interface_mtu = 1500;
    w.ends[CLIENT].handle_input(w.now, Input::Mtu { tuple, mtu: 1500 });
    stream(&mut w, ms(2000), SendOptions::default());
    assert_eq!(path_mtu(&w, P0), 1500, "it takes more now, as the driver says");
    w.ends[CLIENT].handle_input(w.now, Input::Mtu { tuple, mtu: 1280 });
    assert_eq!(path_mtu(&w, P0), 1280);
}

/// By default nothing is probed, and only the driver changes a path's MTU.
#[test]
fn without_discovery_nothing_is_probed() {
    let mut w = TestPair::new(&[20], config(), 8);
    w.wires[0].mtu = 1500;
    let log = logged(&mut w);
    w.up();
    stream(&mut w, ms(5000), SendOptions::default());
    assert!(!log.lock().expect("one thread").iter().any(is_probe));
    assert_eq!(path_mtu(&w, P0), 1400);
}

/// Symbols keep the agreed length: a message is no longer than they cover.
#[test]
fn messages_beside_repair_symbols_stay_coverable() {
    let coding =
        RepairCoding { code: RepairCode::Rlc, redundancy: 0.3, when: RepairWhen::Always, window: 32 };
    let client = TransportConfig { coding: Some(Coding::Repair(coding)), ..live() };
    let factory: SchemeFactory = Arc::new(|_| plain::simple());
    let mut w = TestPair::with(&[20], [client, live()], factory, 9);
    w.wires[0].mtu = 1500;
    w.up();
    let before = w.association(CLIENT).max_unfragmented();
    stream(&mut w, ms(2000), SendOptions::default());
    assert_eq!(path_mtu(&w, P0), 1500);
    assert_eq!(w.association(CLIENT).max_unfragmented(), before);
}

/// The searched size is that of IP packets, including the envelope: a message has that much less.
#[test]
fn an_envelope_counts() {
    for mtu in [1420, 1500] {
        let mut w = TestPair::sealed(&[20], live(), 10);
        w.wires[0].mtu = mtu;
        w.up();
        let before = w.association(CLIENT).max_unfragmented();
        assert_eq!(before, (1400 - 28 - 29) / 4 * 4 - 28, "with the size that paths begin with");
        stream(&mut w, ms(40_000), SendOptions::default());
        let (found, most) = (w.association(CLIENT).max_unfragmented(), (mtu - 28 - 29) / 4 * 4 - 28);
        assert!((most - 12..=most).contains(&found), "{found} of {most}");
        let s = stats(&w, CLIENT, P0);
        assert_eq!((s.timeouts, s.lost_fast, s.lost_timeout), (0, 0, 0), "{mtu}: {s:?}");
        w.run(ms(1000));
        assert_eq!(w.association(CLIENT).send_buffered(), 0);
    }
}
