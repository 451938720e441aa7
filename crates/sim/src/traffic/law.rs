//! Distributions of times.

use strandcast_proto::seeds::Random;

/// Returns a sample of the exponential distribution with mean 1.
pub(super) fn exponential(random: &mut Random) -> f64 {
    -libm::log(1.0 - random.unit())
}

/// A Pareto distribution that replaces samples above [`CAP`](Self::CAP) means by that value, because its variance is
/// infinite for the usual shapes (1 to 2). A larger scale compensates for this cut, so that the mean has the requested
/// value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pareto {
    scale: f64,
    shape: f64,
    cap: f64,
}

impl Pareto {
    /// Largest sample, in multiples of the mean.
    pub(super) const CAP: f64 = 100.0;

    /// Returns a distribution that has the mean `mean` after the cut.
    ///
    /// # Panics
    /// Panics if `shape` is not above 1.
    pub(super) fn new(mean: f64, shape: f64) -> Self {
        assert!(
            shape > 1.0,
            "a Pareto distribution has a mean only for shapes above 1, which scenarios require"
        );
        // E[min(X, cap)] grows with the scale, from 0 to the cap: halve the interval until it stops
        // shrinking.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..64 {
            let scale = 0.5 * (low + high);
            let law = Pareto { scale, shape, cap: Self::CAP };
            *(if law.mean() < 1.0 { &mut low } else { &mut high }) = scale;
        }
        Pareto { scale: low * mean, shape, cap: Self::CAP * mean }
    }

    /// Returns ∫ P(X > x) dx from 0 to the cap.
    pub(super) fn mean(&self) -> f64 {
        self.below(self.cap)
    }

    /// Returns a sample of the distribution.
    pub(super) fn sample(&self, random: &mut Random) -> f64 {
        (self.scale * libm::pow(1.0 - random.unit(), -1.0 / self.shape)).min(self.cap)
    }

    /// Returns the remainder of the interval that contains a random time, if consecutive intervals are drawn from this
    /// distribution. The density of the remainder is P(X > x) / mean.
    pub(super) fn residual(&self, random: &mut Random) -> f64 {
        let area = random.unit() * self.mean();
        if area < self.scale {
            return area;
        }
        let tail = 1.0 - (area - self.scale) * (self.shape - 1.0) / self.scale;
        (self.scale * libm::pow(tail, -1.0 / (self.shape - 1.0))).min(self.cap)
    }

    /// Returns ∫ P(X > x) dx from 0 to `end`.
    fn below(&self, end: f64) -> f64 {
        let Pareto { scale, shape, .. } = *self;
        if end <= scale {
            return end;
        }
        scale + scale * (1.0 - libm::pow(scale / end, shape - 1.0)) / (shape - 1.0)
    }
}
