//! `strandcast check`.

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::loaded::{Loaded, current};
use crate::print;
use strandcast_proto::catalog::Catalog;

/// Looks at a scenario and says what is known of it before it runs.
///
/// # Errors
/// [`CliError`]: mistakes in the scenario.
pub(crate) fn run(args: &CheckArgs, catalog: &dyn Catalog) -> Result<(), CliError> {
    let loaded = Loaded::open(&current(args.file.clone()), &args.set)?;
    let checked = loaded.check(catalog)?;
    if args.json { print::json(&format!("{:#}\n", checked.json())) } else { print::text(&checked.text()) }
}
