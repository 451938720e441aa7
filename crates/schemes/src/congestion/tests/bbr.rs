//! Statements of draft-ietf-ccwg-bbr-06 about BBR, in its words, over a bottleneck of 20 Mbit/s and 50 ms unless a
//! test has another: a product of 125 packets.

use strandcast_proto::policy::fixture::MTU;
use strandcast_proto::time::Duration;

use super::bottleneck::Bottleneck;
use super::play::near;
use crate::congestion::{WindowSetup, congestion};

const RATE: f64 = 2_500_000.0;
const RTT: Duration = Duration::from_millis(50);
const BDP: f64 = 125_000.0;
const STATES: [&str; 7] = ["startup", "drain", "down", "cruise", "refill", "up", "probe-rtt"];

fn net(spec: &str, queue: f64) -> Bottleneck {
    let mut net = Bottleneck::new(RATE, RTT, queue);
    join(&mut net, spec);
    net
}

fn join(net: &mut Bottleneck, spec: &str) {
    let setup = WindowSetup { initial_window_bytes: 10 * MTU, initial_ssthresh_bytes: None };
    net.join(congestion(spec, setup).expect("a spec of this test"));
}

fn state(net: &Bottleneck, flow: usize) -> &'static str {
    STATES[net.flows[flow].gauge("bbr_state").expect("version 3 has states") as usize]
}

/// The share of 20 Mbit/s that a spec has at this random loss, after 10 s.
fn share_at(spec: &str, loss: f64) -> f64 {
    let mut net = net(spec, BDP);
    net.loss = loss;
    net.run(MS(10_000));
    let before = net.flows[0].delivered;
    net.run(MS(40_000));
    net.share(0, before, MS(40_000))
}

/// The guard's trial: losses that stay at 85 % of the rate are the path's.
#[test]
fn the_guard_forgives_random_losses() {
    for (loss, least) in [(0.01, 0.9), (0.05, 0.45)] {
        let share = share_at("delay-guard", loss);
        assert!(share >= least, "{share} of the link at a loss of {loss}");
    }
}

/// The guard stays below its target though the queue has room for eight products.
#[test]
fn the_guard_keeps_its_target() {
    let mut net = net("delay-guard", 8.0 * BDP);
    net.run(MS(3000));
    let before = net.flows[0].delivered;
    net.flows[0].queued.clear();
    net.run(MS(30_000));
    let mut queued = net.flows[0].queued.clone();
    queued.sort_by(f64::total_cmp);
    let (p95, share) = (queued[queued.len() * 95 / 100], net.share(0, before, MS(30_000)));
    assert!(p95 <= 0.060 && share >= 0.93, "95 % below {p95} s, {share} of the link");
}

/// The guard takes the higher target while another sender fills the queue, and the lower one again when that sender
/// is gone.
#[test]
fn the_guard_competes_while_others_fill_the_queue() {
    let mut net = net("delay-guard", 4.0 * BDP);
    net.run(MS(5000));
    assert_eq!(net.flows[0].gauge("guard_competes"), Some(0.0));
    join(&mut net, "cubic");
    let mut competed = 0;
    for _ in 0..30_000 {
        net.run(MS(1));
        competed += u32::from(net.flows[0].gauge("guard_competes") == Some(1.0));
    }
    assert!(competed >= 15_000, "{competed} ms of 30 s");
    let before = net.flows[0].delivered;
    net.run(MS(30_000));
    assert!(net.share(0, before, MS(30_000)) >= 0.2, "it keeps a share");
    net.flows[1].backlog = 0;
    net.run(MS(10_000));
    assert_eq!(net.flows[0].gauge("guard_competes"), Some(0.0));
}

const MS: fn(u64) -> Duration = Duration::from_millis;

/// States in the order in which they were seen, looked at each millisecond, with the time in each.
fn history(net: &mut Bottleneck, ms: u64) -> Vec<(&'static str, u64)> {
    let mut seen: Vec<(&'static str, u64)> = Vec::new();
    for _ in 0..ms {
        net.run(MS(1));
        let now = state(net, 0);
        match seen.last_mut().filter(|last| last.0 == now) {
            Some(last) => last.1 += 1,
            None => seen.push((now, 1)),
        }
    }
    seen
}

/// §5.3.1.1: in Startup the rate doubles each round trip. §5.3.1.2: it ends when three rounds did not bring a quarter
/// more. §5.3.2: Drain, at half the rate, ends when no more than a product is in flight.
#[test]
fn startup_ends_by_a_plateau_and_drain_empties_the_queue() {
    let mut net = net("bbr", 4.0 * BDP);
    let first = net.flows[0].cwnd();
    net.run(MS(51));
    near(net.flows[0].pacing(), 2.77 * first / 0.05, 0.02 * 2.77 * first / 0.05);
    let seen = history(&mut net, 1000);
    let names: Vec<_> = seen.iter().map(|s| s.0).collect();
    assert_eq!(
        names,
        ["startup", "drain", "cruise"],
        "DOWN is over at once, as the queue is empty: {seen:?}"
    );
    // 10 packets to 125 by doubling is four rounds; three more without growth, and those that fill the queue.
    assert!((350..=700).contains(&seen[0].1), "{seen:?}");
    assert!(seen[1].1 <= 200, "{seen:?}");
    let bandwidth = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known") / 8.0;
    near(bandwidth, RATE, 0.03 * RATE);
    assert_eq!(net.flows[0].lost, 0);
}

/// §5.3.1.3: six ranges lost in a round trip, and more than 2 %, end Startup; the bound is then what was delivered.
#[test]
fn startup_ends_by_losses() {
    let mut net = net("bbr", 0.3 * BDP);
    let seen = history(&mut net, 600);
    assert!(seen[0].1 <= 500, "{seen:?}");
    assert!(net.flows[0].lost >= 6, "{}", net.flows[0].lost);
    let bound = net.flows[0].gauge("bbr_inflight_longterm_bytes").expect("losses set it");
    assert!((0.5 * BDP..1.6 * BDP).contains(&bound), "{bound}");
}

/// §5.3.3: DOWN, CRUISE, REFILL, UP, and so on; a probe each 2 to 3 s or 63 round trips, REFILL for one round trip.
#[test]
fn probing_goes_round() {
    let mut net = net("bbr", 4.0 * BDP);
    net.run(MS(1500));
    let seen = history(&mut net, 20_000);
    let cycle: Vec<_> = seen.iter().filter(|s| s.0 != "probe-rtt").copied().collect();
    let ups = cycle.iter().filter(|s| s.0 == "up").count();
    // ProbeRTT begins a new wait.
    assert!((4..=9).contains(&ups), "{ups} probes in 20 s: {seen:?}");
    for pair in seen.windows(2) {
        let next = match pair[0].0 {
            "down" => &["cruise", "refill", "probe-rtt"][..],
            "cruise" => &["refill", "probe-rtt"],
            "refill" => &["up", "probe-rtt"],
            "up" => &["down", "probe-rtt"],
            _ => &["cruise"],
        };
        assert!(next.contains(&pair[1].0), "{pair:?}");
    }
    let refills = cycle.iter().filter(|s| s.0 == "refill").map(|s| s.1);
    assert!(refills.clone().all(|ms| (45..=90).contains(&ms)), "{:?}", refills.collect::<Vec<_>>());
}

/// §5.6.1: the gains of each state, and a margin of 1 % (§5.6.2).
#[test]
fn each_state_has_its_gain() {
    let mut net = net("bbr", 4.0 * BDP);
    net.run(MS(1500));
    for _ in 0..10_000 {
        net.run(MS(1));
        let gain = match state(&net, 0) {
            "down" => 0.9,
            "up" => 1.25,
            _ => 1.0,
        };
        let bandwidth = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known") / 8.0;
        near(net.flows[0].pacing(), gain * 0.99 * bandwidth, 1e-6 * bandwidth);
    }
}

/// §5.3.4: after 5 s without a lower round-trip time half a product in flight for 200 ms and a round trip.
#[test]
fn probe_rtt_each_five_seconds() {
    let mut net = net("bbr", 4.0 * BDP);
    net.run(MS(1000));
    let seen = history(&mut net, 20_000);
    let probes: Vec<_> = seen.iter().filter(|s| s.0 == "probe-rtt").collect();
    assert!((2..=4).contains(&probes.len()), "{seen:?}");
    assert!(probes.iter().all(|p| (200..=420).contains(&p.1)), "{probes:?}");
    near(net.flows[0].gauge("bbr_min_rtt_ms").expect("it is known"), 50.4, 0.3);
}

/// §5.3.4.2: ProbeRTT costs about 2 %, and the margin 1 %. The queue is empty most of the time; UP, three round trips
/// at 1.25 times the rate, fills it to a product at most (§3.2: the objective is one and a half).
#[test]
fn the_steady_state_uses_the_link_with_a_short_queue() {
    let mut net = net("bbr", 8.0 * BDP);
    net.run(MS(3000));
    let before = net.flows[0].delivered;
    net.flows[0].queued.clear();
    net.run(MS(30_000));
    let share = net.share(0, before, MS(30_000));
    assert!(share >= 0.95, "{share}");
    let mut queued = net.flows[0].queued.clone();
    queued.sort_by(f64::total_cmp);
    let (median, most) = (queued[queued.len() / 2], queued[queued.len() - 1]);
    assert!(median <= 0.005 && most <= RTT.as_secs_f64(), "median {median} s, most {most} s");
    assert_eq!(net.flows[0].lost, 0);
}

/// Random losses of 1 % of 30 Mbit/s. §5.3.3.8.3: while cruising each round trip with losses takes its share of the
/// rate, and the next probe brings it back; the more round trips lie between probes, the more is missing.
#[test]
fn random_losses_leave_most_of_the_link() {
    let mut net = Bottleneck::new(30e6 / 8.0, MS(20), BDP);
    net.loss = 0.01;
    join(&mut net, "bbr");
    net.run(MS(5000));
    let before = net.flows[0].delivered;
    net.run(MS(40_000));
    let share = net.share(0, before, MS(40_000));
    assert!(share >= 0.8, "{share}");
}

/// §5.5.10.2: more than 2 % lost while probing bounds what is in flight, no lower than β of the product; §5.5.10.3:
/// while cruising a round with losses leaves what was delivered, or β.
#[test]
fn a_short_queue_bounds_what_is_in_flight() {
    let mut net = net("bbr", 0.1 * BDP);
    net.run(MS(10_000));
    let bound = net.flows[0].gauge("bbr_inflight_longterm_bytes").expect("losses set it");
    assert!((0.7 * BDP..1.4 * BDP).contains(&bound), "{bound}");
    let (before, lost) = (net.flows[0].delivered, net.flows[0].lost);
    net.run(MS(20_000));
    let share = net.share(0, before, MS(20_000));
    let losses = (net.flows[0].lost - lost) as f64 / (net.flows[0].delivered - before) as f64;
    assert!(share >= 0.85 && losses <= 0.02, "{share} of the link, {losses} lost");
}

/// §5.5.10.3: LossLowerBounds. When the link halves, losses while cruising take the rate down within a few round trips,
/// by no more than β each.
#[test]
fn losses_while_cruising_follow_a_link_that_halves() {
    let mut net = net("bbr", 0.5 * BDP);
    net.run(MS(4000));
    while state(&net, 0) != "cruise" {
        net.run(MS(1));
    }
    let before = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known");
    net.rate = RATE / 2.0;
    net.run(MS(800));
    let after = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known");
    assert!(after < 0.75 * before, "{before} to {after}");
    net.run(MS(10_000));
    let later = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known") / 8.0;
    near(later, RATE / 2.0, 0.1 * RATE / 2.0);
}

/// §5.3.3.5: a link that doubles is found by probing, which raises the rate by a quarter a probe at least.
#[test]
fn a_link_that_doubles_is_found() {
    let mut net = net("bbr", 4.0 * BDP);
    net.run(MS(5000));
    net.rate = 2.0 * RATE;
    net.run(MS(15_000));
    let bandwidth = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known") / 8.0;
    near(bandwidth, 2.0 * RATE, 0.1 * RATE);
}

/// §5.5.4: samples that the application limited don't lower the estimate, and Startup does not end by them (§5.3.1.2).
#[test]
fn the_application_limits_no_estimate() {
    let mut net = net("bbr", 4.0 * BDP);
    net.flows[0].backlog = 0;
    for _ in 0..200 {
        let now = net.now;
        net.flows[0].queue(now, 4);
        net.run(MS(20));
    }
    assert_eq!(state(&net, 0), "startup", "a tenth of the link says nothing of it");
    let mut busy = net_of_bulk();
    let before = busy.flows[0].gauge("bbr_bandwidth_bps").expect("it is known");
    busy.flows[0].backlog = 0;
    for _ in 0..400 {
        let now = busy.now;
        busy.flows[0].queue(now, 4);
        busy.run(MS(20));
    }
    let after = busy.flows[0].gauge("bbr_bandwidth_bps").expect("it is known");
    near(after, before, 0.02 * before);
}

fn net_of_bulk() -> Bottleneck {
    let mut net = net("bbr", 4.0 * BDP);
    net.run(MS(3000));
    net
}

/// §5.4.1: after idle time data leave at exactly the estimated bandwidth, and no ProbeRTT is due.
#[test]
fn idle_time_is_no_reason_to_start_anew() {
    let mut net = net_of_bulk();
    net.flows[0].backlog = 0;
    net.run(MS(8000));
    let now = net.now;
    net.flows[0].queue(now, 1_000_000);
    net.run(MS(1));
    let bandwidth = net.flows[0].gauge("bbr_bandwidth_bps").expect("it is known") / 8.0;
    near(net.flows[0].pacing(), 0.99 * bandwidth, 1e-6 * bandwidth);
    let before = net.flows[0].delivered;
    net.run(MS(550));
    assert_ne!(state(&net, 0), "probe-rtt");
    let share = net.share(0, before, MS(500));
    assert!(share >= 0.85, "{share} of the link after idle time");
}

/// §5.3.3.1: two flows converge to equal shares, the second one half a minute late.
#[test]
fn two_flows_converge() {
    let mut net = net("bbr", 2.0 * BDP);
    net.run(MS(10_000));
    join(&mut net, "bbr");
    net.run(MS(30_000));
    let before = [net.flows[0].delivered, net.flows[1].delivered];
    net.run(MS(60_000));
    let shares = [0, 1].map(|i| net.share(i, before[i], MS(60_000)));
    assert!(shares[0] + shares[1] >= 0.93, "{shares:?}");
    assert!(shares.iter().all(|s| (0.3..=0.7).contains(s)), "{shares:?}");
}

/// BBRv1: a cycle of eight phases of a round trip each; a loss of 1 % does not matter to it.
#[test]
fn version_one_is_deaf_to_losses() {
    for (loss, least) in [(0.0, 0.94), (0.01, 0.93)] {
        let mut net = net("bbr,bbr-version=1", BDP);
        net.loss = loss;
        net.run(MS(5000));
        let before = net.flows[0].delivered;
        net.run(MS(30_000));
        let share = net.share(0, before, MS(30_000));
        assert!(share >= least, "{share} of the link at a loss of {loss}");
    }
}
