//! Distributions of random numbers.

use strandcast_proto::seeds::Random;

use super::checks::{NumberError, finite};

/// A distribution of random numbers. A draw outside of `low` to `high` is replaced by the nearer end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Shape of the distribution.
    pub shape: Shape,
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Correlation of a draw with the previous draw. The correlation is at least 0 and below 1. The correlation of draw
    /// n + k with draw n is the k-th power of this number. For log-normal numbers, it is the correlation of their
    /// logarithms. Draws from a Pareto distribution are not correlated.
    pub correlation: f64,
}

/// Shape of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The normal distribution.
    Normal {
        /// Mean of the distribution.
        mean: f64,
        /// Standard deviation of the distribution.
        deviation: f64,
    },
    /// The log-normal distribution: the logarithm of the number is normally distributed.
    Lognormal {
        /// Mean of the number.
        mean: f64,
        /// Standard deviation of the number.
        deviation: f64,
    },
    /// The Pareto distribution: P(x > a) = (least / a)^shape for a from the least value on.
    Pareto {
        /// Mean of the distribution.
        mean: f64,
        /// Shape of the Pareto distribution. The shape must be above 1.
        shape: f64,
    },
}

impl Law {
    pub(super) fn validate(&self) -> Result<(), NumberError> {
        let (first, second) = match self.shape {
            Shape::Normal { mean, deviation } | Shape::Lognormal { mean, deviation } => (mean, deviation),
            Shape::Pareto { mean, shape } => (mean, shape),
        };
        [first, second, self.low, self.high].into_iter().try_for_each(finite)?;
        if self.low > self.high {
            return Err(NumberError::Range { low: self.low, high: self.high });
        }
        let valid = (0.0..1.0).contains(&self.correlation)
            && match self.shape {
                Shape::Normal { deviation, .. } => deviation >= 0.0,
                Shape::Lognormal { mean, deviation } => mean > 0.0 && deviation >= 0.0,
                Shape::Pareto { mean, shape } => mean > 0.0 && shape > 1.0 && self.correlation == 0.0,
            };
        if valid { Ok(()) } else { Err(NumberError::Law) }
    }

    /// Returns the mean of the draws. The mean includes draws that were replaced by an end of the range.
    pub fn mean(&self) -> f64 {
        let Law { shape, low, high, .. } = *self;
        match shape {
            Shape::Normal { mean, deviation } | Shape::Lognormal { mean, deviation } if deviation == 0.0 => {
                mean.clamp(low, high)
            }
            Shape::Normal { mean, deviation } => {
                let [a, b] = [low, high].map(|end| (end - mean) / deviation);
                let inside = mean * (below(b) - below(a)) - deviation * (density(b) - density(a));
                low * below(a) + inside + high * below(-b)
            }
            Shape::Lognormal { mean, deviation } => {
                let variance = libm::log1p((deviation / mean) * (deviation / mean));
                let spread = libm::sqrt(variance);
                // The logarithm of zero or less is infinitely low.
                let [a, b] =
                    [low, high].map(|end| (libm::log(end.max(0.0) / mean) + variance / 2.0) / spread);
                low * below(a) + mean * (below(b - spread) - below(a - spread)) + high * below(-b)
            }
            Shape::Pareto { mean, shape } => {
                let least = mean * (shape - 1.0) / shape;
                let from = low.max(least);
                if from >= high {
                    return from.min(high);
                }
                // The lower end, and the integral of P(x > a) from there to the upper one.
                let tail = |at: f64| libm::pow(least / at, shape) * at / (shape - 1.0);
                from + tail(from) - tail(high)
            }
        }
    }
}

/// Returns the probability that a standard normal number is below `x`.
fn below(x: f64) -> f64 {
    libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2) / 2.0
}

/// Returns the density of the standard normal distribution at `x`.
fn density(x: f64) -> f64 {
    libm::exp(-x * x / 2.0) / libm::sqrt(core::f64::consts::TAU)
}

/// Source of the draws of a number.
#[derive(Clone, Debug)]
pub(super) enum Draws {
    Uniform {
        low: f64,
        high: f64,
    },
    /// Draws from a distribution. `last` is the standard normal number of the last draw.
    Law {
        law: Law,
        last: Option<f64>,
    },
}

impl Draws {
    pub fn next(&mut self, random: &mut Random) -> f64 {
        let (law, last) = match self {
            Draws::Uniform { low, high } => return random.uniform(*low, *high),
            Draws::Law { law, last } => (law, last),
        };
        let value = match law.shape {
            Shape::Normal { mean, deviation } => {
                mean + deviation * next_normal(law.correlation, last, random)
            }
            Shape::Lognormal { mean, deviation } => {
                let variance = libm::log1p((deviation / mean) * (deviation / mean));
                let normal = next_normal(law.correlation, last, random);
                mean * libm::exp(libm::sqrt(variance) * normal - variance / 2.0)
            }
            Shape::Pareto { mean, shape } => {
                let least = mean * (shape - 1.0) / shape;
                least * libm::pow(1.0 - random.unit(), -1.0 / shape)
            }
        };
        value.clamp(law.low, law.high)
    }

    /// Removes the last draw, so that the next draw does not depend on it.
    pub fn restart(&mut self) {
        if let Draws::Law { last, .. } = self {
            *last = None;
        }
    }
}

/// Returns the next normal number of an autoregressive process of first order.
fn next_normal(correlation: f64, last: &mut Option<f64>, random: &mut Random) -> f64 {
    let fresh = standard_normal(random);
    let next = match *last {
        Some(before) => correlation * before + libm::sqrt(1.0 - correlation * correlation) * fresh,
        None => fresh,
    };
    *last = Some(next);
    next
}

/// Returns a standard normal number by the transform of Box and Muller.
fn standard_normal(random: &mut Random) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.unit()));
    radius * libm::cos(core::f64::consts::TAU * random.unit())
}
