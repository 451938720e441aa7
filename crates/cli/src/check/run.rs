//! `strandcast check`.

use super::cost::cost;
use super::facts::facts;
use super::report::Report;
use super::share::rates;
use super::warn::warnings;
use crate::args::CheckArgs;
use crate::error::CliError;
use crate::loaded::Loaded;
use crate::print;
use strandcast_sim::simulation::Catalog;

/// Looks at a scenario and says what is known of it before it runs.
///
/// # Errors
/// [`CliError`]: mistakes in the scenario.
pub(crate) fn run(args: &CheckArgs, catalog: &dyn Catalog) -> Result<(), CliError> {
    let loaded = Loaded::open(&args.file, &args.set)?;
    let facts = facts(&loaded.scenario, catalog).map_err(|e| loaded.build_error(&e))?;
    let rates = rates(&facts);
    let report = Report {
        scenario: &loaded.scenario,
        hash: &loaded.hash,
        cost: cost(&facts, &rates),
        warnings: warnings(&loaded.scenario, &facts),
        rates: &rates,
        facts: &facts,
    };
    if args.json { print::json(&report.json()) } else { print::text(&report.text()) }
}
