//! Runs that are done, in a file of JSON lines: what is in it is not run again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use strandcast_lab::RESULTS_EPOCH;
use strandcast_lab::scenario::Scenario;

use strandcast_testing::lab::contest::{Run, Runner, Values, simulate};

/// Runs and what they gave, and the file that new ones are added to.
type Done = (BTreeMap<Run, Values>, Option<File>);

/// The runs of one tool.
pub struct Ledger {
    build: String,
    done: Mutex<Done>,
}

/// Version of this program: the first digits of its SHA-256. A changed scheme is another program.
fn build() -> Result<String, String> {
    let own = std::env::current_exe().and_then(std::fs::read).map_err(|e| format!("this program: {e}"))?;
    Ok(Sha256::digest(own).iter().take(6).map(|byte| format!("{byte:02x}")).collect())
}

/// A line of the file, if it is one of this results epoch, and of this program or of a scheme in `keep`.
fn line(text: &str, build: &str, keep: &[String]) -> Option<(Run, Values)> {
    let value: Value = serde_json::from_str(text).ok()?;
    let word = |key: &str| value[key].as_str().map(str::to_owned);
    let run = Run {
        scenario: word("scenario")?,
        scheme: word("scheme")?,
        path: word("path")?,
        seed: value["seed"].as_u64()?,
    };
    let ours = value["build"] == *build || keep.contains(&run.scheme);
    let values = value["values"].as_object()?.iter();
    let values = values.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect();
    (ours && value["epoch"] == RESULTS_EPOCH).then_some((run, values))
}

impl Ledger {
    /// Opens a ledger with the runs that `file` holds, and adds new runs to it. Runs of the schemes `keep` count
    /// whatever program made them.
    pub fn open(file: Option<&PathBuf>, keep: &[String]) -> Result<Self, String> {
        let build = build()?;
        let mut done = BTreeMap::new();
        let wrong = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
        let mut to = None;
        if let Some(path) = file {
            if path.exists() {
                let text = std::fs::read_to_string(path).map_err(|e| wrong(path, e))?;
                done.extend(text.lines().filter_map(|text| line(text, &build, keep)));
            }
            let opened = OpenOptions::new().create(true).append(true).open(path);
            to = Some(opened.map_err(|e| wrong(path, e))?);
        }
        Ok(Ledger { build, done: Mutex::new((done, to)) })
    }

    /// Number of runs that are already done.
    pub fn len(&self) -> usize {
        self.lock().0.len()
    }

    fn lock(&self) -> MutexGuard<'_, Done> {
        self.done.lock().expect("no thread panics with it")
    }
}

/// The runs of one network, by the name that its lines have.
pub struct Entry<'a> {
    pub ledger: &'a Ledger,
    pub network: &'a str,
    pub flow: &'a str,
    /// Command that repeats a run, without seed and scheme.
    pub replay: &'a str,
}

impl Runner for Entry<'_> {
    fn run(&self, run: &Run, scenario: &Scenario) -> Result<Values, String> {
        if let Some(known) = self.ledger.lock().0.get(run) {
            return Ok(known.clone());
        }
        let values = simulate(self.flow, run, scenario)?;
        let replay =
            format!("{} --scheme {} --run {} --path {}", self.replay, run.scheme, run.seed, run.path);
        let entry = json!({
            "network": self.network, "scheme": run.scheme, "path": run.path, "seed": run.seed, "values": values,
            "scenario": run.scenario, "epoch": RESULTS_EPOCH, "build": self.ledger.build, "replay": replay,
        });
        let mut done = self.ledger.lock();
        done.0.insert(run.clone(), values.clone());
        if let Some(file) = &mut done.1 {
            writeln!(file, "{entry}").map_err(|e| format!("the file of runs: {e}"))?;
        }
        Ok(values)
    }
}
