//! Reasons why runs end early.

use std::fmt;

use crate::result::output::OutputError;
use crate::simulation::BuildError;

/// Reason why runs ended early.
#[derive(Debug)]
pub enum RunError {
    /// The scenario cannot be built with a scheme.
    Build(Option<String>, BuildError),
    /// Time series cannot be written.
    Output(OutputError),
    /// There are more values of time series than memory has room for.
    Series {
        /// Greatest number of values.
        most: u64,
    },
    /// Threads cannot be started.
    Threads(String),
    /// A scheme failed.
    Scheme(String),
    /// A requested precision cannot be reached.
    Until(String),
}

impl From<OutputError> for RunError {
    fn from(error: OutputError) -> Self {
        RunError::Output(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Build(Some(scheme), error) => write!(f, "{scheme}: {error}"),
            RunError::Build(None, error) => error.fmt(f),
            RunError::Output(error) => error.fmt(f),
            RunError::Series { most } => write!(
                f,
                "time series have more than {most} values, which memory may not hold; choose a longer step, or write them \
                 to files with `strandcast simulate FILE --series STEP --out FOLDER`"
            ),
            RunError::Threads(error) => write!(f, "cannot start threads: {error}"),
            RunError::Scheme(error) | RunError::Until(error) => f.write_str(error),
        }
    }
}
