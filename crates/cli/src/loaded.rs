//! A scenario from the command line.

use crate::check::{Check, check};
use crate::error::CliError;
use std::path::Path;
use strandcast_lab::scenario::{Document, Scenario, ScenarioError, Warning, hash};
use strandcast_lab::simulation::BuildError;
use strandcast_proto::catalog::Catalog;

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
