//! A scenario from the command line.

use std::path::Path;

use strandcast_keys::catalog::Catalog;
use strandcast_lab::check::{Check, check};
use strandcast_lab::scenario::{Document, Scenario, ScenarioError, Warning, hash};
use strandcast_lab::simulation::BuildError;

use crate::error::CliError;

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
