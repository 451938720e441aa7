//! Results on standard output.

use crate::error::CliError;
use std::io::{Write, stdout};

/// Prints a result.
///
/// # Errors
/// [`CliError::Media`]: whoever reads has gone, or the disk is full.
pub(crate) fn text(text: &str) -> Result<(), CliError> {
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| CliError::Media(format!("cannot write to standard output: {e}")))
}
