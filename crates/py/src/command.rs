//! The command, and measurements of the command for other programs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast_keys::text::printable;

use crate::error;
use crate::policy::{Failure, Plan, Policies};

/// Exit code of a command whose policy failed.
const FAILED: u8 = 1;

/// Runs the command and returns its exit code. `args` begin with the program's name. If a policy fails
/// on real links, the command reports the failure at once and again at the end. Meanwhile the base
/// scheme of the policy decides for that association, so that the video continues.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    let failure = Arc::new(Failure::printed());
    let catalog = Arc::new(Policies::new(BTreeMap::new(), &failure));
    let code = py.detach(|| strandcast_cli::run_with(args, catalog));
    match failure.line() {
        Some(line) if code == 0 => {
            eprintln!("strandcast: {}; from then on its base scheme decided alone", printable(&line));
            FAILED
        }
        _ => code,
    }
}

/// Measures as `perf client` does with these arguments, and returns its JSON.
#[pyfunction]
pub(crate) fn perf(
    py: Python<'_>,
    args: Vec<OsString>,
    policies: BTreeMap<String, Plan>,
) -> PyResult<String> {
    let failure = Arc::new(Failure::default());
    let catalog = Arc::new(Policies::new(policies, &failure));
    let measured = py.detach(|| strandcast_cli::perf_client(args, catalog));
    py.check_signals()?;
    if let Some(raised) = failure.take() {
        return Err(raised);
    }
    measured.map_err(|(code, line)| error::command(py, code, &line))
}
