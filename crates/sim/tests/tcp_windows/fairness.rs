//! Equal flows get equal shares.

use std::time::Duration;

use strandcast_sim::tcp::{Config, Profile, Recovery};

use crate::network::{Bottleneck, Network, Way};

/// (Σx)²/(n·Σx²) (R. Jain, 1984).
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    sum * sum / (shares.len() as f64 * squares)
}

fn run(cc: &str, recovery: Recovery, seed: u64) -> f64 {
    let mut network = Network::new(seed, &[Bottleneck { mbps: 10.0, queue: 50 }]);
    let config = Config { recovery, ..Config::from(Profile::Rfc) };
    let way = Way { link: 0, rtt: Duration::from_millis(50) };
    for i in 0..2 {
        let start = network.draw(&format!("start {i}"), 1.0);
        network.add(cc, &config, start, &[way]);
    }
    network.run_until(100.0);
    jain(&[0, 1].map(|flow| network.delivered(flow) as f64))
}

#[test]
fn two_equal_flows_share_equally() {
    for (cc, recovery) in [
        ("reno", Recovery::Reno),
        ("reno", Recovery::NewReno),
        ("reno", Recovery::Sack),
        ("cubic", Recovery::Sack),
    ] {
        let runs: Vec<f64> = (1..=10).map(|seed| run(cc, recovery, seed)).collect();
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        println!("{cc} {recovery}: {mean:.4} of {runs:.4?}");
        assert!(mean >= 0.95, "{cc} {recovery}: {mean:.4} of {runs:.4?}");
    }
}
