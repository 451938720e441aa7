//! Facts that are known before a run, about a scenario and about schemes.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast_lab::check::check as look;
use strandcast_lab::listing::schemes_json;
use strandcast_schemes::Presets;

use crate::policy::{Failure, Plan, Policies};
use crate::source::Source;

/// Output of `check` as text and as JSON, and its warnings, each with place and problem.
type Checked = (String, String, Vec<(String, String)>);

/// Analysis of a scenario before it runs.
#[pyfunction]
#[pyo3(signature = (source, scheme=None))]
pub(crate) fn check(py: Python<'_>, source: &Source, scheme: Option<&str>) -> PyResult<Checked> {
    let failure = Arc::new(Failure::default());
    let catalog = Policies::new(BTreeMap::new(), &failure);
    let scenario = source.compared(py, scheme.is_some())?;
    let checked = py.detach(|| look(&scenario, &source.noted, &catalog, scheme));
    if let Some(raised) = failure.take() {
        return Err(raised);
    }
    let checked = checked.map_err(|e| source.wrong(py, &scenario, scheme, &e))?;
    let warnings = checked.warnings.iter().map(|warning| (warning.place.clone(), warning.message.clone()));
    Ok((checked.text(), checked.json().to_string(), warnings.collect()))
}

/// Returns the warnings about a scenario that runs with each of `schemes`, as `strandcast check` prints
/// them. `policies` has the same form as in `run`.
#[pyfunction]
pub(crate) fn warnings(
    py: Python<'_>,
    source: &Source,
    schemes: Vec<String>,
    policies: BTreeMap<String, Plan>,
) -> PyResult<Vec<String>> {
    let failure = Arc::new(Failure::default());
    let catalog = Policies::new(policies, &failure);
    let scenario = source.compared(py, !schemes.is_empty())?;
    let found = py.detach(|| source.warnings(&scenario, &catalog, &schemes));
    if let Some(raised) = failure.take() {
        return Err(raised);
    }
    found.map_err(|(scheme, e)| source.wrong(py, &scenario, scheme.as_deref(), &e))
}

/// Returns all schemes as `schemes --json` prints them.
#[pyfunction]
pub(crate) fn schemes() -> String {
    schemes_json(&Presets, &[]).expect("presets have descriptions")
}
