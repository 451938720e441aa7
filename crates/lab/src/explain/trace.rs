//! A run that traces one message or frame.

use std::any::Any;

use crate::result::RunResult;
use crate::scenario::Scenario;
use crate::simulation::{Control, ExplainError, Explainer, Explanation, Query, RunOptions, Simulation};

/// Runs `simulation`, which was built from `scenario`, and traces a message or frame of a flow. Returns `None` if
/// `control` interrupted the run.
///
/// # Errors
/// There is no such flow, or its video is too short. [`Explanation::check`] reports messages that were not sent before
/// the end of the run.
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
