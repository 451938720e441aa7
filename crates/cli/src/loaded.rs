//! A scenario from the command line.

use crate::check::{Check, check};
use crate::error::CliError;
use crate::print;
use std::path::{Path, PathBuf};
use strandcast_lab::scenario::{Document, Scenario, ScenarioError, Warning, hash};
use strandcast_lab::simulation::BuildError;
use strandcast_proto::catalog::Catalog;

/// Folders of papers by number, and where their scenarios are now. Until 0.2.
const FORMER: [(&str, &str); 3] = [("000", "xu2015"), ("001", "cao2016"), ("002", "liu2019")];

/// Where a scenario's file is now: `scenarios/000/fig4.toml` is `experiments/xu2015/fig4.toml`, which is told.
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

/// A scenario, and where it says what.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// All of it.
    pub(crate) scenario: Scenario,
    /// What it says, as one number.
    pub(crate) hash: String,
    /// Which of its numbers are probably not meant.
    noted: Vec<Warning>,
    document: Document,
}

impl Loaded {
    /// Reads a file and what `--set` changes in it.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub(crate) fn open(file: &Path, sets: &[String]) -> Result<Self, CliError> {
        let document = Document::open(file, sets).map_err(usage)?;
        let (scenario, noted) = document.read().map_err(usage)?;
        Ok(Loaded { hash: hash(&scenario), scenario, noted, document })
    }

    /// What is known of it before it runs.
    ///
    /// # Errors
    /// It cannot be built.
    pub(crate) fn check(&self, catalog: &dyn Catalog) -> Result<Check, CliError> {
        check(&self.scenario, &self.noted, catalog).map_err(|error| self.build_error(&error))
    }

    /// A mistake in what a key says.
    pub(crate) fn error(&self, key: &str, message: &str) -> CliError {
        usage(self.document.error(&key.split('.').collect::<Vec<_>>(), message))
    }

    /// Something that was only found when it was built.
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
