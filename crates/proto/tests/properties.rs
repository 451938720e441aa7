//! Whatever the network does to them, reliable messages arrive once, unchanged and in order, and a graceful close
//! comes to its end.

mod adversary;
mod common;

use std::env;

use adversary::{Case, Kind, run};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// `PROPTEST_CASES` cases a test, drawn from `PROPTEST_RNG_SEED`.
fn config(default_cases: u32) -> ProptestConfig {
    let number = |name: &str| env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions/properties.txt");
    ProptestConfig {
        cases: number("PROPTEST_CASES").map_or(default_cases, |n| n as u32),
        rng_seed: RngSeed::Fixed(number("PROPTEST_RNG_SEED").unwrap_or(1)),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
        max_shrink_iters: 3000,
        ..ProptestConfig::default()
    }
}

/// The seed that repeats a failing run, in front of whatever failed.
fn holds(name: &str, kind: Kind, default_cases: u32) {
    let config = config(default_cases);
    let seed = config.rng_seed;
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&Case::strategy(kind), |case| {
        run(&case);
        Ok(())
    });
    if let Err(e) = result {
        panic!(
            "replay: PROPTEST_RNG_SEED={seed} cargo test -p strandcast-proto --test properties {name}\n{e}"
        );
    }
}

#[test]
fn reliable_over_one_to_four_wires() {
    holds("reliable_over_one_to_four_wires", Kind::Plain, 1000);
}

#[test]
fn reliable_as_rfc_9260_is_written() {
    holds("reliable_as_rfc_9260_is_written", Kind::Strict, 1000);
}

#[test]
fn reliable_with_potentially_failed_paths() {
    holds("reliable_with_potentially_failed_paths", Kind::PotentiallyFailed, 1000);
}

#[test]
fn reliable_into_a_small_buffer_read_late() {
    holds("reliable_into_a_small_buffer_read_late", Kind::SmallBuffers, 1000);
}

#[test]
fn reliable_from_the_first_packet_of_a_bad_network() {
    holds("reliable_from_the_first_packet_of_a_bad_network", Kind::Early, 1000);
}
