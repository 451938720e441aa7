//! Committed scenarios and every preset give the fingerprints that they gave before, on every machine. A change on purpose is
//! written into `golden.txt` (what this test prints) and told under *Changed results* in CHANGELOG; `RESULTS_EPOCH` rises
//! with it, and `epochs.txt` has the new epoch's line.

mod support;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use strandcast_schemes::presets;
use strandcast_sim::RESULTS_EPOCH;
use strandcast_sim::scenario::{self, Scenario};
use strandcast_sim::simulation::{RunOptions, Simulation};
use support::Schemes;

/// Simulated time: enough for every mechanism of the files to have had its turn.
const TIME: Duration = Duration::from_secs(30);
/// Where every preset runs: three paths with losses in bursts and background load.
const COMPARED: &str = "000/fig4.toml";
const GOLDEN: &str = include_str!("golden.txt");
const EPOCHS: &str = include_str!("epochs.txt");

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

fn short(path: &Path) -> Scenario {
    let mut scenario = scenario::load(path, &[]).unwrap_or_else(|error| panic!("{error}"));
    scenario.run.time = scenario.run.time.min(TIME);
    scenario.run.warmup = scenario.run.warmup.min(TIME / 2);
    scenario
}

/// The golden line of a run with seed 1.
fn line(name: &str, scenario: &Scenario, scheme: Option<&str>) -> String {
    let built = Simulation::new(scenario, &Schemes, 1, scheme);
    let mut simulation = built.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let result = simulation.run(RunOptions::default(), &mut ()).expect("nobody breaks it off");
    format!("{name} {} {}\n", result.fingerprint, result.packet_hops)
}

#[test]
fn scenarios_and_presets_give_the_fingerprints_they_gave() {
    let root = scenarios();
    let name = |path: &Path| path.strip_prefix(&root).expect("it was found there").display().to_string();
    let mut lines: String = files(&root).iter().map(|path| line(&name(path), &short(path), None)).collect();
    let compared = short(&root.join(COMPARED));
    assert!(compared.flows.values().any(|flow| flow.compare), "{COMPARED} marks whom schemes are for");
    for preset in presets() {
        lines += &line(&format!("{COMPARED}:{}", preset.name), &compared, Some(preset.name));
    }
    assert!(lines == GOLDEN, "{}", moved(GOLDEN, &lines));
}

/// What has changed in the golden lines, and what is to be done.
fn moved(before: &str, now: &str) -> String {
    let named =
        |text| -> BTreeMap<&str, &str> { str::lines(text).filter_map(|l| l.split_once(' ')).collect() };
    let (old, new) = (named(before), named(now));
    let changed = old.iter().filter(|(name, said)| new.get(*name).is_some_and(|now| now != *said));
    let changed: Vec<&str> = changed.map(|(name, _)| *name).collect();
    let sha = digest(now);
    let what = match changed.as_slice() {
        [] => format!(
            "no fingerprint has moved, but lines were added or taken away: the last line of epochs.txt becomes\n{RESULTS_EPOCH} {sha}"
        ),
        names => format!(
            "fingerprints have moved: {}\nIf that is meant, RESULTS_EPOCH becomes {1}, and epochs.txt gets the line\n{1} {sha}",
            names.join(", "),
            RESULTS_EPOCH + 1
        ),
    };
    format!("{what}\nand golden.txt would be\n{now}")
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that the last of `epochs` is `epoch` and that of these golden lines.
fn check_epochs(epochs: &str, epoch: u32, golden: &str) -> Result<(), String> {
    let mut seen = BTreeMap::new();
    let mut last = (0, "");
    for (at, line) in epochs.lines().enumerate() {
        let at = at + 1;
        let (number, sha) = line
            .split_once(' ')
            .and_then(|(number, sha)| Some((number.parse::<u32>().ok()?, sha)))
            .filter(|(_, sha)| sha.len() == 64)
            .ok_or(format!("epochs.txt:{at}: not an epoch and a SHA-256: {line:?}"))?;
        if number != last.0 + 1 {
            return Err(format!("epochs.txt:{at}: epoch {number} follows {}; it must be one more", last.0));
        }
        if let Some(before) = seen.insert(sha, number) {
            return Err(format!("epochs.txt:{at}: epoch {number} has the fingerprints of epoch {before}"));
        }
        last = (number, sha);
    }
    let (number, sha) = last;
    if number != epoch {
        return Err(format!(
            "RESULTS_EPOCH is {epoch}, but the last line of epochs.txt is of epoch {number}"
        ));
    }
    let now = digest(golden);
    if sha != now {
        let next = number + 1;
        return Err(format!(
            "golden.txt is not that of epoch {number}: if fingerprints have moved, RESULTS_EPOCH becomes {next}, and \
             epochs.txt gets the line\n{next} {now}\nif lines were only added or taken away, its last line becomes\n\
             {number} {now}"
        ));
    }
    Ok(())
}

#[test]
fn moved_fingerprints_begin_an_epoch() {
    check_epochs(EPOCHS, RESULTS_EPOCH, GOLDEN).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn epochs_that_are_none() {
    let (old, new) = (digest("old"), digest("new"));
    assert_eq!(check_epochs(&format!("1 {old}\n2 {new}\n"), 2, "new"), Ok(()));
    for (epochs, epoch, why) in [
        (format!("1 {old}\n"), 1, "golden.txt is not that of epoch 1"),
        (format!("1 {old}\n2 {new}\n"), 1, "RESULTS_EPOCH is 1"),
        (format!("1 {new}\n"), 2, "RESULTS_EPOCH is 2"),
        (format!("1 {old}\n3 {new}\n"), 3, "epoch 3 follows 1"),
        (format!("2 {new}\n"), 2, "epoch 2 follows 0"),
        (format!("1 {new}\n2 {old}\n3 {new}\n"), 3, "epoch 3 has the fingerprints of epoch 1"),
        (String::new(), 1, "the last line of epochs.txt is of epoch 0"),
        (format!("one {new}\n"), 1, "epochs.txt:1: not an epoch"),
    ] {
        let error = check_epochs(&epochs, epoch, "new").expect_err(why);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn moved_lines_are_told_from_new_ones() {
    let told = moved("a 1 2\nb 1 2\n", "a 1 2\nb 1 3\nc 1 2\n");
    assert!(
        told.contains("have moved: b\n")
            && told.contains(&format!("RESULTS_EPOCH becomes {}", RESULTS_EPOCH + 1)),
        "{told}"
    );
    let told = moved("a 1 2\n", "a 1 2\nc 1 2\n");
    assert!(told.contains("no fingerprint has moved"), "{told}");
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
