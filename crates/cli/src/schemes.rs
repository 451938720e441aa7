//! `strandcast schemes`.

use strandcast_proto::catalog::CatalogError;

use crate::args::SchemesArgs;
use crate::error::CliError;
use crate::print;

/// Lists all schemes, or those with these names, for people; or as JSON (`true`).
pub type ListSchemes = fn(&[String], bool) -> Result<String, CatalogError>;

/// Prints the list.
///
/// # Errors
/// [`CliError::Usage`]: there is none of that name; [`CliError::Media`]: the list cannot be written.
pub(crate) fn run(args: &SchemesArgs, list: ListSchemes) -> Result<(), CliError> {
    let text = list(&args.names, args.json).map_err(|e| CliError::Usage(e.to_string()))?;
    if args.json { print::json(&text) } else { print::text(&text) }
}
