//! Packets that overtake each other (RFC 8985 §6.2, RFC 4015), and acknowledgements that the peer delays (RFC 9260
//! §6.2).

use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{Limit, Parts, PathId, Policy, Signal, View};
use strandcast_proto::rfc;
use strandcast_proto::time::Duration;
use strandcast_testing::endpoints::{CLIENT, SERVER, TestPair, ms, pattern};
use strandcast_testing::plain;

const P0: PathId = PathId(0);

fn live() -> TransportConfig {
    TransportConfig { mtu_discovery: Some(1400), ..TransportConfig::live() }
}

/// Chunks of a spurious loss, and the limits to return to.
type Spurious = (u32, Option<Limit>);

/// The core's reports of spurious losses.
#[derive(Clone, Debug, Default)]
struct SpuriousRecorder(Arc<Mutex<Vec<Spurious>>>);

impl Policy for SpuriousRecorder {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        if let Signal::Spurious { chunks, before, .. } = signal {
            self.0.lock().unwrap().push((*chunks, *before));
        }
    }
}
impl strandcast_proto::policy::Feedback for SpuriousRecorder {}

/// RFC 9260's own policies, and their signals of spurious losses.
fn pair(delays_ms: &[u64], transport: TransportConfig, seed: u64) -> (TestPair, SpuriousRecorder) {
    let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
    let mut w = TestPair::with(delays_ms, [transport.clone(), transport], accept, seed);
    let heard = SpuriousRecorder::default();
    w.connect_with(Box::new(Parts { feedback: Box::new(heard.clone()), ..rfc::scheme() }));
    w.run(ms(3000));
    (w, heard)
}

/// Sends a message of 1000 bytes each `every` for a while. Returns the counters of the path.
fn stream(w: &mut TestPair, every: Duration, messages: usize) -> PathStats {
    for n in 0..messages {
        w.send(CLIENT, pattern(1000 * n, 1000), SendOptions { unordered: true, ..SendOptions::default() });
        w.run(every);
    }
    w.run(ms(1000));
    w.association(CLIENT).path_stats(P0).expect("the path is open").clone()
}

fn since(now: &PathStats, before: &PathStats) -> (u64, u64) {
    (now.chunks_sent - before.chunks_sent, now.retransmissions - before.retransmissions)
}

/// RFC 8985 §6.2 step 4: the reordering window adapts. After the path has shown the lateness of its packets, almost no
/// packet is sent again that arrives anyway.
#[test]
fn packets_that_overtake_each_other_are_not_sent_again() {
    for (seed, delay, jitter) in [(1, 20, 30), (2, 40, 60), (3, 40, 20), (4, 5, 40)] {
        let (mut w, _) = pair(&[delay], live(), seed);
        w.wires[0].jitter = ms(jitter);
        let before = stream(&mut w, ms(3), 1000);
        let after = stream(&mut w, ms(3), 3000);
        let (sent, again) = since(&after, &before);
        println!("seed {seed}, {delay} + U(0, {jitter}) ms: {again} of {sent} sent again");
        assert!(again * 200 <= sent, "seed {seed}: {again} of {sent} sent again");
        assert_eq!(w.apps[SERVER].messages.len(), 4000, "seed {seed}");
    }
}

/// A share of the packets is delayed, as by gaps that a Wi-Fi link fills later. The first of them show the time.
#[test]
fn packets_that_are_held_up_are_waited_for() {
    let (mut w, _) = pair(&[20], live(), 5);
    let mut run = |messages: usize| {
        for k in 0..messages {
            w.wires[0].delay = ms(if k % 10 == 9 { 35 } else { 20 });
            w.send(CLIENT, pattern(k, 1000), SendOptions { unordered: true, ..SendOptions::default() });
            w.run(ms(2));
        }
        w.run(ms(500));
        w.association(CLIENT).path_stats(P0).expect("the path is open").clone()
    };
    let first = run(300);
    let then = run(900);
    assert_eq!(since(&then, &first), (900, 0), "{first:?}");
    assert!(first.spurious_losses <= 2, "{first:?}");
}

/// RFC 9260 §7.2.4 applies unchanged if packets keep their order: the third miss indication reveals a loss.
#[test]
fn on_a_path_that_keeps_order_the_third_miss_decides() {
    let found = |transport: TransportConfig| {
        let (mut w, _) = pair(&[20], transport, 6);
        let mut n = 0;
        w.filter = Box::new(move |_, from, _, bytes| {
            let data = from == CLIENT && bytes.len() > 1000;
            n += u32::from(data);
            !(data && n == 100)
        });
        let began = w.now;
        let mut at = None;
        for k in 0..300usize {
            w.send(CLIENT, pattern(k, 1000), SendOptions::default());
            w.run(ms(2));
            let lost = w.association(CLIENT).path_stats(P0).unwrap().lost_fast;
            at = at.or((lost > 0).then_some(w.now - began));
        }
        at.expect("the loss is noticed")
    };
    let off = TransportConfig { reordering: false, ..live() };
    assert_eq!(found(live()), found(off));
}

/// RFC 4015 §3.2, with the third miss indications of RFC 9260 §7.2.4: a packet that four later ones overtake seems lost
/// and is sent again, the peer reports the duplicate (§3.3.4), and the window returns to its earlier value.
#[test]
fn a_window_that_was_cut_for_nothing_returns() {
    for reordering in [true, false] {
        let (mut w, heard) = pair(&[20], TransportConfig { reordering, ..live() }, 7);
        // The window opens.
        for k in 0..200usize {
            w.send(CLIENT, pattern(k, 1000), SendOptions::default());
        }
        assert!(w.run_until(ms(2000), |w| w.apps[SERVER].messages.len() == 200));
        let window = |w: &TestPair| w.association(CLIENT).paths()[0].limit;
        let before = window(&w);
        for k in 0..12usize {
            // The second one takes 30 ms more.
            w.wires[0].delay = ms(if k == 1 { 50 } else { 20 });
            w.send(CLIENT, pattern(k, 1000), SendOptions::default());
            w.run(ms(1));
        }
        w.run(ms(39));
        let stats = w.association(CLIENT).path_stats(P0).unwrap().clone();
        assert!(stats.lost_fast >= 1, "it seems lost: {stats:?}");
        assert!(window(&w).cwnd < before.cwnd, "and the window is cut");
        w.run(ms(200));
        let stats = w.association(CLIENT).path_stats(P0).unwrap().clone();
        if reordering {
            assert!(window(&w).cwnd >= before.cwnd, "{:?} after {before:?}", window(&w));
            assert_eq!(window(&w).ssthresh, before.ssthresh);
            assert_eq!((stats.spurious_losses, stats.loss()), (stats.lost_fast, 0.0));
            let heard = heard.0.lock().unwrap();
            assert!(heard.iter().any(|(_, limit)| limit.is_some_and(|l| l.cwnd == before.cwnd)), "{heard:?}");
        } else {
            assert!(window(&w).cwnd < before.cwnd, "{:?} after {before:?}", window(&w));
            assert_eq!((stats.spurious_losses, heard.0.lock().unwrap().len()), (0, 0));
        }
    }
}

/// RFC 5682 and RFC 4015: the path holds all packets for longer than a timeout and then delivers them.
#[test]
fn a_window_that_a_spurious_timeout_cut_returns() {
    let (mut w, heard) = pair(&[20], live(), 8);
    for k in 0..200usize {
        w.send(CLIENT, pattern(k, 1000), SendOptions::default());
    }
    w.run(ms(2000));
    w.wires[0].delay = ms(700);
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    let before = w.association(CLIENT).paths()[0].limit;
    for k in 0..8usize {
        w.send(CLIENT, pattern(k, 1000), SendOptions::default());
    }
    w.run(ms(500));
    let stats = |w: &TestPair| w.association(CLIENT).path_stats(P0).unwrap().clone();
    assert!(stats(&w).timeouts > 0, "T3-rtx expires");
    assert!(w.association(CLIENT).paths()[0].limit.cwnd < before.cwnd);
    assert!(w.run_until(ms(2000), |w| stats(w).spurious_timeouts > 0), "{:?}", stats(&w));
    let after = w.association(CLIENT).paths()[0].limit;
    assert!(after.cwnd >= before.cwnd && after.ssthresh >= before.ssthresh, "{after:?} after {before:?}");
    assert_eq!(heard.0.lock().unwrap().last().and_then(|(_, limit)| *limit), Some(before));
}

/// RFC 9260 §6.2: the delay that the peer's SACK.Delay adds to the round-trip time of a lone packet does not count as
/// the path's.
#[test]
fn held_acknowledgements_are_not_the_paths_round_trip() {
    let srtt = |ack_delays: bool| {
        let (mut w, _) = pair(&[1], TransportConfig { ack_delays, ..live() }, 9);
        for k in 0..30usize {
            w.send(CLIENT, pattern(k, 1), SendOptions::default());
            w.run(ms(200));
            if k % 5 == 0 {
                for j in 0..20usize {
                    w.send(CLIENT, pattern(j, 1000), SendOptions::default());
                }
                w.run(ms(200));
            }
        }
        w.association(CLIENT).paths()[0].srtt.expect("it was measured")
    };
    assert!(srtt(true) <= ms(3), "{:?}", srtt(true));
    assert!(srtt(false) >= ms(8), "{:?}", srtt(false));
}

/// Delays of acknowledgements from reports of arrivals, and the maximum delay.
#[derive(Clone, Debug, Default)]
struct HeldRecorder(Arc<Mutex<Vec<(Duration, Duration)>>>);

impl Policy for HeldRecorder {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if let Signal::Acked(ack) = signal {
            self.0.lock().unwrap().push((ack.held, view[ack.path].ack_delay));
        }
    }

    fn hears_arrivals(&self) -> bool {
        true
    }
}
impl strandcast_proto::policy::Feedback for HeldRecorder {}

/// RFC 9260 §6.2: no acknowledgement is delayed for longer than SACK.Delay. If a packet arrived by the quick path long
/// before a SACK left, it was not delayed for that time: earlier SACKs were lost, or the report is wrong.
#[test]
fn no_acknowledgement_is_held_for_longer_than_the_delay() {
    let transport = TransportConfig { tail_probes: false, ..live() };
    let accept: SchemeFactory = Arc::new(|_| plain::simple());
    let mut w = TestPair::with(&[1, 60], [transport.clone(), transport], accept, 9);
    let heard = HeldRecorder::default();
    w.connect_with(Box::new(Parts { feedback: Box::new(heard.clone()), ..plain::parts(48_000) }));
    w.run(ms(3000));
    for n in 0..20usize {
        w.wires[0].up[SERVER] = false;
        for _ in 0..4 {
            w.send(
                CLIENT,
                pattern(1000 * n, 1000),
                SendOptions { unordered: true, ..SendOptions::default() },
            );
        }
        w.run(ms(100));
        w.wires[0].up[SERVER] = true;
        w.run(ms(1000));
    }
    let heard = heard.0.lock().unwrap();
    assert!(heard.iter().any(|(held, delay)| held == delay), "some may have been held: {heard:?}");
    assert!(heard.iter().all(|(held, delay)| held <= delay), "{heard:?}");
}

/// Losses among packets that overtake each other are repaired, each at most once after the window has passed.
#[test]
fn what_is_lost_among_overtaking_packets_arrives() {
    for seed in 0..20 {
        let (mut w, _) = pair(&[30], live(), seed);
        (w.wires[0].jitter, w.wires[0].loss) = (ms(30), 0.02);
        stream(&mut w, ms(20), 1000);
        let all = w.run_until(ms(60_000), |w| w.apps[SERVER].messages.len() == 1000);
        assert!(all, "seed {seed}: replay with pair(&[30], live(), {seed})");
    }
}
