//! What schemes take of a link beside two TCP flows, CUBIC and Reno (profile `live`).

use std::path::Path;

use strandcast_lab::scenario;
use strandcast_lab::simulation::{RunOptions, Simulation};
use strandcast_testing::lab::*;

/// Goodput in Mbit/s over the shared link: of the two TCP flows together, halved, and of `scheme`; the mean of `seeds`.
fn shares(scheme: &str, seeds: std::ops::RangeInclusive<u64>) -> (f64, f64) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/bench/links/networks/beside-tcp.toml");
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

/// Without counters of a radio what is lost at a full queue is congestion, whatever the capacity is guessed to be.
#[test]
fn the_friendly_scheme_without_frame_counters_takes_what_a_tcp_takes() {
    let (tcp, ours) = shares("cmt-cl-fd", 1..=10);
    assert!(ours <= 1.5 * tcp, "{ours:.2} Mbit/s beside {tcp:.2}");
    // Nor does it starve.
    assert!(ours >= 0.5 * tcp, "{ours:.2} Mbit/s beside {tcp:.2}");
    let (tcp, ours) = shares("cmt-cl-fd,without-counters=capacity", 1..=2);
    assert!(ours > 1.5 * tcp, "what the key brings back: {ours:.2} Mbit/s beside {tcp:.2}");
}

/// The default of the commands takes no more than three tenths above the TCPs' mean, whatever the depth of the
/// queue, and does not starve.
#[test]
fn the_default_takes_what_a_tcp_takes() {
    let (tcp, ours) = shares("bond", 1..=5);
    println!("bond: {ours:.2} Mbit/s beside {tcp:.2}: {:.2}", ours / tcp);
    assert!(ours <= 1.3 * tcp, "{ours:.2} Mbit/s beside {tcp:.2}");
    assert!(ours >= 0.5 * tcp, "{ours:.2} Mbit/s beside {tcp:.2}");
}
