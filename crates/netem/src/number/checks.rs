//! Errors of numbers and traces, and the checks that find them.

use strandcast_proto::time::Duration;

/// Why a [`Number`](super::Number) or a [`Trace`](super::Trace) is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Infinite, or not a number.
    #[error("{0} is no finite number")]
    NotFinite(f64),
    /// The range is empty.
    #[error("the lower end, {low}, is above the upper end, {high}")]
    Range {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The number is drawn too often.
    #[error("a number can't be drawn every {0:?}: at least 1 µs")]
    Period(Duration),
    /// Steps or a trace without a value.
    #[error("there is no value")]
    Empty,
    /// Times do not ascend.
    #[error("{0:?} comes after a time that is no earlier")]
    NotAscending(Duration),
    /// A trace that begins again before its last time, or after no time at all.
    #[error("it can't begin again after {0:?}: that is before its last time, or no time at all")]
    Repeat(Duration),
}

pub(super) fn finite(value: f64) -> Result<(), NumberError> {
    if value.is_finite() { Ok(()) } else { Err(NumberError::NotFinite(value)) }
}

/// Checks that there is a value, all are finite and times ascend.
pub(super) fn check_points(points: &[(Duration, f64)]) -> Result<(), NumberError> {
    if points.is_empty() {
        return Err(NumberError::Empty);
    }
    points.iter().try_for_each(|&(_, value)| finite(value))?;
    match points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(NumberError::NotAscending(pair[1].0)),
        None => Ok(()),
    }
}
