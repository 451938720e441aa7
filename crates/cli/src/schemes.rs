//! `strandcast schemes`.

use std::io::{IsTerminal as _, stdout};

use strandcast_keys::catalog::CatalogError;

use crate::args::SchemesArgs;
use crate::error::CliError;
use crate::print;

/// Selects the schemes to list, and the form of the list.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// Names or specs of schemes. An empty list means all schemes.
    pub specs: &'a [String],
    /// True to list the keys of all parts. False to list only the keys of the scheme's own parts.
    pub all: bool,
    /// True to write JSON, which always contains all keys.
    pub json: bool,
    /// Number of columns of the terminal, or `None` if the output is not a terminal.
    pub columns: Option<usize>,
}

/// Lists schemes.
pub type ListSchemes = fn(&Listing<'_>) -> Result<String, CatalogError>;

/// Prints the list.
///
/// # Errors
/// [`CliError::Usage`]: a spec is wrong; as [`print::text`].
pub(crate) fn run(args: &SchemesArgs, list: ListSchemes) -> Result<(), CliError> {
    let out = stdout();
    let columns = out.is_terminal().then(|| print::columns(&out));
    let listing = Listing { specs: &args.names, all: args.all, json: args.json, columns };
    let text = list(&listing).map_err(|e| CliError::Usage(e.to_string()))?;
    if args.json { print::json(&text) } else { print::text(&text) }
}
