//! `strandcast schemes`.

use std::io::{IsTerminal as _, stdout};

use strandcast_keys::catalog::CatalogError;

use crate::args::SchemesArgs;
use crate::error::CliError;
use crate::print;

/// What of the schemes is listed, and how.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// Names or specs; none: all schemes.
    pub specs: &'a [String],
    /// With the keys of all parts, not of those alone that a scheme has.
    pub all: bool,
    /// As JSON, which always has all keys.
    pub json: bool,
    /// Columns of the terminal; `None`: there is none.
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
