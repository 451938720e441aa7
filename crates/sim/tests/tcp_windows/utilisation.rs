//! How full NewReno flows keep a link with less than a bandwidth-delay product of queue.

use std::time::Duration;

use strandcast_sim::tcp::{Config, Profile, Recovery};

use crate::network::{Bottleneck, Network, Way};

const LINK: Bottleneck = Bottleneck { mbps: 10.0, queue: 50 };
const RTT: Duration = Duration::from_millis(100);
const SEEDS: u64 = 10;

fn newreno() -> Config {
    Config { recovery: Recovery::NewReno, ..Config::from(Profile::Rfc) }
}

/// Share of the link's capacity that left it in a time, mean over the seeds.
fn utilisation(config: &Config, flows: usize, (from, to): (f64, f64)) -> f64 {
    let run = |seed| {
        let mut network = Network::new(seed, &[LINK]);
        for i in 0..flows {
            let start = network.draw(&format!("start {i}"), 1.0);
            network.add("reno", config, start, &[Way { link: 0, rtt: RTT }]);
        }
        network.run_until(from);
        let before = network.carried(0);
        network.run_until(to);
        (network.carried(0) - before) as f64 * 8.0 / ((to - from) * LINK.mbps * 1e6)
    };
    let mean = (1..=SEEDS).map(run).sum::<f64>() / SEEDS as f64;
    println!("{flows} flows, {}, [{from}, {to}] s: {mean:.4}", config.recovery);
    mean
}

/// A window that goes from w/2 to w, the same step each round trip: below the product of bandwidth and delay, p, the
/// link is partly idle, above it full, and the round trip grows with the queue.
fn sawtooth(p: f64, w: f64) -> f64 {
    let low = w / 2.0;
    if low >= p {
        return 1.0;
    }
    let queued = (w * w - p * p) / 2.0;
    (queued + (p * p - low * low) / 2.0) / (queued + p * (p - low))
}

fn is_filled_by(flows: usize) {
    let mean = utilisation(&newreno(), flows, (10.0, 70.0));
    assert!(mean >= 0.95, "{flows} flows: {mean:.4}");
}

#[test]
fn four_flows_fill_the_link() {
    is_filled_by(4);
}

#[test]
fn ten_flows_fill_the_link() {
    is_filled_by(10);
}

#[test]
fn thirty_flows_fill_the_link() {
    is_filled_by(30);
}

fn is_a_sawtooth(config: &Config, time: (f64, f64)) {
    let p = LINK.mbps * 1e6 * RTT.as_secs_f64() / 8.0 / 1500.0;
    let expected = sawtooth(p, p + LINK.queue as f64 + 1.0);
    let mean = utilisation(config, 1, time);
    assert!((mean - expected).abs() < 0.03, "{mean:.4}, the sawtooth gives {expected:.4}");
}

#[test]
fn one_flow_is_the_sawtooth() {
    is_a_sawtooth(&newreno(), (10.0, 70.0));
    is_a_sawtooth(&newreno(), (100.0, 400.0));
}

#[test]
fn with_selective_acknowledgements_too() {
    let sack = Config { recovery: Recovery::Sack, ..newreno() };
    is_a_sawtooth(&sack, (10.0, 70.0));
    is_a_sawtooth(&sack, (100.0, 400.0));
}
