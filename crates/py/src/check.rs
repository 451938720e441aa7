//! Facts before a run: of a scenario, and of schemes.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast_lab::check::check as look;
use strandcast_lab::listing::schemes_json;
use strandcast_schemes::Presets;

use crate::error;
use crate::policy::{Failure, Policies};
use crate::source::Source;

/// Output of `check`, for people and as JSON, and its warnings: place and problem.
type Checked = (String, String, Vec<(String, String)>);

/// Analysis of a scenario before it runs.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, source: &Source) -> PyResult<Checked> {
    let failure = Arc::new(Failure::default());
    let catalog = Policies::new(BTreeMap::new(), &failure);
    let checked = py.detach(|| look(&source.scenario, &source.noted, &catalog));
    if let Some(raised) = failure.take() {
        return Err(raised);
    }
    let checked = checked.map_err(|e| error::scenario(py, &source.build_error(&e)))?;
    let warnings = checked.warnings.iter().map(|warning| (warning.place.clone(), warning.message.clone()));
    Ok((checked.text(), checked.json().to_string(), warnings.collect()))
}

/// All schemes, as `schemes --json` prints them.
#[pyfunction]
pub(crate) fn schemes() -> String {
    schemes_json(&Presets, &[]).expect("presets have descriptions")
}
