//! Converts errors of this module to exceptions of `strandcast.errors`.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strandcast_keys::text::printable;
use strandcast_lab::batch::RunError;
use strandcast_lab::scenario::ScenarioError;

/// Returns `strandcast.ScenarioError` for a mistake in a scenario.
pub(crate) fn scenario(py: Python<'_>, error: &ScenarioError) -> PyErr {
    let fields = || {
        let fields = PyDict::new(py);
        fields.set_item("file", &error.file)?;
        fields.set_item("line", error.line)?;
        fields.set_item("setting", &error.set)?;
        fields.set_item("key", &error.key)?;
        fields.set_item("problem", &error.message)?;
        Ok(fields)
    };
    fields()
        .and_then(|fields| raise(py, "ScenarioError", &error.to_string(), Some(&fields)))
        .unwrap_or_else(|e| e)
}

/// Returns `strandcast.SchemeError` for a mistake in a scheme's name or parameters.
pub(crate) fn scheme(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "SchemeError", message, None).unwrap_or_else(|e| e)
}

/// Returns `strandcast.PolicyError` for an invalid answer of a policy.
pub(crate) fn policy(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "PolicyError", message, None).unwrap_or_else(|e| e)
}

/// Returns `ValueError` for something that was requested and does not exist.
pub(crate) fn value(message: &str) -> PyErr {
    PyValueError::new_err(message.to_owned())
}

/// Reads the argument `name`, a whole number from 0 to `most`. Raises `ValueError` if the number is out
/// of range, and `TypeError` if the argument is not a whole number.
pub(crate) fn number(name: &str, given: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    let wrong = || value(&format!("{name}={given}: the value must be from 0 to {most}"));
    match given.extract() {
        Ok(number) if number <= most => Ok(number),
        Err(e) if !e.is_instance_of::<PyOverflowError>(given.py()) => Err(e),
        _ => Err(wrong()),
    }
}

/// Returns the error of a command that ends with this exit code: `strandcast.NetworkError` if the
/// network or the peer is the cause.
#[cfg(feature = "command")]
pub(crate) fn command(py: Python<'_>, code: u8, message: &str) -> PyErr {
    let class = if matches!(code, 4 | 5) { "NetworkError" } else { "StrandcastError" };
    raise(py, class, message, None).unwrap_or_else(|e| e)
}

/// Returns the error that ended a stream: `strandcast.NetworkError` if the network or the peer is the
/// cause.
#[cfg(feature = "command")]
pub(crate) fn live(py: Python<'_>, error: &strandcast::Error) -> PyErr {
    use strandcast::Error;
    let class = match error {
        Error::Network(_) | Error::Peer(_) => "NetworkError",
        _ => "StrandcastError",
    };
    raise(py, class, &error.to_string(), None).unwrap_or_else(|e| e)
}

/// Anything else: `strandcast.StrandcastError`.
#[cfg(feature = "command")]
pub(crate) fn other(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "StrandcastError", message, None).unwrap_or_else(|e| e)
}

/// Returns the error for runs that failed: `strandcast.ScenarioError` if the scenario is the cause,
/// otherwise `strandcast.StrandcastError`.
pub(crate) fn run(py: Python<'_>, error: &RunError) -> PyErr {
    raise(py, "StrandcastError", &error.to_string(), None).unwrap_or_else(|e| e)
}

/// Returns `strandcast.TraceError` for a mistake in a trace.
pub(crate) fn trace(py: Python<'_>, file: &str, line: usize, problem: &str) -> PyErr {
    let fields = || {
        let fields = PyDict::new(py);
        fields.set_item("file", file)?;
        fields.set_item("line", line)?;
        fields.set_item("problem", problem)?;
        Ok(fields)
    };
    fields()
        .and_then(|fields| raise(py, "TraceError", &format!("{file}:{line}: {problem}"), Some(&fields)))
        .unwrap_or_else(|e| e)
}

/// Makes an exception of the class with this name. Returns an error if the class does not exist.
fn raise(py: Python<'_>, name: &str, message: &str, fields: Option<&Bound<'_, PyDict>>) -> PyResult<PyErr> {
    let class = py.import("strandcast.errors")?.getattr(name)?;
    // A traceback prints the message unchanged on a terminal, so that control characters must be
    // escaped.
    Ok(PyErr::from_value(class.call((printable(message).as_ref(),), fields)?))
}
