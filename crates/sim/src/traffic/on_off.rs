//! Bursts of messages at a constant rate.

use core::time::Duration;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::law::{Pareto, exponential};
use super::pace::Pace;
use super::{Emission, Level, Source};

const BITS: f64 = 8.0;

/// Distribution of on times and off times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnOffLaw {
    /// All times equal the mean.
    Constant,
    /// Times are exponentially distributed.
    Exponential,
    /// Times have a Pareto distribution with this shape. A sample is at most 100 means.
    Pareto {
        /// Shape of the Pareto distribution. The shape must be above 1.
        shape: f64,
    },
}

/// Source that alternates between silence and bursts of messages, beginning with silence. The source draws them as
/// ns-2's applications `Exponential` and `Pareto` do. A burst has a whole number of messages. The number of messages in
/// a burst is the drawn on time divided by the interval between messages, rounded, and at least one. Each message is
/// sent one interval after the previous message or the silence.
#[derive(Debug)]
pub struct OnOff {
    size: u32,
    pace: Pace,
    on: Law,
    off: Law,
    random: Random,
    /// Number of messages of the burst that are left.
    left: u64,
}

impl OnOff {
    /// Creates a source of messages of `size` bytes (at least 1). During bursts, its rate is `rate_bps`. `on_off` has
    /// the mean lengths of bursts and silences, and `law` is their distribution. The source runs from `start` until
    /// before `stop`.
    ///
    /// # Panics
    /// Panics if the shape of a Pareto distribution is not above 1.
    pub fn new(
        size: u32,
        rate_bps: Box<dyn Level>,
        law: OnOffLaw,
        on_off: [Duration; 2],
        random: Random,
        start: Instant,
        stop: Instant,
    ) -> Self {
        let [on, off] = on_off.map(|mean| Law::new(law, mean.as_secs_f64()));
        OnOff { size: size.max(1), pace: Pace::new(rate_bps, start, stop), on, off, random, left: 0 }
    }
}

impl Source for OnOff {
    fn next(&mut self) -> Option<Emission> {
        let bits = BITS * f64::from(self.size);
        if self.left == 0 {
            self.pace.wait(self.off.sample(&mut self.random));
            let messages = self.on.sample(&mut self.random) * self.pace.rate_bps() / bits;
            // Half up as in ns-2; a cast saturates.
            self.left = ((messages + 0.5) as u64).max(1);
        }
        self.left -= 1;
        let at = self.pace.send(bits)?;
        Some(Emission { at, bytes: self.size, frame: None })
    }
}

/// Distribution of times in seconds.
#[derive(Clone, Copy, Debug)]
enum Law {
    Constant(f64),
    Exponential(f64),
    Pareto(Pareto),
}

impl Law {
    fn new(law: OnOffLaw, mean: f64) -> Self {
        match law {
            OnOffLaw::Constant => Law::Constant(mean),
            OnOffLaw::Exponential => Law::Exponential(mean),
            OnOffLaw::Pareto { shape } => Law::Pareto(Pareto::new(mean, shape)),
        }
    }

    fn sample(&self, random: &mut Random) -> f64 {
        match self {
            Law::Constant(mean) => *mean,
            Law::Exponential(mean) => mean * exponential(random),
            Law::Pareto(law) => law.sample(random),
        }
    }
}
