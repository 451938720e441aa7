//! A scenario from the command line.

use std::path::{Path, PathBuf};

use strandcast_lab::scenario::{Document, Scenario, ScenarioError, Warning, hash};
use strandcast_lab::simulation::BuildError;
use strandcast_proto::catalog::Catalog;

use crate::check::{Check, check};
use crate::error::CliError;
use crate::print;

/// Folders of papers by number, and where their scenarios are now. Until 0.2.
const FORMER: [(&str, &str); 3] = [("000", "xu2015"), ("001", "cao2016"), ("002", "liu2019")];

/// Where a scenario's file is now: `scenarios/000/fig4.toml` is `experiments/xu2015/fig4.toml`, which a warning says.
pub(crate) fn current(file: PathBuf) -> PathBuf {
    let moved = moved(&file).filter(|moved| !file.exists() && moved.exists());
    let Some(moved) = moved else { return file };
    print::line(&format!(
        "warning: {} is {} now; the old path goes with version 0.2",
        file.display(),
        moved.display()
    ));
    moved
}

fn moved(file: &Path) -> Option<PathBuf> {
    let (number, scenarios) = (file.parent()?, file.parent()?.parent()?);
    let (_, key) = FORMER.iter().find(|(former, _)| number.ends_with(former))?;
    let named = scenarios.ends_with("scenarios").then(|| scenarios.with_file_name("experiments"))?;
    Some(named.join(key).join(file.file_name()?))
}

/// A scenario with the positions of its keys.
#[derive(Debug)]
pub(crate) struct LoadedScenario {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// Hash of its content.
    pub(crate) hash: String,
    /// Warnings about its numbers.
    warnings: Vec<Warning>,
    document: Document,
}

impl LoadedScenario {
    /// Reads a file and applies `--set`.
    ///
    /// # Errors
    /// The first error, with its line.
    pub(crate) fn open(file: &Path, sets: &[String]) -> Result<Self, CliError> {
        let document = Document::open(file, sets).map_err(usage)?;
        let (scenario, warnings) = document.read().map_err(usage)?;
        Ok(LoadedScenario { hash: hash(&scenario), scenario, warnings, document })
    }

    /// Its analysis before a run.
    ///
    /// # Errors
    /// The scenario cannot be built.
    pub(crate) fn check(&self, catalog: &dyn Catalog) -> Result<Check, CliError> {
        check(&self.scenario, &self.warnings, catalog).map_err(|error| self.build_error(&error))
    }

    /// An error in the value of a key.
    pub(crate) fn error(&self, key: &str, message: &str) -> CliError {
        usage(self.document.error(&key.split('.').collect::<Vec<_>>(), message))
    }

    /// An error found while building the scenario.
    pub(crate) fn build_error(&self, error: &BuildError) -> CliError {
        self.error(&error.key, &error.message)
    }
}

fn usage(error: ScenarioError) -> CliError {
    CliError::Usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_of_papers_have_moved() {
        let now = |file: &str| moved(Path::new(file)).map(|path| path.display().to_string());
        assert_eq!(now("scenarios/000/fig4.toml").as_deref(), Some("experiments/xu2015/fig4.toml"));
        assert_eq!(now("/a/scenarios/002/fig3.toml").as_deref(), Some("/a/experiments/liu2019/fig3.toml"));
        for other in
            ["scenarios/examples/first.toml", "000/fig4.toml", "fig4.toml", "runs/001/fig5.toml", "/"]
        {
            assert_eq!(now(other), None, "{other}");
        }
    }
}
