//! Two applications over an adversarial network, and the properties that must hold in spite of it.

mod book;
pub mod case;
mod play;

use std::env;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

pub use case::{Case, Kind};
pub use play::{Make, Tune, run};

/// Returns the settings of a property test: `PROPTEST_CASES` cases per test, drawn from `PROPTEST_RNG_SEED`.
fn config(default_cases: u32) -> Config {
    let number = |name: &str| env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    Config {
        cases: number("PROPTEST_CASES").map_or(default_cases, |n| n as u32),
        rng_seed: RngSeed::Fixed(number("PROPTEST_RNG_SEED").unwrap_or(1)),
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        max_shrink_iters: 3000,
        ..Config::default()
    }
}

/// Runs test cases of `kind`. If a case fails, the test ends with the smallest case that fails, and with the command
/// line that repeats the run. That command line begins with `command`, which runs only this test.
pub fn holds(command: &str, kind: Kind, default_cases: u32, make: &Make, tune: &Tune) {
    holds_for(command, default_cases, &Case::strategy(kind), |case| run(case, make, tune));
}

/// Runs test cases of another strategy.
pub fn holds_for<S: Strategy>(command: &str, default_cases: u32, cases: &S, run: impl Fn(&S::Value)) {
    let config = config(default_cases);
    let (seed, number) = (config.rng_seed, config.cases);
    let result = TestRunner::new(config).run(cases, |case| {
        run(&case);
        Ok(())
    });
    if let Err(e) = result {
        panic!("replay: PROPTEST_RNG_SEED={seed} PROPTEST_CASES={number} {command}\n{e}");
    }
}
