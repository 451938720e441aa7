//! A stored result and its scenario.

use std::path::{Path, PathBuf};

use strandcast_lab::result::{RunName, SCHEMA, Summary};

use crate::error::CliError;
use crate::loaded::LoadedScenario;
use crate::simulate::COPY;

/// A stored result with its scenario, which has not changed since.
#[derive(Debug)]
pub(super) struct StoredResult {
    /// The summary written by `simulate`.
    pub(super) summary: Summary,
    /// The scenario.
    pub(super) loaded: LoadedScenario,
}

impl StoredResult {
    /// Reads a folder of results, or the `result.json` in one.
    ///
    /// # Errors
    /// Returns an error if the file is not a result, or if its scenario has changed or no longer exists.
    pub(super) fn open(place: &Path) -> Result<Self, CliError> {
        let file = if place.is_dir() { place.join("result.json") } else { place.to_owned() };
        let name = file.display();
        // A device such as `/dev/zero` may have no end.
        if file.metadata().is_ok_and(|what| !what.is_file()) {
            return Err(CliError::Usage(format!(
                "{name}: not a regular file; give a folder written by simulate --out"
            )));
        }
        let text = std::fs::read_to_string(&file).map_err(|e| {
            CliError::Usage(format!("cannot read {name}: {e}; give a folder written by simulate --out"))
        })?;
        let summary: Summary = serde_json::from_str(&text)
            .map_err(|e| CliError::Usage(format!("{name}: not a result of simulate: {e}")))?;
        if summary.schema != SCHEMA {
            return Err(CliError::Usage(format!(
                "{name}: the result has schema {}, but this program needs schema {SCHEMA}",
                summary.schema
            )));
        }
        if summary.version != env!("CARGO_PKG_VERSION") {
            let (theirs, ours) = (&summary.version, env!("CARGO_PKG_VERSION"));
            return Err(CliError::Usage(format!(
                "{name}: written by version {theirs}, but this is {ours}; run simulate again"
            )));
        }
        let loaded = scenario(&file, &summary)?;
        Ok(StoredResult { summary, loaded })
    }

    /// Returns the selected run: the first run with this seed and this scheme.
    ///
    /// # Errors
    /// Returns an error if there is no such run.
    pub(super) fn run(&self, seed: Option<u64>, scheme: Option<&str>) -> Result<&RunName, CliError> {
        let mut fitting = self.summary.runs.iter().filter(|run| {
            seed.is_none_or(|seed| seed == run.seed) && scheme.is_none_or(|scheme| scheme == run.scheme)
        });
        fitting.next().ok_or_else(|| {
            let runs = self.summary.runs.iter().map(|run| format!("{} {}", run.scheme, run.seed));
            let runs: Vec<String> = runs.collect();
            CliError::Usage(format!(
                "the result has no such run; its schemes and seeds are {}",
                runs.join(", ")
            ))
        })
    }
}

/// The scenario's copy in the folder of the result, or the original file. The first file that has not changed is used.
fn scenario(file: &Path, summary: &Summary) -> Result<LoadedScenario, CliError> {
    let copy = file.parent().unwrap_or(Path::new("")).join(COPY);
    let places = [Some(copy), summary.scenario.file.as_ref().map(PathBuf::from)];
    let mut why = None;
    for place in places.into_iter().flatten() {
        match LoadedScenario::open(&place, &summary.scenario.set) {
            Ok(loaded) if loaded.hash == summary.scenario.hash => return Ok(loaded),
            Ok(_) => {
                let changed =
                    format!("{}: the scenario has changed since; run simulate again", place.display());
                why = Some(CliError::Usage(changed));
            }
            Err(error) => why = why.or(Some(error)),
        }
    }
    Err(why.unwrap_or_else(|| {
        CliError::Usage(format!(
            "{}: the result names no scenario; run simulate again with --out",
            file.display()
        ))
    }))
}
