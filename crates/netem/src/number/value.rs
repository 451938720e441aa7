//! Description of a number that may change.

use std::sync::Arc;

use strandcast_proto::time::Duration;

use super::checks::{NumberError, check_points, finite};
use super::trace::Trace;

/// A number that may change during a run. The owner defines its unit: bit/s, seconds, a probability.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A constant.
    Constant(f64),
    /// Uniform in `[low, high)`.
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Times at which it is drawn.
        every: Every,
    },
    /// A list of times, which ascend, and of the value from each of them on. The first value also holds
    /// before its time.
    Steps(Vec<(Duration, f64)>),
    /// A recorded number.
    Trace(Arc<Trace>),
}

/// Times at which a random number is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Once.
    Run,
    /// Once per packet.
    Packet,
    /// Once per multiple of this time, at least 1 µs.
    Period(Duration),
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number::Constant(value)
    }
}

/// A constant in seconds.
impl From<Duration> for Number {
    fn from(time: Duration) -> Self {
        Number::Constant(time.as_secs_f64())
    }
}

impl Number {
    /// Checks numbers from outside the program.
    ///
    /// # Errors
    /// [`NumberError`].
    pub fn validate(&self) -> Result<(), NumberError> {
        match *self {
            Number::Constant(value) => finite(value),
            Number::Uniform { low, high, every } => {
                finite(low)?;
                finite(high)?;
                match every {
                    _ if low > high => Err(NumberError::Range { low, high }),
                    Every::Period(period) if period < Duration::from_micros(1) => {
                        Err(NumberError::Period(period))
                    }
                    _ => Ok(()),
                }
            }
            Number::Steps(ref steps) => check_points(steps),
            // A trace is checked at its creation.
            Number::Trace(_) => Ok(()),
        }
    }

    /// Minimum and maximum of its values.
    pub fn range(&self) -> (f64, f64) {
        let of = |points: &[(Duration, f64)]| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            points.iter().fold(ends, |(low, high), &(_, value)| (low.min(value), high.max(value)))
        };
        match self {
            Number::Constant(value) => (*value, *value),
            Number::Uniform { low, high, .. } => (*low, *high),
            Number::Steps(steps) => of(steps),
            Number::Trace(trace) => of(trace.points()),
        }
    }

    /// Long-run mean: the last value of steps, and of a trace that does not repeat.
    pub fn mean(&self) -> f64 {
        match self {
            Number::Constant(value) => *value,
            Number::Uniform { low, high, .. } => (low + high) / 2.0,
            Number::Steps(steps) => steps.last().map_or(f64::NAN, |&(_, value)| value),
            Number::Trace(trace) => trace.mean(),
        }
    }
}
