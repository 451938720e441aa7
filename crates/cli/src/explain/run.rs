//! `strandcast explain`.

use super::json::as_json;
use super::result::Kept;
use super::story::story;
use crate::args::ExplainArgs;
use crate::catalog::Schemes;
use crate::error::CliError;
use crate::print;
use crate::simulate::compared;
use std::any::Any;
use strandcast_sim::simulation::{Account, Explainer, RunOptions, Simulation, Wanted};

/// Runs one run of a result again, and tells what happened to a message or frame.
///
/// # Errors
/// [`CliError`].
pub(crate) fn run(args: &ExplainArgs) -> Result<(), CliError> {
    let mut kept = Kept::open(&args.result)?;
    let run = kept.run(args.seed, args.scheme.as_deref())?.clone();
    let own = Simulation::new(&kept.loaded.scenario, &Schemes, run.seed, None);
    let own = own.map_err(|e| kept.loaded.build_error(&e))?;
    let mut simulation = own;
    if simulation.scheme() != run.scheme {
        compared(&mut kept.loaded)?;
        let other = Simulation::new(&kept.loaded.scenario, &Schemes, run.seed, Some(&run.scheme));
        simulation = other.map_err(|e| kept.loaded.build_error(&e))?;
    }
    let wanted = match (args.frame, args.message) {
        (Some(frame), _) => Wanted::Frame(frame),
        (None, message) => Wanted::Message(message.unwrap_or_default()),
    };
    let explainer = Explainer::new(&simulation, &kept.loaded.scenario, &args.flow, wanted)
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let options = RunOptions { series: None, recorder: Some(Box::new(explainer)) };
    let result = simulation.run(options, &mut ()).expect("nobody breaks it off");
    if result.fingerprint.to_string() != run.fingerprint {
        let message =
            format!("the run of seed {} went another way than then: run the scenario again", run.seed);
        return Err(CliError::Unmet(message));
    }
    let account = account(&mut simulation);
    print::text(&if args.json { as_json(&account, &run, wanted) } else { story(&account, &run, wanted) })
}

fn account(simulation: &mut Simulation) -> Account {
    let recorder: Box<dyn Any> = simulation.take_recorder().expect("the run was given one");
    recorder.downcast::<Explainer>().expect("the recorder is the one the run was given").account()
}
