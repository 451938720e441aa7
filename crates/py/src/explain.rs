//! Finds the reasons why a message or frame was late.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use pyo3::prelude::*;
use strandcast_lab::batch::LAST_SEED;
use strandcast_lab::explain::{as_json, report, trace_message};
use strandcast_lab::result::RunName;
use strandcast_lab::simulation::{Control, Query, Simulation};

use crate::error;
use crate::policy::{Failure, Policies};
use crate::runs::LOOK;
use crate::source::Source;

/// Runs a scenario again and reports what happened to a message or frame of a flow. Returns the report
/// as text for people, the report as JSON, and the fingerprint of the run.
#[pyfunction]
#[pyo3(signature = (source, scheme, policies, *, seed, flow, frame, message))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of one call")]
pub(crate) fn explain(
    py: Python<'_>,
    source: &Source,
    scheme: Option<&str>,
    policies: BTreeMap<String, (String, Py<PyAny>)>,
    seed: &Bound<'_, PyAny>,
    flow: &str,
    frame: Option<&Bound<'_, PyAny>>,
    message: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    let seed = error::number("seed", seed, LAST_SEED)?;
    let frame = frame.map(|frame| error::number("frame", frame, u32::MAX.into())).transpose()?;
    let message = message.map(|message| error::number("message", message, u64::MAX)).transpose()?;
    let query = frame.map_or(Query::Message(message.unwrap_or_default()), |frame| Query::Frame(frame as u32));
    let scenario = source.compared(py, scheme.is_some())?;
    let failure = Arc::new(Failure::default());
    let catalog = Policies::new(policies, &failure);
    let built = Simulation::new(&scenario, &catalog, seed, scheme);
    let mut simulation = built.map_err(|e| source.wrong(py, &scenario, scheme, &e))?;
    let mut until = UntilFailure { failure: &failure, looked: Instant::now(), signal: Ok(()) };
    let watched = py.detach(|| trace_message(&mut simulation, &scenario, flow, query, &mut until));
    until.signal?;
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let watched = watched.map_err(|e| error::value(&e.to_string()))?;
    let (result, explanation) = watched.expect("only a failure or a signal breaks it off");
    explanation.check(query).map_err(|e| error::value(&e.to_string()))?;
    let run = RunName { seed, scheme: result.scheme, fingerprint: result.fingerprint.to_string() };
    let (text, json) = (report(&explanation, &run, query), as_json(&explanation, &run, query));
    Ok((text, json, run.fingerprint))
}

/// Ends a run early when a policy fails, or when the handler of a signal raises an exception.
struct UntilFailure<'a> {
    failure: &'a Failure,
    /// Time at which signals were last checked.
    looked: Instant,
    /// Exception that the handler of a signal raised.
    signal: PyResult<()>,
}

impl Control for UntilFailure<'_> {
    fn progress(&mut self, _done: f64) -> ControlFlow<()> {
        if self.looked.elapsed() >= LOOK {
            self.signal = Python::attach(|py| py.check_signals());
            self.looked = Instant::now();
        }
        match self.failure.is_set() || self.signal.is_err() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
