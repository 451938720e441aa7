//! Committed scenarios and every preset must give the same fingerprints and metrics as before, on every machine. A
//! change on purpose is written into `golden.txt` (what this test prints) and listed in `docs/epochs.md`;
//! `RESULTS_EPOCH` rises with it, and `epochs.txt` gets lines of the new epoch for what has moved. Lines are only added
//! there. A line is never changed, except for the new name of a renamed scenario. `N - WORD` begins an epoch that no
//! golden line shows.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use strandcast_lab::RESULTS_EPOCH;
use strandcast_lab::result::{Metric, RunResult};
use strandcast_lab::scenario::{self, Scenario, SctpProfile, Transport};
use strandcast_lab::simulation::{RunOptions, Simulation};
use strandcast_schemes::presets;
use strandcast_testing::lab::Presets;

/// Simulated time of a run, which is long enough for every mechanism in the files.
const TIME: Duration = Duration::from_secs(30);
/// Scenario in which every preset runs: three paths with losses in bursts and background load.
const COMPARED: &str = "xu2015/fig4.toml";
/// A scenario with a primary path, and a seed with which that path loses the first INIT.
const FIRST_INIT_LOST: (&str, u64) = ("cao2016/fig5.toml", 2);
const GOLDEN: &str = include_str!("../golden.txt");
const EPOCHS: &str = include_str!("../epochs.txt");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All scenario files, by their names in golden lines: below `experiments` or `scenarios`.
pub fn scenarios() -> BTreeMap<String, PathBuf> {
    let folders = ["experiments", "scenarios"].map(|folder| root().join(folder));
    let named = |folder: &PathBuf| {
        let name = |path: &Path| path.strip_prefix(folder).expect("it was found there").display().to_string();
        files(folder).into_iter().map(|path| (name(&path), path)).collect::<Vec<_>>()
    };
    folders.iter().flat_map(named).collect()
}

/// The scenario files of a folder, but those that measure profile `live`, whose mechanisms are judged by their effect
/// (`random_networks.rs`).
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.ends_with("real-paths") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
    found
}

/// Half a minute of a scenario. An example in profile `live` is run as an RFC 9260 endpoint would run it.
pub fn short(path: &Path) -> Scenario {
    let mut scenario = scenario::load(path, &[]).unwrap_or_else(|error| panic!("{error}"));
    for flow in scenario.flows.values_mut() {
        if let Transport::Sctp { sctp, .. } = &mut flow.transport
            && sctp.profile == SctpProfile::Live
        {
            *sctp = scenario::sctp_profile("rfc").expect("there is such a profile");
        }
    }
    scenario.run.time = scenario.run.time.min(TIME);
    scenario.run.warmup = scenario.run.warmup.min(TIME / 2);
    scenario
}

/// The golden line of a run: its fingerprint, its packets' hops, and a digest of its metrics.
fn line(name: &str, scenario: &Scenario, scheme: Option<&str>, seed: u64) -> String {
    let built = Simulation::new(scenario, &Presets, seed, scheme);
    let mut simulation = built.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let result = simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted");
    format!("{name} {} {} {}\n", result.fingerprint, result.packet_hops, metrics(&result))
}

/// A digest of a run's metrics in their order: what each is about, its name and the bits of its value.
fn metrics(result: &RunResult) -> String {
    let told =
        |m: &Metric| format!("{}\n{}\n{:016x}\n", m.subject.words().join("\n"), m.name, m.value.to_bits());
    digest(&result.metrics.iter().map(told).collect::<String>())
}

#[test]
fn scenarios_and_presets_give_what_they_gave() {
    let scenarios = scenarios();
    let mut lines: String = scenarios.iter().map(|(name, path)| line(name, &short(path), None, 1)).collect();
    let compared = short(&scenarios[COMPARED]);
    assert!(compared.flows.values().any(|flow| flow.compare), "{COMPARED} marks whom schemes are for");
    for preset in presets() {
        lines += &line(&format!("{COMPARED}:{}", preset.name), &compared, Some(preset.name), 1);
    }
    let (name, seed) = FIRST_INIT_LOST;
    lines += &line(&format!("{name}#{seed}"), &short(&scenarios[name]), None, seed);
    assert!(lines == GOLDEN, "{}", moved(GOLDEN, &lines));
}

/// Golden lines of `text`: name and result of each run.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(' '))
}

/// Changes of the golden lines, and the edits that they need.
fn moved(before: &str, now: &str) -> String {
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) = (named(before).collect(), named(now).collect());
    let changed = old.iter().filter(|(name, gave)| new.get(*name).is_some_and(|now| now != *gave));
    let changed: Vec<&str> = changed.map(|(name, _)| *name).collect();
    let what = match changed.as_slice() {
        [] => "no run gives anything else, but lines were added or taken away".to_owned(),
        names => format!("runs give something else: {}", names.join(", ")),
    };
    format!("{what}\nIf that is meant, golden.txt becomes\n{now}")
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// For each name, the epoch in which the run's result last changed, and the digest of the result since then.
type Known<'a> = BTreeMap<&'a str, (u32, &'a str)>;

/// Last epoch and all names in `epochs`.
fn read(epochs: &str) -> Result<(u32, Known<'_>), String> {
    let (mut last, mut known) = (0, Known::new());
    for (at, line) in epochs.lines().enumerate() {
        let wrong = |what: String| Err(format!("epochs.txt:{}: {what}", at + 1));
        let fields: Vec<&str> = line.split(' ').collect();
        let [epoch, name, digest] = fields[..] else {
            return wrong(format!("not an epoch, a name and a digest: {line:?}"));
        };
        let Ok(epoch) = epoch.parse::<u32>() else {
            return wrong(format!("not an epoch, a name and a digest: {line:?}"));
        };
        if !(last.max(1)..=last + 1).contains(&epoch) {
            return wrong(format!("epoch {epoch} follows {last}; it must be the same or one more"));
        }
        match known.insert(name, (epoch, digest)) {
            Some((before, _)) if before == epoch => {
                return wrong(format!("{name} moves twice in epoch {epoch}: raise RESULTS_EPOCH"));
            }
            Some((before, same)) if same == digest => {
                return wrong(format!("{name} gives in epoch {epoch} what it gave in {before}"));
            }
            _ => last = epoch,
        }
    }
    Ok((last, known))
}

/// Checks that each golden line is the last line of `epochs` with its name: within an epoch lines are added, and none
/// moves.
fn check_epochs(epochs: &str, epoch: u32, golden: &str) -> Result<(), String> {
    let (last, known) = read(epochs)?;
    let lines = |epoch: u32, names: &[(&str, &str)]| -> String {
        names.iter().map(|(name, gave)| format!("\n{epoch} {name} {}", digest(gave))).collect()
    };
    let (old, new): (Vec<_>, Vec<_>) = named(golden).partition(|(name, _)| known.contains_key(*name));
    let moved: Vec<_> = old.into_iter().filter(|(name, gave)| known[*name].1 != digest(gave)).collect();
    if !moved.is_empty() {
        let next = last + 1;
        return Err(format!(
            "results have moved: RESULTS_EPOCH becomes {next}, and behind the lines that epochs.txt has come{}",
            lines(next, &moved)
        ));
    }
    if !new.is_empty() {
        return Err(format!("new runs: behind the lines that epochs.txt has come{}", lines(epoch, &new)));
    }
    if last != epoch {
        let hand = format!("an epoch that no golden line shows begins with a line\n{epoch} - WORD");
        return Err(format!("RESULTS_EPOCH is {epoch}, the last line of epochs.txt is of {last}; {hand}"));
    }
    Ok(())
}

#[test]
fn what_moves_begins_an_epoch() {
    check_epochs(EPOCHS, RESULTS_EPOCH, GOLDEN).unwrap_or_else(|why| panic!("{why}"));
    let heading = format!("\n## Epoch {RESULTS_EPOCH}\n");
    assert!(
        include_str!("../../../../docs/epochs.md").contains(&heading),
        "docs/epochs.md lacks {heading:?}"
    );
}

#[test]
fn within_an_epoch_lines_are_only_added() {
    let (x, y, z) = (digest("x"), digest("y"), digest("z"));
    let first = format!("1 a {x}\n1 b {y}\n");
    assert_eq!(check_epochs(&first, 1, "a x\nb y\n"), Ok(()));
    assert_eq!(check_epochs(&first, 1, "b y\n"), Ok(()), "a scenario may go");
    assert_eq!(check_epochs(&format!("{first}2 b {z}\n"), 2, "a x\nb z\n"), Ok(()));
    assert_eq!(check_epochs(&format!("{first}2 - loads_are_goodput\n"), 2, "a x\nb y\n"), Ok(()));
    let told = |epochs: &str, epoch, golden| check_epochs(epochs, epoch, golden).expect_err(golden);
    let moved = told(&first, 1, "a x\nb z\n");
    assert!(moved.contains("RESULTS_EPOCH becomes 2") && moved.ends_with(&format!("\n2 b {z}")), "{moved}");
    assert_eq!(told(&first, 2, "a x\nb z\n"), moved, "until the line is there");
    let added = told(&first, 1, "a x\nb y\nc z\n");
    assert!(added.contains("new runs") && added.ends_with(&format!("\n1 c {z}")), "{added}");
    assert!(told(&first, 2, "a x\nb y\n").contains("RESULTS_EPOCH is 2"));
    assert!(told(&format!("{first}2 b {z}\n"), 1, "a x\nb z\n").contains("RESULTS_EPOCH is 1"));
}

#[test]
fn epochs_that_are_none() {
    let (x, z) = (digest("x"), digest("z"));
    for (epochs, why) in [
        (format!("1 a {x}\n1 a {z}\n"), "epochs.txt:2: a moves twice in epoch 1"),
        (format!("1 a {x}\n2 a {x}\n"), "epochs.txt:2: a gives in epoch 2 what it gave in 1"),
        (format!("1 a {x}\n3 a {z}\n"), "epochs.txt:2: epoch 3 follows 1"),
        (format!("1 b {x}\n2 b {z}\n1 a {z}\n"), "epochs.txt:3: epoch 1 follows 2"),
        (format!("2 a {z}\n"), "epochs.txt:1: epoch 2 follows 0"),
        (format!("0 a {z}\n"), "epochs.txt:1: epoch 0 follows 0"),
        (format!("one a {z}\n"), "epochs.txt:1: not an epoch"),
        ("1 a\n".to_owned(), "epochs.txt:1: not an epoch"),
    ] {
        let error = check_epochs(&epochs, 1, "a z\n").expect_err(why);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn metrics_have_a_digest() {
    let path = root().join("scenarios/examples/first.toml");
    let mut simulation = Simulation::new(&short(&path), &Presets, 1, None).expect("it was read");
    let result = simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted");
    let with = |change: &dyn Fn(&mut Vec<Metric>)| {
        let mut other = result.clone();
        change(&mut other.metrics);
        metrics(&other)
    };
    assert_eq!(with(&|_| ()), metrics(&result));
    assert_ne!(with(&|all| all[0].value = all[0].value.next_up()), metrics(&result));
    assert_ne!(with(&|all| all[0].name = "another"), metrics(&result));
    assert_ne!(with(&|all| all.swap(0, 1)), metrics(&result));
}

#[test]
fn moved_lines_are_told_from_new_ones() {
    let told = moved("a 1 2\nb 1 2\n", "a 1 2\nb 1 3\nc 1 2\n");
    assert!(told.contains("something else: b\n"), "{told}");
    let told = moved("a 1 2\n", "a 1 2\nc 1 2\n");
    assert!(told.contains("no run gives anything else"), "{told}");
}

#[test]
fn schemes_share_the_draws_of_links_and_background_load() {
    let path = root().join("experiments/xu2015/fig4.toml");
    let mut scenario = scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
    scenario.run.time = TIME;
    let offered = |scheme: &str| {
        let mut simulation =
            strandcast_lab::simulation::Simulation::new(&scenario, &Presets, 7, Some(scheme))
                .expect("it was read");
        let result = simulation.run(Default::default(), &mut ()).expect("the run is not interrupted");
        let of_cross = |m: &&strandcast_lab::result::Metric| m.name == "offered_load";
        result.metrics.iter().filter(of_cross).map(|m| m.value).collect::<Vec<f64>>()
    };
    let (cmt, sctp) = (offered("cmt"), offered("sctp"));
    assert!(!cmt.is_empty());
    assert_eq!(cmt, sctp);
}
