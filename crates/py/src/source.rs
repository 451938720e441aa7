//! A scenario: its text, the changes to it, and the files to which it refers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast_keys::catalog::Catalog;
use strandcast_lab::batch::{is_of_scheme, mark_compared};
use strandcast_lab::check::warnings;
use strandcast_lab::result::ScenarioName;
use strandcast_lab::scenario::{
    Document, Scenario, ScenarioError, SctpProfile, Warning, amount, hash, written,
};
use strandcast_lab::simulation::BuildError;
use strandcast_schemes::{
    SpecError, WindowSetup, congestion, congestions, lookup, parse_spec, scheduler, window_and_scheduler,
};

use crate::error;

/// A scenario that has been read and checked.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Source {
    text: String,
    file: String,
    sets: Vec<String>,
    document: Document,
    pub(crate) scenario: Scenario,
    /// Warnings about numbers of the scenario that are probably mistakes.
    pub(crate) noted: Vec<Warning>,
    hash: String,
}

#[pymethods]
impl Source {
    /// Reads a scenario. `file` is its name in errors, and the files to which the scenario refers are
    /// in the folder of `file`. `files` contains the contents of files that were already read, by path.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        file: String,
        sets: Vec<String>,
        files: BTreeMap<PathBuf, String>,
    ) -> PyResult<Self> {
        Source::read(text, file, sets, files).map_err(|e| error::scenario(py, &e))
    }

    /// Hash of the scenario with defaults and with the contents of its files, in hexadecimal digits.
    #[getter]
    fn hash(&self) -> &str {
        &self.hash
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Name in errors.
    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    /// Changes to the scenario.
    #[getter]
    fn sets(&self) -> Vec<String> {
        self.sets.clone()
    }

    /// Files to which the scenario refers: contents by path.
    #[getter]
    fn files(&self) -> BTreeMap<PathBuf, &str> {
        self.scenario.files().into_iter().map(|file| (file.path.clone(), &*file.text)).collect()
    }

    /// All keys of the scenario as JSON, including defaults.
    #[getter]
    fn written(&self) -> String {
        written(&self.scenario).to_string()
    }

    /// Returns the parts of a scenario for a machine that does not have its files: its name, and the
    /// files to which it refers. The paths of these files are relative to the scenario's folder. A path
    /// is absolute only if the scenario itself gives an absolute path.
    #[getter]
    fn portable(&self) -> (String, BTreeMap<PathBuf, &str>) {
        let file = Path::new(&self.file);
        let folder = file.parent().unwrap_or(Path::new(""));
        let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let near = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_owned();
        let files = self.scenario.files();
        (name, files.into_iter().map(|file| (near(&file.path), &*file.text)).collect())
    }

    /// Warnings about numbers that are probably mistakes, with one line per warning.
    #[getter]
    fn noted(&self) -> Vec<String> {
        self.noted.iter().map(ToString::to_string).collect()
    }

    /// Profile of the transport's constants for each flow.
    #[getter]
    fn profiles(&self) -> BTreeMap<String, String> {
        self.scenario.profiles()
    }

    /// Returns the shortest equivalent text of a scheme for its flows ([`canonical`]). Keys remain in
    /// the text if the `scheme_defaults` of the flows change their defaults.
    fn canonical(&self, py: Python<'_>, spec: &str) -> PyResult<String> {
        shortest(py, spec, self.scenario.scheme_defaults())
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    /// Its first seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.run.seed
    }

    /// Default number of runs.
    #[getter]
    fn runs(&self) -> u32 {
        self.scenario.run.runs
    }
}

impl Source {
    fn read(
        text: String,
        file: String,
        sets: Vec<String>,
        files: BTreeMap<PathBuf, String>,
    ) -> Result<Self, ScenarioError> {
        let folder = Path::new(&file).parent().unwrap_or(Path::new(""));
        let files = files.into_iter().map(|(path, text)| (path, Arc::from(text)));
        let document = Document::parse(&text, &file, folder, &sets)?.with_files(files);
        let (scenario, noted) = document.read()?;
        Ok(Source { hash: hash(&scenario), text, file, sets, document, scenario, noted })
    }

    /// Returns the scenario. If schemes are `given`, a flow is marked for comparison.
    pub(crate) fn compared(&self, py: Python<'_>, given: bool) -> PyResult<Scenario> {
        let mut scenario = self.scenario.clone();
        if given {
            let marked = mark_compared(&mut scenario);
            marked.map_err(|e| error::scenario(py, &self.error(&e.key, &e.message)))?;
        }
        Ok(scenario)
    }

    /// Returns warnings about the scenario with each of `schemes`.
    pub(crate) fn warnings(
        &self,
        scenario: &Scenario,
        catalog: &dyn Catalog,
        schemes: &[String],
    ) -> Result<Vec<String>, (Option<String>, BuildError)> {
        let found = warnings(scenario, &self.noted, catalog, schemes)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// Returns `wrong` as a Python exception. Such an error appears only when the scenario is built with a scheme. The
    /// exception names the scheme, or the line of the scenario.
    pub(crate) fn wrong(
        &self,
        py: Python<'_>,
        scenario: &Scenario,
        scheme: Option<&str>,
        wrong: &BuildError,
    ) -> PyErr {
        match scheme.filter(|_| is_of_scheme(scenario, &wrong.key)) {
            Some(spec) => error::scheme(py, &format!("{spec}: {}", wrong.message)),
            None => error::scenario(py, &self.error(&wrong.key, &wrong.message)),
        }
    }

    /// Name of the scenario in results.
    pub(crate) fn name(&self) -> ScenarioName {
        ScenarioName::of(&self.scenario, &self.hash, Path::new(&self.file), &self.sets)
    }

    /// Returns an error that was found after the scenario was read. The error has the line of the key.
    pub(crate) fn error(&self, key: &str, message: &str) -> ScenarioError {
        self.document.error(&key.split('.').collect::<Vec<_>>(), message)
    }
}

/// Converts a number with a unit to SI units. `quantity` is its expected kind, if there is one.
#[pyfunction]
#[pyo3(signature = (text, quantity=None))]
pub(crate) fn parse_amount(text: &str, quantity: Option<&str>) -> PyResult<f64> {
    amount(text, quantity).map_err(|message| error::value(&message))
}

/// Returns the shortest equivalent text of a scheme: `cmt,rtx=cwnd` is `cmt`. Text that only TCP and
/// MPTCP flows accept is returned unchanged. A key stays in the text if a profile changes its default:
/// `cmt,rtx-again=on`.
#[pyfunction]
pub(crate) fn canonical(py: Python<'_>, spec: &str) -> PyResult<String> {
    let profiles =
        [SctpProfile::Rfc, SctpProfile::Live, SctpProfile::Ns2].map(|one| one.constants().scheme_defaults);
    shortest(py, spec, profiles.iter().map(String::as_str))
}

/// Returns the shortest equivalent text with these defaults of flows.
fn shortest<'a>(py: Python<'_>, spec: &str, defaults: impl IntoIterator<Item = &'a str>) -> PyResult<String> {
    let name = spec.split(',').next().unwrap_or_default().trim();
    let window = congestions().iter().any(|one| one.name == name);
    let shortest = match parse_spec(spec) {
        // The scheduler of an MPTCP flow may differ from the scheduler of the preset. A scheduler that
        // the text names therefore stays.
        Ok(scheme) => Ok(match window_and_scheduler(spec) {
            Ok((_, Some(scheduler))) if window => with_scheduler(scheme.shortest_over(defaults), &scheduler),
            _ => scheme.shortest_over(defaults),
        }),
        Err(wrong) if window => match of_flows(spec) {
            Ok(()) => Ok(spec.to_owned()),
            Err(other) => Err(if lookup(name).is_ok() { wrong } else { other }),
        },
        Err(wrong) => Err(wrong),
    };
    shortest.map_err(|e| error::scheme(py, &e.to_string()))
}

/// Adds the name of the `scheduler` to `spec`, if `spec` does not name it. The keys of the scheduler
/// are in `spec` already.
fn with_scheduler(spec: String, scheduler: &str) -> String {
    let name = scheduler.split(',').next().unwrap_or_default();
    if spec.contains(",scheduler=") { spec } else { format!("{spec},scheduler={name}") }
}

/// Returns an error if TCP and MPTCP flows cannot have this scheme.
fn of_flows(spec: &str) -> Result<(), SpecError> {
    let setup = WindowSetup { initial_window_bytes: 1, initial_ssthresh_bytes: None };
    let (window, named) = window_and_scheduler(spec)?;
    congestion(&window, setup)?;
    named.map_or(Ok(()), |named| scheduler(&named, None).map(|_| ()))
}
