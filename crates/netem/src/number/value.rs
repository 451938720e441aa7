//! Description of a number that may change.

use std::sync::Arc;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::Duration;

use super::checks::{NumberError, check_points, finite};
use super::law::Law;
use super::trace::Trace;

/// A number that may change during a run. The unit of such a number depends on its use: bit/s, seconds, or a
/// probability.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// The number is constant.
    Constant(f64),
    /// The number is uniformly distributed in `[low, high)`.
    Uniform {
        /// Lower end of the range.
        low: f64,
        /// Upper end of the range.
        high: f64,
        /// Times at which the number is drawn.
        every: Every,
    },
    /// A list of ascending times, each with the value that applies from this time on. The first value also applies
    /// before its own time.
    Steps(Vec<(Duration, f64)>),
    /// The number is recorded in a trace.
    Trace(Arc<Trace>),
    /// The number is drawn from a distribution.
    Drawn {
        /// Distribution of the number.
        law: Law,
        /// Times at which the number is drawn.
        every: Every,
    },
    /// The number is recorded in one of several traces, which is drawn once. The recorded number starts at a given or a
    /// random time of the trace.
    Traces {
        /// The traces. There is at least one.
        traces: Vec<Arc<Trace>>,
        /// Time within the trace that corresponds to time 0.
        offset: Offset,
    },
    /// The number takes the draws of a cause. All numbers of one cause that have equal laws and times are equal.
    Caused {
        /// Seed of the cause.
        cause: u64,
        /// Description of the number.
        number: Box<Number>,
    },
}

/// Time within a trace at which a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// The run starts at this time of the trace.
    Fixed(Duration),
    /// The run starts at a uniformly distributed time within a trace that repeats. The time is drawn once.
    Random,
}

impl Offset {
    /// Returns the offset in nanoseconds within a trace of this period.
    pub(crate) fn within(self, period: u64, random: &mut Random) -> u64 {
        match self {
            Offset::Fixed(offset) => u64::try_from(offset.as_nanos()).unwrap_or(u64::MAX),
            Offset::Random => random.below(period),
        }
    }
}

/// Times at which a random number is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// The number is drawn once per run.
    Run,
    /// The number is drawn for each packet.
    Packet,
    /// The number is drawn at each multiple of this time, which is at least 1 µs.
    Period(Duration),
}

impl Every {
    fn validate(self) -> Result<(), NumberError> {
        match self {
            Every::Period(period) if period < Duration::from_micros(1) => Err(NumberError::Period(period)),
            _ => Ok(()),
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number::Constant(value)
    }
}

/// Returns a constant number of seconds.
impl From<Duration> for Number {
    fn from(time: Duration) -> Self {
        Number::Constant(time.as_secs_f64())
    }
}

impl Number {
    /// Checks that all values are valid.
    ///
    /// # Errors
    /// Returns a [`NumberError`] if a value is invalid.
    pub fn validate(&self) -> Result<(), NumberError> {
        match *self {
            Number::Constant(value) => finite(value),
            Number::Uniform { low, high, every } => {
                finite(low)?;
                finite(high)?;
                if low > high {
                    return Err(NumberError::Range { low, high });
                }
                every.validate()
            }
            Number::Drawn { law, every } => law.validate().and_then(|()| every.validate()),
            Number::Traces { ref traces, offset } => match offset {
                _ if traces.is_empty() => Err(NumberError::Empty),
                Offset::Random if traces.iter().any(|trace| trace.repeat().is_none()) => {
                    Err(NumberError::Endless)
                }
                _ => Ok(()),
            },
            Number::Caused { ref number, .. } => number.validate(),
            Number::Steps(ref steps) => check_points(steps),
            // A trace is checked at its creation.
            Number::Trace(_) => Ok(()),
        }
    }

    /// Returns the minimum and the maximum of the number's values.
    pub fn range(&self) -> (f64, f64) {
        let of = |points: &[(Duration, f64)]| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            points.iter().fold(ends, |(low, high), &(_, value)| (low.min(value), high.max(value)))
        };
        match self {
            Number::Constant(value) => (*value, *value),
            Number::Uniform { low, high, .. } => (*low, *high),
            Number::Drawn { law, .. } => (law.low, law.high),
            Number::Traces { traces, .. } => {
                let ranges = traces.iter().map(|trace| of(trace.points()));
                ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((f64::NAN, f64::NAN))
            }
            Number::Caused { number, .. } => number.range(),
            Number::Steps(steps) => of(steps),
            Number::Trace(trace) => of(trace.points()),
        }
    }

    /// Returns whether the number is drawn for each packet.
    pub fn is_drawn_by_packet(&self) -> bool {
        match self {
            Number::Uniform { every, .. } | Number::Drawn { every, .. } => *every == Every::Packet,
            Number::Caused { number, .. } => number.is_drawn_by_packet(),
            Number::Constant(_) | Number::Steps(_) | Number::Trace(_) | Number::Traces { .. } => false,
        }
    }

    /// Returns the long-run mean. For steps, and for a trace that does not repeat, it is the last value. For a
    /// distribution, it includes draws that were replaced by an end of the range.
    pub fn mean(&self) -> f64 {
        match self {
            Number::Constant(value) => *value,
            Number::Uniform { low, high, .. } => (low + high) / 2.0,
            Number::Steps(steps) => steps.last().map_or(f64::NAN, |&(_, value)| value),
            Number::Trace(trace) => trace.mean(),
            Number::Drawn { law, .. } => law.mean(),
            Number::Traces { traces, .. } => {
                traces.iter().map(|trace| trace.mean()).sum::<f64>() / traces.len() as f64
            }
            Number::Caused { number, .. } => number.mean(),
        }
    }
}
