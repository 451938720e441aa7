//! The source that an application of a scenario describes.

use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;
use strandcast_sim::traffic::{self, Cbr, Level, OnOff, Poisson, Source};

use super::video::video_source;
use crate::scenario::{App, Number, OnOffLaw, TraceFile};

/// Source that `app` describes. It sends from `start` on, and before `stop`. `None`: the application only fills its
/// transport. `level` makes a varying number with a separate random stream. `frames` reads a trace, or returns a trace
/// that has already been read.
pub(super) fn source(
    app: &App,
    level: impl FnOnce(&Number) -> Box<dyn Level>,
    frames: impl FnOnce(&TraceFile) -> Arc<FrameTrace>,
    random: Random,
    start: Instant,
    stop: Instant,
) -> Option<Box<dyn Source>> {
    Some(match app {
        App::Bulk { .. } | App::Finite { .. } => return None,
        App::Cbr { size, rate } => Box::new(Cbr::new(*size, level(rate), start, stop)),
        App::Poisson { size, rate } => Box::new(Poisson::new(*size, level(rate), random, start, stop)),
        App::OnOff { size, rate, on, off, law } => {
            Box::new(OnOff::new(*size, level(rate), law.into(), [*on, *off], random, start, stop))
        }
        App::Video(video) => video_source(video, level, frames, start, stop),
    })
}

impl From<&OnOffLaw> for traffic::OnOffLaw {
    fn from(law: &OnOffLaw) -> Self {
        match *law {
            OnOffLaw::Constant => traffic::OnOffLaw::Constant,
            OnOffLaw::Exponential => traffic::OnOffLaw::Exponential,
            OnOffLaw::Pareto { shape } => traffic::OnOffLaw::Pareto { shape },
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use strandcast_netem::number::{self, Varying};
    use strandcast_proto::seeds::Seeds;

    use super::*;
    use crate::scenario::Every;

    fn stream(seed: u64) -> Random {
        Seeds::new(seed, 0).stream("traffic")
    }

    /// U(0, high), with a new draw once per `period`.
    fn drawn(high: f64, period: Duration, seed: u64) -> Varying {
        let number = number::Number::Uniform { low: 0.0, high, every: number::Every::Period(period) };
        Varying::new(&number, Seeds::new(seed, 0).stream("number"), Instant::ZERO)
    }

    #[test]
    fn applications_have_their_sources() {
        let make = |app: &App| {
            let level = |number: &Number| match number {
                Number::Constant(value) => Box::new(*value) as Box<dyn Level>,
                _ => Box::new(drawn(2e6, Duration::from_secs(1), 3)),
            };
            source(
                app,
                level,
                |_| unreachable!("no trace is asked for"),
                stream(1),
                Instant::ZERO,
                Instant::ZERO + Duration::from_secs(100),
            )
        };
        assert!(make(&App::Bulk { size: 1000 }).is_none());
        assert!(make(&App::Finite { size: 1000, bytes: 5000 }).is_none());
        let count = |app: &App| {
            let mut source = make(app).expect("has a source");
            core::iter::from_fn(|| source.next()).count() as f64
        };
        let rate = Number::Constant(1e6);
        let (on, off, law) = (Duration::from_millis(300), Duration::from_millis(700), OnOffLaw::Constant);
        assert_eq!(count(&App::Cbr { size: 1250, rate: rate.clone() }), 10_000.0);
        // The last message of the last burst is due when the source stops.
        assert_eq!(count(&App::OnOff { size: 1250, rate: rate.clone(), on, off, law }), 2_999.0);
        let poisson = count(&App::Poisson { size: 1250, rate });
        assert!((poisson - 10_000.0).abs() < 400.0, "{poisson}");
        let every = Every::Period(Duration::from_secs(1));
        let drawn = count(&App::Cbr { size: 1250, rate: Number::Uniform { low: 0.0, high: 2e6, every } });
        // 100 draws of U(0, 200) messages per second.
        assert!((drawn - 10_000.0).abs() < 4.0 * 577.4 && drawn != 10_000.0, "{drawn}");
    }
}
