//! Paths that fail, in one direction or both, and return.

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::PathState;
use strandcast_proto::time::{Duration, Instant};
use strandcast_testing::endpoints::*;

/// Potentially failed after one error, and probes of failed paths every second: the needs of concurrent transfer.
fn quick() -> TransportConfig {
    TransportConfig { pf_max_retrans: Some(0), failed_probe_interval: Some(ms(1000)), ..config() }
}

/// Sends a message every 10 ms for 20 s over two wires. The first wire is dead from 5 s to 12 s. `dead` says in which
/// directions: towards the server, and back. Returns the longest gap between deliveries, and the time from the return
/// of the wire to the next data on it.
fn outage(dead: [bool; 2]) -> (Duration, Duration) {
    let mut w = TestPair::new(&[15, 40], quick(), 3);
    w.up();
    let begin = w.now;
    let (from, to) = (begin + ms(5000), begin + ms(12_000));
    let mut deliveries: Vec<Instant> = Vec::new();
    for i in 0..2000 {
        let on = !(from..to).contains(&w.now);
        w.wires[0].up = [on || !dead[0], on || !dead[1]];
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
        let before = w.apps[SERVER].messages.len();
        w.run(ms(10));
        if w.apps[SERVER].messages.len() > before {
            deliveries.push(w.now);
        }
    }
    w.run(ms(5000));
    assert_eq!(w.received(SERVER), pattern(0, 2_000_000), "{:?}", w.association(CLIENT).stats());
    let gap = deliveries.windows(2).map(|d| d[1] - d[0]).max().unwrap();
    let back = w.data_log.iter().find(|(at, from, n)| *at >= to && *from == CLIENT && *n == 0);
    (gap, back.map_or(Duration::MAX, |(at, ..)| *at - to))
}

#[test]
fn black_holes_stall_delivery_for_less_than_1_5_s_and_are_left_within_3_s() {
    for dead in [[true, false], [false, true], [true, true]] {
        let (gap, back) = outage(dead);
        assert!(gap <= ms(1500), "{dead:?}: stalled for {gap:?}");
        assert!(back <= ms(3000), "{dead:?}: data again after {back:?}");
    }
}

/// An interval below the round-trip time neither floods a path that is dead nor keeps one down that answers.
#[test]
fn failed_paths_are_probed_no_faster_than_they_answer() {
    let hasty = TransportConfig { failed_probe_interval: Some(ms(2)), ..quick() };
    let mut w = TestPair::new(&[60, 20], hasty, 3);
    w.up();
    let stream = |w: &mut TestPair, n: usize| {
        for _ in 0..n {
            w.send(CLIENT, pattern(0, 1000), SendOptions::default());
            w.run(ms(10));
        }
    };
    stream(&mut w, 300);
    w.wires[0].up = [false; 2];
    stream(&mut w, 1000);
    assert_ne!(w.states(CLIENT)[0], PathState::Active);
    let lost = w.association(CLIENT).path_stats(P0).unwrap().heartbeats_lost;
    assert!(lost <= 2 * 10_000 / 120, "{lost} probes in 10 s, 120 ms round trip");
    w.wires[0].up = [true; 2];
    stream(&mut w, 100);
    assert_eq!(w.states(CLIENT), [PathState::Active; 2]);
}

/// RFC 9260 §8.2 with the default parameters: RTO 1 s, so INACTIVE with the sixth timeout, after 1+2+4+8+16+32 s.
#[test]
fn a_path_is_inactive_after_path_max_retrans_errors() {
    let mut w = TestPair::new(&[15, 40], config(), 3);
    w.up();
    w.wires[0].up = [false; 2];
    let mut gone = None;
    for i in 0..9000 {
        w.send(CLIENT, pattern(i, 100), SendOptions::default());
        w.run(ms(10));
        if w.states(CLIENT)[0] == PathState::Inactive {
            gone = Some(w.now);
            break;
        }
    }
    assert!(gone.is_some(), "{:?}", w.states(CLIENT));
    let errors = w.association(CLIENT).paths()[0].error_count;
    assert_eq!(errors, 6);
}

/// The NAT on the only path drops its mapping: the path continues from the new address, and nothing is lost.
#[test]
fn a_path_survives_a_new_outside_address() {
    let mut w = TestPair::new(&[15], config(), 3);
    w.up();
    for i in 0..1000 {
        if i == 300 {
            w.wires[0].outside.set_port(50_001);
        }
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
        w.run(ms(10));
    }
    w.run(ms(5000));
    assert_eq!(w.received(SERVER), pattern(0, 1_000_000), "{:?}", w.association(SERVER).stats());
    assert_eq!(w.states(SERVER), [PathState::Active]);
    assert_eq!(w.association(SERVER).tuple(P0).unwrap().remote, w.wires[0].outside);
}

/// A path may fail while it is suspended. Once it is resumed, its state is that of a new path until the peer has
/// answered on it: it carries no data, and one that does not answer is probed and not closed.
#[test]
fn a_resumed_path_carries_data_once_it_has_answered() {
    for transport in [TransportConfig { proves_resumed: true, ..quick() }, TransportConfig::live()] {
        let mut w = TestPair::new(&[15, 40], transport, 3);
        w.up();
        let id = w.apps[CLIENT].id.expect("an association");
        let stream = |w: &mut TestPair, n: usize| {
            let before = w.data_log.len();
            for _ in 0..n {
                w.send(CLIENT, pattern(0, 1000), SendOptions::default());
                w.run(ms(10));
            }
            w.data_log[before..].iter().any(|(_, from, wire)| (*from, *wire) == (CLIENT, 0))
        };
        let suspend = |w: &mut TestPair| {
            let now = w.now;
            w.ends[CLIENT].with(id, |a| a.suspend_path(now, P0, true)).expect("a path");
            w.run(ms(1000));
            assert!(!stream(w, 100), "it is suspended");
        };
        let resume = |w: &mut TestPair| {
            let now = w.now;
            w.ends[CLIENT].with(id, |a| a.suspend_path(now, P0, false)).expect("a path");
            w.pump();
            assert_eq!(w.states(CLIENT)[0], PathState::Unconfirmed);
        };
        suspend(&mut w);
        w.wires[0].up = [false; 2];
        resume(&mut w);
        assert!(!stream(&mut w, 6000), "it is dead");
        assert!(
            matches!(w.states(CLIENT)[0], PathState::PotentiallyFailed | PathState::Inactive),
            "{:?}",
            w.states(CLIENT)
        );
        w.wires[0].up = [true; 2];
        assert!(stream(&mut w, 3000), "it answers: {:?}", w.states(CLIENT));
        assert_eq!(w.states(CLIENT), [PathState::Active; 2]);

        suspend(&mut w);
        resume(&mut w);
        // The round trip of the first wire.
        w.run(ms(29));
        assert_eq!(w.states(CLIENT)[0], PathState::Unconfirmed);
        w.run(ms(20));
        assert_eq!(w.states(CLIENT)[0], PathState::Active);
        assert!(stream(&mut w, 300));
    }
}
