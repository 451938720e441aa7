//! Numbers, traces and links as the scenario gives them, turned into those at work.

use core::time::Duration;
use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_netem::number::{self, Trace, Varying};
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::BuildError;
use crate::scenario::{Every, Number, TraceFile};

/// A number of the scenario.
pub(super) fn number(number: &Number, key: &str) -> Result<number::Number, BuildError> {
    let value = match number {
        Number::Constant(value) => number::Number::Constant(*value),
        Number::Uniform { low, high, every } => {
            let every = match every {
                Every::Run => number::Every::Run,
                Every::Packet => number::Every::Packet,
                Every::Period(period) => number::Every::Period(*period),
            };
            number::Number::Uniform { low: *low, high: *high, every }
        }
        Number::Steps(steps) => number::Number::Steps(steps.clone()),
        Number::Trace { file, repeat } => number::Number::Trace(Arc::new(trace(file, *repeat, key)?)),
    };
    value.validate().map_err(|error| BuildError::new(key, &error.to_string()))?;
    Ok(value)
}

fn trace(file: &TraceFile, repeat: bool, key: &str) -> Result<Trace, BuildError> {
    let trace = Trace::from_csv(&file.text).map_err(|error| in_file(file, key, &error.to_string()))?;
    if repeat { trace.repeating().map_err(|error| in_file(file, key, &error.to_string())) } else { Ok(trace) }
}

/// The frames of a video.
pub(super) fn frames(file: &TraceFile, key: &str) -> Result<Arc<FrameTrace>, BuildError> {
    let trace = FrameTrace::parse(&file.text).map_err(|error| in_file(file, key, &error.to_string()))?;
    Ok(Arc::new(trace))
}

pub(super) fn in_file(file: &TraceFile, key: &str, message: &str) -> BuildError {
    BuildError::new(key, &format!("{}: {message}", file.path.display()))
}

/// A number at work, with randomness of its own.
pub(super) fn varying(
    value: &Number,
    random: Random,
    origin: Instant,
    key: &str,
) -> Result<Varying, BuildError> {
    Ok(Varying::new(&number(value, key)?, random, origin))
}

/// A time in seconds; what is negative or too long counts as the nearest there is.
pub(super) fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s.max(0.0)).unwrap_or(Duration::MAX)
}
