//! Deviation of a measure from its recent values. The deviation is the jitter indicator of two papers: Cao et al., 2016
//! (retransmission queue, eqs 13-15), and Liu et al., 2019 (loss rate, eqs 5-7).
//!
//! | paper | here |
//! |---|---|
//! | Cao eqs 13-15, Liu eqs 5-7: (current - mean) / (max - min) over the last m samples | [`Deviation::push`] |
//! | positive and larger than the one before: the path is in an unreliable condition | [`Deviation::unreliable`] |
//!
//! `ASSUMED`: the current sample is one of the m samples. If all samples are equal, the deviation is 0. Before the
//! second sample, no path is unreliable. Neither paper gives m.

use std::collections::VecDeque;

/// The deviation of one measure of one path.
#[derive(Clone, Debug)]
pub struct Deviation {
    most: usize,
    samples: VecDeque<f64>,
    /// Last two deviations. The second one is the newest.
    last: (f64, f64),
}

impl Deviation {
    /// Makes a deviation over the last `m` samples, at least one.
    pub fn new(m: usize) -> Self {
        let most = m.max(1);
        Deviation { most, samples: VecDeque::with_capacity(most), last: (0.0, 0.0) }
    }

    /// Adds a sample and returns its deviation from the mean of the last m samples, in units of their range. The sample
    /// must be a finite number. The result is from -1 to 1, and 0 if all samples are equal.
    pub fn push(&mut self, x: f64) -> f64 {
        if self.samples.len() == self.most {
            self.samples.pop_front();
        }
        self.samples.push_back(x);
        // The sum is computed anew each time. A running sum would keep the rounding errors of samples that were dropped
        // long ago.
        let (mut sum, mut most, mut least) = (-0.0, f64::NEG_INFINITY, f64::INFINITY);
        for &sample in &self.samples {
            sum += sample;
            most = if sample > most { sample } else { most };
            least = if sample < least { sample } else { least };
        }
        let mean = sum / self.samples.len() as f64;
        let value = if most > least { (x - mean) / (most - least) } else { 0.0 };
        self.last = (self.last.1, value);
        value
    }

    /// Deviation of the newest sample. 0 before the first sample.
    pub fn value(&self) -> f64 {
        self.last.1
    }

    /// Returns whether the newest deviation is positive and larger than the previous one.
    pub fn unreliable(&self) -> bool {
        self.last.1 > 0.0 && self.last.1 > self.last.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::*;

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-12, "{got}, not {wanted}");
    }

    /// Cao eqs 13-15, Liu eqs 5-7, worked by hand.
    #[test]
    fn the_deviation_is_relative_to_mean_and_range() {
        let mut d = Deviation::new(3);
        near(d.push(1.0), 0.0); // a single sample: max = min
        near(d.push(3.0), 0.5); // mean 2, range 2
        near(d.push(2.0), 0.0); // mean 2, range 2
        near(d.push(7.0), 0.6); // of 3, 2, 7: mean 4, range 5
        near(d.push(0.0), -3.0 / 7.0); // of 2, 7, 0: mean 3, range 7
        near(d.value(), -3.0 / 7.0);
    }

    #[test]
    fn equal_samples_deviate_by_nothing() {
        let mut d = Deviation::new(20);
        for _ in 0..50 {
            near(d.push(0.25), 0.0);
            assert!(!d.unreliable());
        }
        let mut alone = Deviation::new(0); // a window of one: always equal to itself
        near(alone.push(5.0), 0.0);
        near(alone.push(9.0), 0.0);
    }

    #[test]
    fn unreliable_is_positive_and_rising() {
        let mut d = Deviation::new(4);
        let mut after = |x| {
            d.push(x);
            (d.value() > 0.0, d.unreliable())
        };
        assert_eq!(after(10.0), (false, false)); // 0
        assert_eq!(after(10.0), (false, false)); // 0
        assert_eq!(after(12.0), (true, true)); // 4/3 over 2 = 0.67
        assert_eq!(after(11.0), (true, false), "0.25 over 2 = 0.125: positive, falling");
        assert_eq!(after(10.0), (false, false), "negative");
        assert_eq!(after(9.0), (false, false), "10.5 is the mean of 12, 11, 10, 9: below it");
        assert_eq!(after(10.5), (true, true), "10.125 is the mean of 11, 10, 9, 10.5: 0.19");
    }

    proptest! {
        #![proptest_config(Config { rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..Config::default() })]
        #[test]
        fn it_is_bounded_and_does_not_depend_on_unit_or_origin(
            samples in prop::collection::vec(0u32..1000, 1..60),
            m in 1usize..25,
        ) {
            let (mut plain, mut moved) = (Deviation::new(m), Deviation::new(m));
            for x in samples.into_iter().map(f64::from) {
                let (a, b) = (plain.push(x), moved.push(4.0 * x + 16.0));
                prop_assert!((-1.0..=1.0).contains(&a), "{}", a);
                prop_assert!((a - b).abs() < 1e-9, "{} {}", a, b);
            }
        }
    }
}
