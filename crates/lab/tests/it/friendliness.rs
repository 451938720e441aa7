//! Shares of schemes in a link with two TCP flows, CUBIC and Reno (profile `live`).

use std::path::Path;

use strandcast_lab::scenario;
use strandcast_lab::simulation::{RunOptions, Simulation};
use strandcast_testing::lab::*;

/// Goodput in Mbit/s over the shared link: of the two TCP flows together, halved, and of `scheme`; the mean of `seeds`.
fn shares(scheme: &str, seeds: std::ops::RangeInclusive<u64>) -> (f64, f64) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/links/networks/beside-tcp.toml");
    let scenario = scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
    let n = seeds.clone().count() as f64;
    let mut sums = (0.0, 0.0);
    for seed in seeds {
        let mut simulation =
            Simulation::new(&scenario, &Presets, seed, Some(scheme)).expect("it is a network");
        let result = simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted");
        let (cubic, reno) = (goodput(&result, "cubic"), goodput(&result, "reno"));
        let ours = goodput(&result, "ours");
        println!("{scheme}, seed {seed}: cubic {cubic:.0}, reno {reno:.0}, {scheme} {ours:.0} bit/s");
        sums = (sums.0 + (cubic + reno) / 2.0, sums.1 + ours);
    }
    (sums.0 / n / 1e6, sums.1 / n / 1e6)
}

/// Without counters of a radio, losses at a full queue are congestion, regardless of the assumed capacity.
#[test]
fn the_friendly_scheme_without_frame_counters_takes_what_a_tcp_takes() {
    let (tcp, ours) = shares("cmt-cl-fd", 1..=10);
    assert!(ours <= 1.5 * tcp, "{ours:.2} Mbit/s, TCP {tcp:.2}");
    // Nor does it starve.
    assert!(ours >= 0.5 * tcp, "{ours:.2} Mbit/s, TCP {tcp:.2}");
    let (tcp, ours) = shares("cmt-cl-fd,without-counters=capacity", 1..=2);
    assert!(ours > 1.5 * tcp, "what the key brings back: {ours:.2} Mbit/s, TCP {tcp:.2}");
}

/// The default of the commands takes no more than three tenths above the TCPs' mean, regardless of the depth of the
/// queue, and does not starve.
#[test]
fn the_default_takes_what_a_tcp_takes() {
    let (tcp, ours) = shares("bond", 1..=5);
    println!("bond: {ours:.2} Mbit/s, TCP {tcp:.2}: {:.2}", ours / tcp);
    assert!(ours <= 1.3 * tcp, "{ours:.2} Mbit/s, TCP {tcp:.2}");
    assert!(ours >= 0.5 * tcp, "{ours:.2} Mbit/s, TCP {tcp:.2}");
}

/// Share that `scheme` gets of a link of 10 Mbit/s and 100 ms with a queue of `packets` packets and `tcps` CUBIC
/// flows, divided by an equal share. The first 10 of 40 s do not count.
fn beside_cubic(scheme: &str, packets: u32, tcps: u32) -> f64 {
    let text = format!(
        r#"
        run = {{ time = "40 s", warmup = "10 s" }}
        [nodes.a]
        [nodes.b]
        [links.l]
        from = "a"
        to = "b"
        rate = "10 Mbit/s"
        delay = "49.4 ms"
        queue.limit = "{packets} packets"
        [flows.ours]
        from = "a"
        to = "b"
        scheme = "{scheme}"
        profile = "live"
        start = {{ uniform = [0, 1] }}
        paths.p.via = ["l"]
        [flows.tcp]
        transport = "tcp"
        cc = "cubic,count=bytes"
        profile = "linux"
        from = "a"
        to = "b"
        count = {tcps}
        start = {{ uniform = [0, 1] }}
        tcp.receive_window = 16777216
        paths.p.via = ["l"]
        "#
    );
    let seeds = 1..=2;
    let scenario =
        scenario::parse(&text, "beside.toml", Path::new("."), &[]).unwrap_or_else(|error| panic!("{error}"));
    let (mut ours, mut all) = (0.0, 0.0);
    for seed in seeds {
        let mut simulation = Simulation::new(&scenario, &Presets, seed, None).expect("it is a network");
        let result = simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted");
        let mine = goodput(&result, "ours");
        ours += mine;
        all += mine + goodput(&result, "tcp");
    }
    ours / (all / f64::from(tcps + 1))
}

/// Queues of 8, 21, 83 and 332 packets are 0.1, 0.25, 1 and 4 products of bandwidth and delay. A queue shorter than a
/// quarter of the round trip is a queue: with such queues, an earlier version of `bond` took four fifths of the link.
#[test]
fn the_default_takes_its_share_of_queues_of_any_depth() {
    for (packets, tcps) in [(8, 1), (21, 1), (21, 4), (83, 1), (332, 4)] {
        for scheme in ["bond", "strand"] {
            let share = beside_cubic(scheme, packets, tcps);
            println!("{scheme} with {tcps} CUBIC flows, queue of {packets} packets: {share:.2}");
            assert!((0.5..=1.5).contains(&share), "{scheme}, {tcps} CUBIC, {packets} packets: {share:.2}");
        }
    }
}

/// The association joins while the queue of a TCP connection is full, so that all its first round trips are long. It
/// then takes one share over both links, and not what the TCP connection gives up.
#[test]
fn two_links_that_join_a_full_queue_take_one_share() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/real-paths/shared-bottleneck.toml");
    let times = ["run.time=\"35 s\"".to_owned(), "run.warmup=\"15 s\"".to_owned()];
    let scenario = scenario::load(&file, &times).unwrap_or_else(|error| panic!("{error}"));
    for seed in [2, 3] {
        let mut simulation =
            Simulation::new(&scenario, &Presets, seed, Some("strand")).expect("it is a network");
        let result = simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted");
        let share = goodput(&result, "ours") / goodput(&result, "tcp");
        assert!((0.5..1.5).contains(&share), "seed {seed}: {share:.2} of the rate of TCP");
    }
}
