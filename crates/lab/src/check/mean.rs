//! Means of numbers that change over time.

use std::sync::Arc;
use std::time::Duration;

use strandcast_media::trace::FrameTrace;
use strandcast_netem::number::{self, Trace};

use crate::scenario::{Frames, Number, TraceFile, Video};

/// Mean of a number over a run of this length.
pub(super) fn mean(number: &Number, run: Duration) -> f64 {
    match number {
        Number::Constant(value) => *value,
        Number::Uniform { low, high, .. } => (low + high) / 2.0,
        Number::Steps(steps) => over(steps, run),
        Number::Trace { file, repeat } => recorded(file, *repeat, run),
        Number::Traces { files, repeat, .. } => {
            files.iter().map(|file| recorded(file, *repeat, run)).sum::<f64>() / files.len() as f64
        }
        Number::Drawn { law, within, .. } => law.within(*within, 0.0).mean(),
        Number::Caused { number, .. } => mean(number, run),
    }
}

fn recorded(file: &TraceFile, repeat: bool, run: Duration) -> f64 {
    let trace = Trace::from_csv(&file.text).expect("traces are checked when a scenario is read");
    match (repeat, trace.clone().repeating()) {
        (true, Ok(trace)) => number::Number::Trace(Arc::new(trace)).mean(),
        _ => over(trace.points(), run),
    }
}

/// Mean over `run` of a step function with these `points`. The first value also holds before its time.
fn over(points: &[(Duration, f64)], run: Duration) -> f64 {
    let starts =
        points.iter().enumerate().map(|(i, (at, value))| (if i == 0 { Duration::ZERO } else { *at }, value));
    let ends = points.iter().skip(1).map(|(at, _)| *at).chain([Duration::MAX]);
    let parts = starts
        .zip(ends)
        .map(|((start, value), end)| (end.min(run).saturating_sub(start).as_secs_f64(), value));
    let sum: f64 = parts.map(|(seconds, value)| seconds * value).sum();
    let length = run.as_secs_f64();
    if length > 0.0 { sum / length } else { points.first().map_or(0.0, |(_, value)| *value) }
}

/// The mean rate of a video, bit/s.
pub(super) fn video_bps(video: &Video) -> f64 {
    match &video.frames {
        Frames::Constant { rate } | Frames::Live { rate, .. } => *rate,
        Frames::Trace { file, .. } => {
            let trace = FrameTrace::parse(&file.text).expect("traces are checked when a scenario is read");
            let seconds = trace.duration().map_or(1.0, |d| d.as_secs_f64());
            trace.bytes() as f64 * 8.0 / seconds.max(1e-3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_weighted_by_their_duration() {
        let s = Duration::from_secs;
        let steps = Number::Steps(vec![(s(0), 10.0), (s(2), 20.0), (s(8), 0.0)]);
        // The number is 10 for 2 s, 20 for 6 s, and 0 for 2 s.
        assert_eq!(mean(&steps, s(10)), 14.0);
        assert_eq!(mean(&steps, s(4)), 15.0);
        assert_eq!(mean(&Number::Steps(vec![(s(5), 3.0)]), s(10)), 3.0);
        assert_eq!(mean(&Number::Steps(vec![(s(5), 3.0)]), s(0)), 3.0);
    }
}
