//! `strandcast explain`.

use strandcast_keys::catalog::Catalog;
use strandcast_lab::explain::{as_json, report, trace_message};
use strandcast_lab::result::RunName;
use strandcast_lab::simulation::{Explanation, Query, Simulation};

use super::result::StoredResult;
use crate::args::ExplainArgs;
use crate::error::CliError;
use crate::print;

/// Repeats one run of a result, and explains why a message or frame was late.
///
/// # Errors
/// [`CliError`].
pub(crate) fn run(args: &ExplainArgs, catalog: &dyn Catalog) -> Result<(), CliError> {
    let mut kept = StoredResult::open(&args.result)?;
    let run = kept.run(args.seed, args.scheme.as_deref())?.clone();
    let query = match (args.frame, args.message) {
        (Some(frame), _) => Query::Frame(frame),
        (None, message) => Query::Message(message.unwrap_or_default()),
    };
    let scheme = Some(run.scheme.as_str()).filter(|_| !kept.summary.schemes.is_empty());
    if scheme.is_some() {
        kept.loaded.mark_compared()?;
    }
    let explanation = rerun(&kept, &run, catalog, scheme, &args.flow, query)?;
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

/// Repeats a run. Returns `None` if the result of the repeated run differs.
fn rerun(
    kept: &StoredResult,
    run: &RunName,
    catalog: &dyn Catalog,
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
