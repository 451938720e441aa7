//! `strandcast explain`.

use std::any::Any;

use strandcast_lab::result::{RunName, RunResult};
use strandcast_lab::scenario::Scenario;
use strandcast_lab::simulation::{
    Control, ExplainError, Explainer, Explanation, Query, RunOptions, Simulation,
};

use super::json::as_json;
use super::result::StoredResult;
use super::text::report;
use crate::args::ExplainArgs;
use crate::catalog::SchemeProvider;
use crate::error::CliError;
use crate::print;
use crate::simulate::compared;

/// Repeats one run of a result and explains a message or frame.
///
/// # Errors
/// [`CliError`].
pub(crate) fn run(args: &ExplainArgs, catalog: &dyn SchemeProvider) -> Result<(), CliError> {
    let mut kept = StoredResult::open(&args.result)?;
    let run = kept.run(args.seed, args.scheme.as_deref())?.clone();
    let query = match (args.frame, args.message) {
        (Some(frame), _) => Query::Frame(frame),
        (None, message) => Query::Message(message.unwrap_or_default()),
    };
    let explanation = match rerun(&kept, &run, catalog, None, &args.flow, query)? {
        Some(explanation) => Some(explanation),
        // The scheme is not the scenario's own, or not everywhere: --scheme has set it.
        None => match compared(&mut kept.loaded) {
            Ok(()) => rerun(&kept, &run, catalog, Some(&run.scheme), &args.flow, query)?,
            Err(_) => None,
        },
    };
    let explanation = explanation.ok_or_else(|| {
        let (seed, scheme) = (run.seed, &run.scheme);
        let message = format!(
            "the run with scheme {scheme}, seed {seed} is not reproducible with this version: simulate again"
        );
        CliError::Unmet(message)
    })?;
    explanation.check(query).map_err(|e| CliError::Usage(e.to_string()))?;
    if args.json {
        print::json(&as_json(&explanation, &run, query))
    } else {
        print::text(&report(&explanation, &run, query))
    }
}

/// Repeats a run; `None` if its result differs.
fn rerun(
    kept: &StoredResult,
    run: &RunName,
    catalog: &dyn SchemeProvider,
    scheme: Option<&str>,
    flow: &str,
    query: Query,
) -> Result<Option<Explanation>, CliError> {
    let scenario = &kept.loaded.scenario;
    catalog.before_run(run.seed);
    let built = Simulation::new(scenario, catalog, run.seed, scheme);
    let mut simulation = built.map_err(|e| kept.loaded.build_error(&e))?;
    if simulation.scheme() != run.scheme {
        return Ok(None);
    }
    let watched = trace_message(&mut simulation, scenario, flow, query, &mut ());
    let watched = watched.map_err(|e| CliError::Usage(e.to_string()))?;
    let (result, explanation) = watched.expect("the run is never interrupted");
    Ok((result.fingerprint.to_string() == run.fingerprint).then_some(explanation))
}

/// Runs `simulation`, which was built from `scenario`, and traces a message or frame of a flow; `None` if `control`
/// interrupted it.
///
/// # Errors
/// There is no such flow, or its video is too short. [`Explanation::check`] finds what the run did not reach.
pub fn trace_message(
    simulation: &mut Simulation,
    scenario: &Scenario,
    flow: &str,
    query: Query,
    control: &mut impl Control,
) -> Result<Option<(RunResult, Explanation)>, ExplainError> {
    let explainer = Explainer::new(simulation, scenario, flow, query)?;
    let options = RunOptions { series: None, recorder: Some(Box::new(explainer)) };
    let Some(result) = simulation.run(options, control) else { return Ok(None) };
    let recorder: Box<dyn Any> = simulation.take_recorder().expect("the run was given one");
    let explainer = recorder.downcast::<Explainer>().expect("the recorder is the one the run was given");
    Ok(Some((result, explainer.explanation())))
}
