//! The primary path of a scenario is kept, whichever path the handshake takes.
//! `cargo test -p strandcast-lab --test it primary -- --nocapture` prints the shares.

use core::time::Duration;
use std::path::Path;

use strandcast_lab::result::Subject;
use strandcast_lab::scenario;
use strandcast_testing::lab::{metric, run};

/// The share of the data that `path` carries in a minute of Fig. 5 of Cao et al. (2016), with some keys set.
fn share(path: &str, sets: &[&str], seed: u64) -> f64 {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cao2016/fig5.toml");
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let mut scenario = scenario::load(&file, &sets).unwrap_or_else(|error| panic!("{error}"));
    scenario.run.time = Duration::from_secs(60);
    let share =
        metric(&run(&scenario, seed), &Subject::Path { flow: "data".into(), path: path.into() }, "share");
    println!("seed {seed}, {sets:?}: {share} by {path}");
    share
}

/// With these seeds the first path loses the first INIT, so that the handshake goes over the second.
#[test]
fn data_take_the_primary_although_the_handshake_took_another_path() {
    for seed in [2, 3, 14, 27] {
        assert!(share("p1", &[], seed) > 0.9, "seed {seed}");
    }
}

/// The second path can also be the primary one: INIT then takes it first.
#[test]
fn whichever_path_is_the_primary() {
    for seed in 1..=30 {
        assert!(share("p2", &["flows.data.primary=\"p2\""], seed) > 0.9, "seed {seed}");
    }
}
