//! Committed scenarios give the fingerprints that they gave before, on every machine. A change on purpose is written into
//! `golden.txt` (what this test prints) and told under *Changed results* in CHANGELOG.

mod support;

use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};

use strandcast_sim::scenario;
use support::{Schemes, run};

/// Simulated time: enough for every mechanism of the files to have had its turn.
const TIME: Duration = Duration::from_secs(30);

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// All scenario files, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn scenarios_give_the_fingerprints_they_gave() {
    let root = scenarios();
    let mut lines = String::new();
    for path in files(&root) {
        let mut scenario = scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        scenario.run.time = scenario.run.time.min(TIME);
        scenario.run.warmup = scenario.run.warmup.min(TIME / 2);
        let result = run(&scenario, 1);
        let name = path.strip_prefix(&root).expect("it was found there").display().to_string();
        lines += &format!("{name} {} {}\n", result.fingerprint, result.packet_hops);
    }
    let golden = include_str!("golden.txt");
    assert!(lines == golden, "fingerprints have moved; golden.txt would be now:\n{lines}");
}

#[test]
fn schemes_share_the_draws_of_links_and_background_load() {
    let path = scenarios().join("000/fig4.toml");
    let mut scenario = scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
    scenario.run.time = TIME;
    let offered = |scheme: &str| {
        let mut simulation =
            strandcast_sim::simulation::Simulation::new(&scenario, &Schemes, 7, Some(scheme))
                .expect("it was read");
        let result = simulation.run(Default::default(), &mut ()).expect("nobody breaks it off");
        let of_cross = |m: &&strandcast_sim::result::Metric| m.name == "offered_load";
        result.metrics.iter().filter(of_cross).map(|m| m.value).collect::<Vec<f64>>()
    };
    let (cmt, sctp) = (offered("cmt"), offered("sctp"));
    assert!(!cmt.is_empty());
    assert_eq!(cmt, sctp);
}
