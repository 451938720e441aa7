//! CUBIC's window over time (RFC 9438 §4.2) in an epoch without losses.

use std::time::Duration;

use strandcast_sim::tcp::{Config, InitialSsthresh, Profile};

use crate::network::{Bottleneck, Network, Way};

/// Windows at 0, K/2, K, 3K/2 and 2K after recovery, and the curve's values there, in segments.
fn epoch(segments: u32, rtt_ms: u64, config: &Config) -> Vec<(f64, f64)> {
    let mut network = Network::new(1, &[Bottleneck { mbps: 10_000.0, queue: 100_000 }]);
    let config = Config { initial_window: segments, receive_window: 1 << 30, ..config.clone() };
    // The threshold keeps the window where it begins until a segment of the third round trip is lost.
    let config = Config { initial_ssthresh: InitialSsthresh::Bytes(config.initial_window_bytes()), ..config };
    let rtt = Duration::from_millis(rtt_ms);
    let flow = network.add("cubic", &config, 0.0, &[Way { link: 0, rtt }]);
    network.vanish.push((flow, 10));
    let cwnd =
        |network: &Network| network.flows[flow].sender.path(0).limit.cwnd as f64 / f64::from(config.segment);
    let step = |network: &mut Network, until: f64| {
        network.run_until(until);
        cwnd(network)
    };
    let mut now = 0.0;
    let mut before = step(&mut network, now);
    // Recovery: the window falls, and does not grow until it is over.
    let w_max = loop {
        now += 0.001;
        let window = step(&mut network, now);
        if window < before {
            break before;
        }
        before = window;
        assert!(now < 10.0, "no loss");
    };
    let low = cwnd(&network);
    while step(&mut network, now) <= low {
        now += 0.001;
        assert!(now < 20.0, "no growth");
    }
    let k = libm::cbrt((w_max - low) / 0.4);
    let curve = |t: f64| 0.4 * (t - k) * (t - k) * (t - k) + w_max;
    let after = [0.0, 0.5, 1.0, 1.5, 2.0].map(|part| part * k);
    after.iter().map(|t| (step(&mut network, now + t), curve(*t))).collect()
}

#[test]
fn the_window_follows_the_curve() {
    for (profile, segments, rtt_ms) in
        [(Profile::Rfc, 200, 100), (Profile::Linux, 400, 60), (Profile::Ns2, 300, 100)]
    {
        for (i, (window, curve)) in epoch(segments, rtt_ms, &Config::from(profile)).into_iter().enumerate() {
            let off = (window - curve).abs() / curve;
            println!("{profile}, {segments} segments, {rtt_ms} ms, {i}K/2: {window:.2}, curve {curve:.2}");
            assert!(off < 0.01, "{profile}, {segments} segments, point {i}: {window:.2}, curve {curve:.2}");
        }
    }
}
