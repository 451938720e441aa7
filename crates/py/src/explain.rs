//! Why a message or frame was late.

use crate::error;
use crate::policy::{Failure, Policies};
use crate::source::Source;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use strandcast::batch::mark_compared;
use strandcast::explain::{as_json, story, watch};
use strandcast_sim::result::RunName;
use strandcast_sim::simulation::{Control, Simulation, Wanted};

/// Runs a scenario once more and tells what happened to a message or frame of a flow: for people, and as JSON.
#[pyfunction]
#[pyo3(signature = (source, scheme, policies, *, seed, flow, frame, message))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of one call")]
pub(crate) fn explain(
    py: Python<'_>,
    source: &Source,
    scheme: Option<&str>,
    policies: BTreeMap<String, (String, Py<PyAny>)>,
    seed: u64,
    flow: &str,
    frame: Option<u32>,
    message: Option<u64>,
) -> PyResult<(String, String)> {
    let wanted = frame.map_or(Wanted::Message(message.unwrap_or_default()), Wanted::Frame);
    let mut scenario = source.scenario.clone();
    if scheme.is_some() {
        mark_compared(&mut scenario).map_err(|e| error::scenario(py, &source.error(&e.key, &e.message)))?;
    }
    let failure = Arc::new(Failure::default());
    let catalog = Policies::new(policies, &failure);
    let built = Simulation::new(&scenario, &catalog, seed, scheme);
    let mut simulation = built.map_err(|e| error::scenario(py, &source.build_error(&e)))?;
    let watched = py.detach(|| watch(&mut simulation, &scenario, flow, wanted, &mut UntilFailure(&failure)));
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let watched = watched.map_err(|e| error::value(&e.to_string()))?;
    let (result, account) = watched.expect("only a failure breaks it off");
    let run = RunName { seed, scheme: result.scheme, fingerprint: result.fingerprint.to_string() };
    Ok((story(&account, &run, wanted), as_json(&account, &run, wanted)))
}

/// Breaks a run off when a policy fails.
struct UntilFailure<'a>(&'a Failure);

impl Control for UntilFailure<'_> {
    fn progress(&mut self, _done: f64) -> ControlFlow<()> {
        if self.0.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
