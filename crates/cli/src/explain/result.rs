//! A result on disk, and the scenario that belongs to it.

use crate::error::CliError;
use crate::loaded::Loaded;
use crate::simulate::COPY;
use std::path::{Path, PathBuf};
use strandcast_lab::result::{RunName, SCHEMA, Summary};

/// A result, and its scenario as it was.
#[derive(Debug)]
pub(super) struct Kept {
    /// What `simulate` has written.
    pub(super) summary: Summary,
    /// What it has run.
    pub(super) loaded: Loaded,
}

impl Kept {
    /// Reads a folder of results, or the `result.json` in one.
    ///
    /// # Errors
    /// It is none, or its scenario is not there any more as it was.
    pub(super) fn open(place: &Path) -> Result<Self, CliError> {
        let file = if place.is_dir() { place.join("result.json") } else { place.to_owned() };
        let name = file.display();
        // A device may never end.
        if file.metadata().is_ok_and(|what| !what.is_file()) {
            return Err(CliError::Usage(format!(
                "{name}: it is no file; give a folder that simulate --out made"
            )));
        }
        let text = std::fs::read_to_string(&file).map_err(|e| {
            CliError::Usage(format!("cannot read {name}: {e}; give a folder that simulate --out made"))
        })?;
        let summary: Summary = serde_json::from_str(&text)
            .map_err(|e| CliError::Usage(format!("{name}: this is no result of simulate: {e}")))?;
        if summary.schema != SCHEMA {
            return Err(CliError::Usage(format!("{name}: it is a {}, not a {SCHEMA}", summary.schema)));
        }
        if summary.version != env!("CARGO_PKG_VERSION") {
            let (theirs, ours) = (&summary.version, env!("CARGO_PKG_VERSION"));
            return Err(CliError::Usage(format!(
                "{name}: made by version {theirs}, and this is {ours}; run it again"
            )));
        }
        let loaded = scenario(&file, &summary)?;
        Ok(Kept { summary, loaded })
    }

    /// The run meant: the first one with this seed and scheme.
    ///
    /// # Errors
    /// There is none.
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

/// The result's own copy of the scenario, or its file if there is none: whichever says the same as it did then.
fn scenario(file: &Path, summary: &Summary) -> Result<Loaded, CliError> {
    let copy = file.parent().unwrap_or(Path::new("")).join(COPY);
    let places = [Some(copy), summary.scenario.file.as_ref().map(PathBuf::from)];
    let mut why = None;
    for place in places.into_iter().flatten() {
        match Loaded::open(&place, &summary.scenario.set) {
            Ok(loaded) if loaded.hash == summary.scenario.hash => return Ok(loaded),
            Ok(_) => {
                let changed = format!("{}: the scenario has changed since; run it again", place.display());
                why = Some(CliError::Usage(changed));
            }
            Err(error) => why = why.or(Some(error)),
        }
    }
    Err(why.unwrap_or_else(|| {
        CliError::Usage(format!(
            "{}: it does not say of which scenario; run it again with --out",
            file.display()
        ))
    }))
}
