//! `strandcast check`.

use strandcast_keys::catalog::Catalog;

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::loaded::LoadedScenario;
use crate::print;

/// Analyses a scenario and prints the result.
///
/// # Errors
/// [`CliError`]: errors in the scenario.
pub(crate) fn run(args: &CheckArgs, catalog: &dyn Catalog) -> Result<(), CliError> {
    let loaded = LoadedScenario::open(&args.file, &args.set)?;
    let checked = loaded.check(catalog)?;
    if args.json { print::json(&format!("{:#}\n", checked.json())) } else { print::text(&checked.text()) }
}
