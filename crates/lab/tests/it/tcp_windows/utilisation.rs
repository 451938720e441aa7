//! Utilisation of a link by NewReno flows, with a queue of less than a bandwidth-delay product.

use strandcast_testing::lab;

use super::{between_two_hosts, link, mean, of_link};

const MBPS: f64 = 10.0;
const RTT_MS: f64 = 100.0;
const QUEUE: u32 = 50;

/// Share of the link's capacity that left it from `from` to `to` seconds, mean of ten seeds.
fn utilisation(recovery: &str, flows: usize, (from, to): (u32, u32)) -> f64 {
    let scenario = between_two_hosts(&format!(
        "{}[run]\ntime = '{to} s'\nwarmup = '{from} s'\n[flows.tcp]\ntransport = 'tcp'\nfrom = 'a'\nto = 'b'\n\
         count = {flows}\nstart = {{ uniform = [0, 1] }}\ncc = 'reno'\ntcp.recovery = '{recovery}'\n",
        link("l", MBPS, RTT_MS, QUEUE),
    ));
    let run = |seed| of_link(&lab::run(&scenario, seed), "l", "served_bps") / (MBPS * 1e6);
    let mean = mean(&(1..=10).map(run).collect::<Vec<_>>());
    println!("{flows} {recovery} in [{from}, {to}] s: {mean:.4}");
    mean
}

fn is_filled_by(flows: usize) {
    let mean = utilisation("newreno", flows, (10, 70));
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

fn is_a_sawtooth(recovery: &str, time: (u32, u32)) {
    let p = MBPS * RTT_MS * 1e3 / 8.0 / 1500.0;
    let expected = sawtooth(p, p + f64::from(QUEUE) + 1.0);
    let mean = utilisation(recovery, 1, time);
    assert!((mean - expected).abs() < 0.03, "{mean:.4}, the sawtooth gives {expected:.4}");
}

#[test]
fn one_flow_is_the_sawtooth() {
    is_a_sawtooth("newreno", (10, 70));
}

#[test]
fn with_selective_acknowledgements_too() {
    is_a_sawtooth("sack", (10, 70));
}

mod thorough {
    use super::*;

    #[test]
    fn one_flow_is_the_sawtooth_for_long() {
        is_a_sawtooth("newreno", (100, 400));
        is_a_sawtooth("sack", (100, 400));
    }
}
