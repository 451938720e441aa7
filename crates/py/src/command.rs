//! The command.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with its arguments, the program's name first, and gives its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| strandcast::run_code(args))
}
