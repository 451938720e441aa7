//! `strandcast schemes`.

use std::io::{IsTerminal as _, stdout};

use strandcast_keys::catalog::CatalogError;

use crate::args::SchemesArgs;
use crate::error::CliError;
use crate::print;

/// Selection and form of the list of schemes.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// Names or specs; empty: all schemes.
    pub specs: &'a [String],
    /// True for the keys of all parts, not only of the scheme's own parts.
    pub all: bool,
    /// True for JSON, which always has all keys.
    pub json: bool,
    /// Columns of the terminal; `None`: the output is not a terminal.
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
