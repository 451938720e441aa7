//! `strandcast check`.

use strandcast_keys::catalog::Catalog;

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::loaded::LoadedScenario;
use crate::print;

/// Analyses a scenario and prints the result.
///
/// # Errors
/// Returns [`CliError`] if the scenario has errors.
pub(crate) fn run(args: &CheckArgs, catalog: &dyn Catalog) -> Result<(), CliError> {
    let mut loaded = LoadedScenario::open(&args.file, &args.set)?;
    if args.scheme.is_some() {
        loaded.mark_compared()?;
    }
    let checked = loaded.check(catalog, args.scheme.as_deref())?;
    if args.json { print::json(&format!("{:#}\n", checked.json())) } else { print::text(&checked.text()) }
}
