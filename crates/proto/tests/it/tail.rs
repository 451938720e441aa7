//! Tail probes, and spurious timeouts (`TransportConfig::live`).

use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::PathState;
use strandcast_proto::time::{Duration, Instant};
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// As the presets for several paths do.
fn live() -> TransportConfig {
    TransportConfig {
        pf_max_retrans: Some(0),
        failed_probe_interval: Some(ms(500)),
        // Packets keep the size in which windows count and by which the bounds below were found; probes leave all the same.
        mtu_discovery: Some(1400),
        ..TransportConfig::live()
    }
}

/// Four messages every 20 ms.
fn stream(w: &mut TestPair, rounds: usize) {
    for _ in 0..rounds {
        for _ in 0..4 {
            w.send(CLIENT, pattern(0, 1000), SendOptions::default());
        }
        w.run(ms(20));
    }
}

fn delivered(w: &TestPair) -> usize {
    w.apps[SERVER].messages.len()
}

/// RFC 8985 §7: the last packets of a flight are lost, and nothing follows them. The probe leaves after two round
/// trips, and the peer's delay if it may wait for more. The losses that it reveals are sent again at once: no timeout.
#[test]
fn lost_tails_are_sent_again_without_a_timeout() {
    for lost in 1..=8 {
        let mut w = TestPair::new(&[30], live(), 5);
        w.up();
        stream(&mut w, 50);
        w.run(ms(500));
        let before = delivered(&w);
        for n in 0..10 {
            w.wires[0].up[CLIENT] = n < 10 - lost;
            w.send(CLIENT, pattern(0, 1000), SendOptions::default());
        }
        w.wires[0].up[CLIENT] = true;
        let from = w.now;
        assert!(w.run_until(ms(3000), |w| delivered(w) == before + 10), "{lost} lost");
        // A round trip to the last acknowledgement, 25 ms more if a packet is alone; two and 25 ms to the probe; one more and
        // one way for the rest.
        println!("{lost} lost: {:?}", w.now - from);
        // Max.Burst: four more at once.
        let rounds = if lost > 5 { 60 } else { 0 };
        assert!(w.now - from <= ms(325 + rounds), "{lost} lost: {:?}", w.now - from);
        let stats = w.association(CLIENT).path_stats(P0).unwrap();
        assert_eq!((stats.timeouts, stats.tail_probes), (0, 1), "{lost} lost: {stats:?}");
    }
}

/// Nothing is sent twice on clean paths, with jitter and with pauses.
#[test]
fn clean_paths_see_no_needless_probes() {
    for (seed, jitter) in [(1, 0), (2, 5), (3, 15), (4, 30)] {
        let mut w = TestPair::new(&[10, 40], live(), seed);
        for wire in &mut w.wires {
            wire.jitter = ms(jitter);
        }
        w.up();
        for round in 0..200 {
            stream(&mut w, 20);
            w.run(ms(7 * (round % 40)));
        }
        let a = w.association(CLIENT);
        let [sent, again] =
            [P0, P1].map(|p| a.path_stats(p).unwrap()).iter().fold([0, 0], |[n, again], s| {
                assert_eq!(s.timeouts, 0, "jitter {jitter}");
                [n + s.chunks_sent, again + s.retransmissions]
            });
        println!("jitter {jitter} ms: {again} of {sent} chunks sent again");
        assert!(again * 200 <= sent, "jitter {jitter}: {again} of {sent} sent again");
    }
}

/// RFC 8985 §7.2: with one packet in flight the probe waits for the peer's delay as well, be the packet full or not.
#[test]
fn a_packet_alone_is_not_probed_while_its_acknowledgement_may_be_delayed() {
    for full in [false, true] {
        let mut w = TestPair::new(&[5], live(), 3);
        w.up();
        stream(&mut w, 50);
        let len = if full { w.association(CLIENT).paths()[0].mtu as usize - 16 } else { 100 };
        for n in 0..100 {
            w.send(CLIENT, pattern(n, len), SendOptions::default());
            w.run(ms(200));
        }
        let stats = w.association(CLIENT).path_stats(P0).unwrap();
        assert_eq!((stats.tail_probes, stats.timeouts), (0, 0), "{len} bytes: {stats:?}");
    }
}

/// The link holds everything for a while and then delivers it: nothing was lost, and the timeout is recognized as
/// spurious afterwards, whether SACKs end with even or odd packets of the bursts. Later chunks arrive no sooner than
/// earlier ones, and no probe may precede them.
#[test]
fn a_stall_of_the_link_is_no_loss() {
    let stalls = [(150, 1), (300, 8), (600, 16), (1000, 16)];
    for (odd, (stall, most)) in [true, false].into_iter().flat_map(|odd| stalls.map(|stall| (odd, stall))) {
        let mut w = TestPair::new(&[30], live(), 5);
        w.connect_with(Box::new(strandcast_proto::rfc::scheme()));
        w.run(ms(1000));
        if !odd {
            // The first packet of all is acknowledged by itself.
            w.send(CLIENT, pattern(0, 1000), SendOptions::default());
            w.run(ms(100));
        }
        stream(&mut w, 100);
        let before = w.association(CLIENT).path_stats(P0).unwrap().clone();
        for i in 0..stall / 20 {
            w.wires[0].delay = ms(30 + stall - i * 20);
            stream(&mut w, 1);
        }
        w.wires[0].delay = ms(30);
        stream(&mut w, 100);
        w.run(ms(2000));
        let stats = w.association(CLIENT).path_stats(P0).unwrap();
        let again = stats.retransmissions - before.retransmissions;
        println!(
            "stall {stall} ms, odd {odd}: {again} sent again, {} timeouts",
            stats.timeouts - before.timeouts
        );
        assert!(again <= most, "stall {stall} ms, odd {odd}: {again} chunks sent again, {stats:?}");
        assert_eq!(w.states(CLIENT), [PathState::Active]);
    }
}

/// Data that leave after a timeout may also be lost: on a path that still counts as active they have a probe of their
/// own, two round trips and the peer's delay later, and do not wait for the doubled timeout.
#[test]
fn what_is_sent_after_a_timeout_is_probed_again() {
    let mut w = TestPair::new(&[30], TransportConfig { pf_max_retrans: None, ..live() }, 5);
    w.up();
    stream(&mut w, 50);
    w.run(ms(500));
    let before = delivered(&w);
    let stats = |w: &TestPair| w.association(CLIENT).path_stats(P0).unwrap().clone();
    w.wires[0].up[CLIENT] = false;
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    assert!(w.run_until(ms(3000), |w| stats(w).timeouts == 1), "{:?}", stats(&w));
    w.run(ms(1));
    w.wires[0].up[CLIENT] = true;
    let (from, backed_off) = (w.now, w.association(CLIENT).paths()[0].rto);
    assert_eq!((delivered(&w), stats(&w).tail_probes), (before, 1), "it was sent again, and lost again");
    assert!(w.run_until(ms(3000), |w| delivered(w) > before));
    assert!(backed_off >= ms(400) && w.now - from <= ms(200), "{:?} of {backed_off:?}", w.now - from);
    assert_eq!((stats(&w).timeouts, stats(&w).tail_probes), (1, 2));
}

/// The longest time without a delivery after `change` of a stream over two wires.
fn longest_gap(
    seed: u64,
    latency: Option<Duration>,
    change: impl Fn(&mut TestPair),
) -> (Duration, usize, TestPair) {
    let mut w = TestPair::new(&[10, 40], live(), seed);
    w.up();
    let mut sent = 0;
    let mut last: Option<Instant> = None;
    let mut gap = Duration::ZERO;
    for i in 0..600 {
        if i == 200 + seed as usize {
            change(&mut w);
        }
        let options = SendOptions { lifetime: latency, ..SendOptions::default() };
        w.send(CLIENT, pattern(0, 1000), options);
        sent += 1;
        let before = delivered(&w);
        w.run(ms(10));
        if delivered(&w) > before {
            gap = gap.max(last.map_or(Duration::ZERO, |at| w.now - at));
            last = Some(w.now);
        }
    }
    w.run(ms(3000));
    (gap, sent - delivered(&w), w)
}

#[test]
fn a_dead_path_holds_delivery_up_for_less_than_0_3_s() {
    for seed in 0..10 {
        for wire in 0..2 {
            for dead in [[false, false], [false, true], [true, false]] {
                let (gap, missing, _) = longest_gap(seed, None, |w| w.wires[wire].up = dead);
                assert_eq!(missing, 0);
                assert!(gap <= ms(300), "seed {seed}, wire {wire} {dead:?}: {gap:?}");
            }
        }
    }
}

/// If there is another path, silence counts from the time at which the next chunk to be acknowledged left: it is sent
/// again by the other path one and a half round trips later, without the peer's delay while two packets are in flight
/// (RFC 8985 §7.2).
#[test]
fn a_dead_path_is_probed_one_and_a_half_round_trips_after_its_next_chunk_left() {
    let mut w = TestPair::new(&[50, 50], live(), 3);
    w.up();
    let probes = |w: &TestPair| [P0, P1].map(|p| w.association(CLIENT).path_stats(p).unwrap().tail_probes);
    let step = |w: &mut TestPair| {
        w.send(CLIENT, pattern(0, 1000), SendOptions::default());
        w.run(ms(2));
    };
    (0..1500).for_each(|_| step(&mut w));
    let before = probes(&w);
    w.wires[0].up = [false; 2];
    let from = w.now;
    while probes(&w) == before && w.now - from < ms(1000) {
        step(&mut w);
    }
    let waited = w.now - from;
    println!("probed after {waited:?}");
    assert!((ms(150)..ms(165)).contains(&waited), "{waited:?}");
}

/// A NAT on one way gives out another port, or another address: the other path carries on, a live stream of 1 s loses
/// nothing, and the path comes back.
#[test]
fn rebinding_one_path_stalls_nothing() {
    for seed in 0..10 {
        for wire in 0..2 {
            let (gap, missing, w) = longest_gap(seed, Some(ms(1000)), |w| {
                w.wires[wire].outside = "198.51.100.77:51000".parse().unwrap();
            });
            assert_eq!(missing, 0, "seed {seed}, wire {wire}");
            assert!(gap <= ms(300), "seed {seed}, wire {wire}: {gap:?}");
            assert_eq!(w.states(CLIENT), [PathState::Active; 2], "seed {seed}, wire {wire}");
            assert!(!w.apps[CLIENT].events.iter().any(|e| matches!(e, Event::Closed(_))));
        }
    }
}

/// RTO.Min is RFC 9260's second towards others, and 200 ms between two Strandcast peers.
#[test]
fn timeouts_are_short_between_strandcast_peers_only() {
    for (reports, least) in [(true, 200), (false, 1000)] {
        let other = TransportConfig { reports, ..TransportConfig::default() };
        let accept = std::sync::Arc::new(|_: &_| plain::simple());
        let mut w = TestPair::with(&[10], [live(), other], accept, 1);
        w.up();
        stream(&mut w, 20);
        assert_eq!(w.association(CLIENT).paths()[0].rto, ms(least));
    }
}

/// A closed window is probed at each timeout, and answered: no path becomes potentially failed because of it.
#[test]
fn a_window_that_stays_closed_is_no_failure_of_a_path() {
    for seed in 0..10 {
        let mut w = TestPair::new(&[10, 40], TransportConfig { buffer_limit: None, ..live() }, seed);
        w.up();
        w.apps[SERVER].lazy = true;
        let id = w.apps[CLIENT].id.unwrap();
        while w.ends[CLIENT].send(w.now, id, pattern(0, 1000).into(), SendOptions::default()).is_ok() {
            w.pump();
            w.run(ms(1));
        }
        w.run(ms(30_000));
        assert_eq!(w.states(CLIENT), [PathState::Active; 2], "seed {seed}");
        for path in [P0, P1] {
            let stats = w.association(CLIENT).path_stats(path).unwrap();
            assert_eq!(stats.down, ms(0), "seed {seed}: {stats:?}");
        }
    }
}
