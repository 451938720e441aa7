//! Errors in numbers and traces, and the checks that find these errors.

use strandcast_proto::time::Duration;

/// Reason for which a [`Number`](super::Number) or a [`Trace`](super::Trace) is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// The value is infinite or not a number.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// The range is empty.
    #[error("the lower end, {low}, is above the upper end, {high}")]
    Range {
        /// Lower end of the range.
        low: f64,
        /// Upper end of the range.
        high: f64,
    },
    /// The time between draws of the number is too short.
    #[error("a number can't be drawn every {0:?}: at least 1 µs")]
    Period(Duration),
    /// A deviation, a shape or a correlation of the distribution is out of range.
    #[error("a deviation, shape or correlation is outside of its range")]
    Law,
    /// A trace has a random offset although it does not repeat.
    #[error("only a trace that repeats can begin at a random time")]
    Endless,
    /// A list of steps or a trace contains no value.
    #[error("no value is given")]
    Empty,
    /// The times do not ascend.
    #[error("{0:?} does not exceed the time before it")]
    NotAscending(Duration),
    /// The trace repeats before its last time, or after a time of zero.
    #[error("it can't repeat after {0:?}: that is 0 or before its last time")]
    Repeat(Duration),
}

pub(super) fn finite(value: f64) -> Result<(), NumberError> {
    if value.is_finite() { Ok(()) } else { Err(NumberError::NotFinite(value)) }
}

/// Checks that there is at least one point, that all values are finite, and that times ascend.
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
