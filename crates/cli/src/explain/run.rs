//! `strandcast explain`.

use super::json::as_json;
use super::result::Kept;
use super::story::story;
use crate::args::ExplainArgs;
use crate::error::CliError;
use crate::print;
use crate::simulate::compared;
use std::any::Any;
use strandcast_sim::result::RunName;
use strandcast_sim::simulation::{Account, Catalog, Explainer, RunOptions, Simulation, Wanted};

/// Runs one run of a result again, and tells what happened to a message or frame.
///
/// # Errors
/// [`CliError`].
pub(crate) fn run(args: &ExplainArgs, catalog: &dyn Catalog) -> Result<(), CliError> {
    let mut kept = Kept::open(&args.result)?;
    let run = kept.run(args.seed, args.scheme.as_deref())?.clone();
    let wanted = match (args.frame, args.message) {
        (Some(frame), _) => Wanted::Frame(frame),
        (None, message) => Wanted::Message(message.unwrap_or_default()),
    };
    let account = match again(&kept, &run, catalog, None, &args.flow, wanted)? {
        Some(account) => Some(account),
        // Not the scenario's own scheme, or not everywhere: --scheme has set it.
        None => match compared(&mut kept.loaded) {
            Ok(()) => again(&kept, &run, catalog, Some(&run.scheme), &args.flow, wanted)?,
            Err(_) => None,
        },
    };
    let account = account.ok_or_else(|| {
        let (seed, scheme) = (run.seed, &run.scheme);
        let message = format!("the run of scheme {scheme}, seed {seed} goes another way now: simulate again");
        CliError::Unmet(message)
    })?;
    print::text(&if args.json { as_json(&account, &run, wanted) } else { story(&account, &run, wanted) })
}

/// Makes a run again; `None` if it is another one.
fn again(
    kept: &Kept,
    run: &RunName,
    catalog: &dyn Catalog,
    scheme: Option<&str>,
    flow: &str,
    wanted: Wanted,
) -> Result<Option<Account>, CliError> {
    let scenario = &kept.loaded.scenario;
    let built = Simulation::new(scenario, catalog, run.seed, scheme);
    let mut simulation = built.map_err(|e| kept.loaded.build_error(&e))?;
    let explainer = Explainer::new(&simulation, scenario, flow, wanted);
    let explainer = explainer.map_err(|e| CliError::Usage(e.to_string()))?;
    if simulation.scheme() != run.scheme {
        return Ok(None);
    }
    let options = RunOptions { series: None, recorder: Some(Box::new(explainer)) };
    let result = simulation.run(options, &mut ()).expect("nobody breaks it off");
    let recorder: Box<dyn Any> = simulation.take_recorder().expect("the run was given one");
    let explainer = recorder.downcast::<Explainer>().expect("the recorder is the one the run was given");
    Ok((result.fingerprint.to_string() == run.fingerprint).then(|| explainer.account()))
}
