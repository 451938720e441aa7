//! Conversion of the scenario's numbers, traces and links into those of the simulator.

use core::time::Duration;
use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_netem::number::{self, Trace, Varying};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::BuildError;
use crate::scenario::{Every, Number, Offset, TraceFile};

/// Converts a number of the scenario.
pub(super) fn number(number: &Number, seeds: &Seeds, key: &str) -> Result<number::Number, BuildError> {
    let value = match number {
        Number::Constant(value) => number::Number::Constant(*value),
        Number::Uniform { low, high, every } => {
            number::Number::Uniform { low: *low, high: *high, every: how_often(*every) }
        }
        Number::Drawn { law, within, correlation, every } => {
            number::Number::Drawn { law: law.within(*within, *correlation), every: how_often(*every) }
        }
        Number::Traces { files, repeat, offset } => {
            let traces = files.iter().map(|file| trace(file, *repeat, key).map(Arc::new));
            number::Number::Traces { traces: traces.collect::<Result<_, _>>()?, offset: begin(*offset) }
        }
        Number::Caused { cause: name, number: caused } => {
            let number = Box::new(self::number(caused, seeds, key)?);
            number::Number::Caused { cause: cause(seeds, name), number }
        }
        Number::Steps(steps) => number::Number::Steps(steps.clone()),
        Number::Trace { file, repeat } => number::Number::Trace(Arc::new(trace(file, *repeat, key)?)),
    };
    value.validate().map_err(|error| BuildError::new(key, &error.to_string()))?;
    Ok(value)
}

fn how_often(every: Every) -> number::Every {
    match every {
        Every::Run => number::Every::Run,
        Every::Packet => number::Every::Packet,
        Every::Period(period) => number::Every::Period(period),
    }
}

/// Converts the start within a trace.
pub(super) fn begin(offset: Offset) -> number::Offset {
    match offset {
        Offset::Fixed(offset) => number::Offset::Fixed(offset),
        Offset::Random => number::Offset::Random,
    }
}

/// Seed of a cause in a run with these `seeds`.
pub(super) fn cause(seeds: &Seeds, name: &str) -> u64 {
    seeds.child(&format!("cause {name}")).stream("seed").u64()
}

fn trace(file: &TraceFile, repeat: bool, key: &str) -> Result<Trace, BuildError> {
    let trace = Trace::from_csv(&file.text).map_err(|error| in_file(file, key, &error.to_string()))?;
    if repeat { trace.repeating().map_err(|error| in_file(file, key, &error.to_string())) } else { Ok(trace) }
}

/// Reads the frames of a video.
pub(super) fn frames(file: &TraceFile, key: &str) -> Result<Arc<FrameTrace>, BuildError> {
    let trace = FrameTrace::parse(&file.text).map_err(|error| in_file(file, key, &error.to_string()))?;
    Ok(Arc::new(trace))
}

pub(super) fn in_file(file: &TraceFile, key: &str, message: &str) -> BuildError {
    BuildError::new(key, &format!("{}: {message}", file.path.display()))
}

/// Makes a varying number with a separate random stream, which derives from the run's `seeds`.
pub(super) fn varying(
    value: &Number,
    (seeds, random): (&Seeds, Random),
    origin: Instant,
    key: &str,
) -> Result<Varying, BuildError> {
    Ok(Varying::new(&number(value, seeds, key)?, random, origin))
}

/// Converts a time in seconds. A negative time or a time that is too long becomes the nearest possible time.
pub(super) fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s.max(0.0)).unwrap_or(Duration::MAX)
}
