//! A scenario that a command line names.

use std::path::Path;

use strandcast_keys::catalog::Catalog;
use strandcast_lab::batch::{is_of_scheme, mark_compared};
use strandcast_lab::check::{Check, check, warnings};
use strandcast_lab::scenario::{Document, Scenario, ScenarioError, Warning, hash};
use strandcast_lab::simulation::BuildError;

use crate::error::{CliError, why};

/// A scenario with the positions of its keys.
#[derive(Debug)]
pub(crate) struct LoadedScenario {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// Hash of the scenario's content.
    pub(crate) hash: String,
    /// Warnings about numbers in the scenario.
    warnings: Vec<Warning>,
    document: Document,
}

impl LoadedScenario {
    /// Reads a file and applies `--set`.
    ///
    /// # Errors
    /// Returns the first error, with its line number.
    pub(crate) fn open(file: &Path, sets: &[String]) -> Result<Self, CliError> {
        // If the file does not exist, the error has the same words as for any other missing file.
        std::fs::metadata(file)
            .map_err(|error| CliError::Usage(format!("cannot read {}: {}", file.display(), why(&error))))?;
        let document = Document::open(file, sets).map_err(usage)?;
        let (scenario, warnings) = document.read().map_err(usage)?;
        Ok(LoadedScenario { hash: hash(&scenario), scenario, warnings, document })
    }

    /// Returns the analysis of the scenario before a run. If `scheme` is given, it replaces the scheme of flows that
    /// are compared.
    ///
    /// # Errors
    /// Returns an error if the scenario cannot be built.
    pub(crate) fn check(&self, catalog: &dyn Catalog, scheme: Option<&str>) -> Result<Check, CliError> {
        let checked = check(&self.scenario, &self.warnings, catalog, scheme);
        checked.map_err(|error| self.wrong(scheme, &error))
    }

    /// Returns the warnings of the scenario with each of `schemes`.
    ///
    /// # Errors
    /// Returns an error if the scenario cannot be built.
    pub(crate) fn warnings(
        &self,
        catalog: &dyn Catalog,
        schemes: &[String],
    ) -> Result<Vec<String>, CliError> {
        let found = warnings(&self.scenario, &self.warnings, catalog, schemes);
        let found = found.map_err(|(scheme, error)| self.wrong(scheme.as_deref(), &error))?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// Returns the error of a scenario that was built with a scheme. If the scheme replaces the scheme of compared
    /// flows, the error is in the argument `--scheme` and not in the file.
    pub(crate) fn wrong(&self, scheme: Option<&str>, error: &BuildError) -> CliError {
        match scheme.filter(|_| is_of_scheme(&self.scenario, &error.key)) {
            Some(scheme) => CliError::Usage(format!("--scheme {scheme}: {}", error.message)),
            None => self.build_error(error),
        }
    }

    /// Ensures that a flow is marked for comparison.
    ///
    /// # Errors
    /// Returns an error if more than one flow could be meant.
    pub(crate) fn mark_compared(&mut self) -> Result<(), CliError> {
        mark_compared(&mut self.scenario).map_err(|e| self.error(&e.key, &e.message))
    }

    /// Returns the error for a wrong value of a key.
    pub(crate) fn error(&self, key: &str, message: &str) -> CliError {
        usage(self.document.error(&key.split('.').collect::<Vec<_>>(), message))
    }

    /// Returns the error that was found while the scenario was built.
    pub(crate) fn build_error(&self, error: &BuildError) -> CliError {
        self.error(&error.key, &error.message)
    }
}

fn usage(error: ScenarioError) -> CliError {
    CliError::Usage(error.to_string())
}
