//! Quantiles of a stream of numbers in little memory.

/// Binary logarithm of the number of buckets per octave. The width of a bucket is at most 1/64 of its numbers. The
/// middle of a bucket therefore differs by at most 0.8 % from any of its numbers.
const BITS: u32 = 6;
const BUCKETS: usize = 1 << BITS;
/// Number of octaves. There is one for all numbers below 64, and one for each further power of two.
const OCTAVES: usize = (u64::BITS - BITS) as usize + 1;

type Octave = Option<Box<[u64; BUCKETS]>>;

/// Counts numbers in buckets, 64 per power of two. Minimum, maximum and mean are exact. The buckets of an octave are
/// allocated with its first number. All buckets together need a few kB, whatever the number of values.
#[derive(Clone, Debug)]
pub struct Histogram {
    octaves: [Octave; OCTAVES],
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { octaves: [const { None }; OCTAVES], count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Histogram {
    /// Adds a number.
    pub fn record(&mut self, value: u64) {
        let (octave, bucket) = place(value);
        self.octaves[octave].get_or_insert_with(|| Box::new([0; BUCKETS]))[bucket] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds all numbers of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.octaves.iter_mut().zip(&other.octaves) {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_with(|| Box::new([0; BUCKETS]));
            for (mine, theirs) in mine.iter_mut().zip(theirs.iter()) {
                *mine += theirs;
            }
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Largest value. `None` without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Smallest value. `None` without values.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Mean of the values. `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the smallest number that at least the share `q` of all numbers do not exceed (nearest rank). The error
    /// is at most 0.8 %. Returns `None` if there are no numbers.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut below = 0;
        for (octave, buckets) in self.octaves.iter().enumerate() {
            let Some(buckets) = buckets else { continue };
            for (bucket, count) in buckets.iter().enumerate() {
                below += count;
                if below >= rank {
                    return Some(middle(octave, bucket).clamp(self.min, self.max));
                }
            }
        }
        unreachable!("the buckets hold `count` numbers, and the rank is at most that")
    }
}

fn place(value: u64) -> (usize, usize) {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    let shift = octave.saturating_sub(1);
    (octave as usize, (value >> shift) as usize & (BUCKETS - 1))
}

fn middle(octave: usize, bucket: usize) -> u64 {
    let Some(shift) = octave.checked_sub(1) else { return bucket as u64 };
    let low = ((BUCKETS | bucket) as u64) << shift;
    low + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_nothing_there_is_nothing() {
        let empty = Histogram::default();
        assert_eq!((empty.quantile(0.5), empty.mean(), empty.min(), empty.max()), (None, None, None, None));
    }

    #[test]
    fn small_numbers_are_exact_and_the_rank_is_the_nearest() {
        let mut histogram = Histogram::default();
        (1..=10).for_each(|v| histogram.record(v));
        for (q, value) in [(0.0, 1), (0.05, 1), (0.1, 1), (0.11, 2), (0.5, 5), (0.95, 10), (1.0, 10)] {
            assert_eq!(histogram.quantile(q), Some(value), "{q}");
        }
        assert_eq!(histogram.mean(), Some(5.5));
    }

    proptest! {
        #[test]
        fn quantiles_are_within_one_percent_and_the_rest_is_exact(
            values in proptest::collection::vec((0..64u32, any::<u64>()).prop_map(|(shift, v)| v >> shift), 1..300),
            cut in 0..300usize,
            q in 0.0..=1.0f64,
        ) {
            let (mut histogram, mut rest) = (Histogram::default(), Histogram::default());
            for (i, &value) in values.iter().enumerate() {
                if i < cut { histogram.record(value) } else { rest.record(value) }
            }
            histogram.merge(&rest);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let exact = sorted[((q * sorted.len() as f64).ceil() as usize).max(1) - 1] as f64;
            let got = histogram.quantile(q).unwrap() as f64;
            prop_assert!((got - exact).abs() <= 0.008 * exact, "{} for {}", got, exact);
            prop_assert_eq!(histogram.min(), sorted.first().copied());
            prop_assert_eq!(histogram.max(), sorted.last().copied());
            let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
            prop_assert_eq!(histogram.mean(), Some(sum as f64 / values.len() as f64));
        }
    }
}
