//! Means and their confidence intervals.

use serde::{Deserialize, Serialize};

/// Statistics of a metric over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stat {
    /// Mean over the runs that have the metric.
    pub mean: f64,
    /// Half the width of the mean's 95 % confidence interval by Student's t. `None` with a single run. It is valid only
    /// if the values are approximately normally distributed.
    pub ci95: Option<f64>,
    /// Number of runs that have the metric.
    pub n: u64,
    /// Median.
    pub median: f64,
    /// Lower end of the interval of the median. With at least [`FEWEST`] runs, the interval has a confidence of at
    /// least 95 % for any distribution. With fewer runs, the interval is the range of the values.
    pub low: f64,
    /// Upper end of the interval of the median.
    pub high: f64,
    /// Number of runs in which the value is not 0.
    pub nonzero: u64,
    /// Greatest number of runs with the same value.
    pub equal: u64,
    /// p-value of the sign test, corrected for the number of pairs of schemes (Holm). The p-value exists only for
    /// differences of two schemes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}

/// Least number of runs for an interval. ASSUMED, as is `MOSTLY`.
pub const FEWEST: u64 = 10;
/// Share of runs with equal values. From this share on, the exact interval of the share replaces the interval of the
/// median.
const MOSTLY: f64 = 0.8;

impl Stat {
    /// Statistics of these numbers. `None` without numbers.
    pub fn of(values: &[f64]) -> Option<Stat> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let same = sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max();
        let outside = if values.len() < FEWEST as usize { 0 } else { ranks_outside(values.len() as u32) };
        Some(Stat {
            mean,
            ci95: deviation(values).map(|s| t_975(values.len() as u32 - 1) * s / n.sqrt()),
            n: values.len() as u64,
            median: median(values)?,
            low: sorted[outside],
            high: sorted[sorted.len() - 1 - outside],
            nonzero: values.iter().filter(|&&value| value != 0.0).count() as u64,
            equal: same.unwrap_or(0) as u64,
            p: None,
        })
    }

    /// Returns the interval of several runs. A `rare` metric is 0 in many runs, so that only the share of the other
    /// runs can have an interval. This also applies if nearly all runs have the same value.
    pub fn interval(&self, rare: bool) -> Interval {
        let mostly_equal = self.n >= FEWEST && self.equal as f64 >= MOSTLY * self.n as f64;
        if rare || mostly_equal {
            let counted = if rare { self.nonzero } else { self.n - self.equal };
            let (low, high) = clopper_pearson(counted, self.n);
            return Interval::Share { counted, low, high };
        }
        match self.n < FEWEST {
            true => Interval::Range,
            false => Interval::Median,
        }
    }

    /// Returns half the width of the median's interval as a share of the median. For a `rare` metric, it is half the
    /// width of the interval of the share of runs in which the metric is not 0. With fewer than [`FEWEST`] runs there
    /// is no interval. A median of 0 has no interval either.
    pub fn half_width(&self, rare: bool) -> Option<f64> {
        match self.interval(rare) {
            _ if self.n < FEWEST => None,
            Interval::Share { low, high, .. } if rare => Some((high - low) / 2.0),
            _ if self.median == 0.0 => None,
            _ => Some((self.high - self.low) / 2.0 / self.median.abs()),
        }
    }
}

/// Interval that several runs give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// Range from [`Stat::low`] to [`Stat::high`], for fewer than [`FEWEST`] runs. It is not an interval.
    Range,
    /// 95 % interval of the median, [`Stat::low`] to [`Stat::high`].
    Median,
    /// Exact 95 % interval of a share of the runs.
    Share {
        /// Number of runs that are not 0, or that differ from the most frequent value.
        counted: u64,
        /// Lower end of the share.
        low: f64,
        /// Upper end of the share.
        high: f64,
    },
}

/// Number of values at each end of `n` ordered values that are outside of the 95 % interval of the median. It is the
/// greatest number for which one condition holds. The median must lie outside on one side with a probability of at most
/// 2.5 %.
fn ranks_outside(n: u32) -> usize {
    let (mut log, mut sum, mut outside) = (f64::from(n) * libm::log(0.5), 0.0, 0);
    for below in 0..n / 2 {
        sum += libm::exp(log);
        if sum > 0.025 {
            break;
        }
        outside = below as usize;
        log += libm::log(f64::from(n - below) / f64::from(below + 1));
    }
    outside
}

/// P(X ≤ k) for a binomial distribution of `n` trials.
fn binomial_at_most(k: u32, n: u32, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 || k >= n { 1.0 } else { 0.0 };
    }
    let (mut log, mut sum) = (f64::from(n) * libm::log(1.0 - p), 0.0);
    for i in 0..=k.min(n) {
        sum += libm::exp(log);
        log += libm::log(f64::from(n - i) / f64::from(i + 1)) + libm::log(p / (1.0 - p));
    }
    sum.min(1.0)
}

/// Exact 95 % interval of a share by Clopper and Pearson. `k` of `n` runs belong to the share. If no run or every run
/// belongs to the share, only one end of the interval is free. It then holds with 95 %. With 30 runs this end is 9.5 %.
/// The rule of three gives 3 of 30.
pub fn clopper_pearson(k: u64, n: u64) -> (f64, f64) {
    let (k, n) = (k as u32, n as u32);
    let tail = if k == 0 || k == n { 0.05 } else { 0.025 };
    let halve = |too_low: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if too_low(middle) { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    };
    let low = if k == 0 { 0.0 } else { halve(&|p| 1.0 - binomial_at_most(k - 1, n, p) < tail) };
    let high = if k == n { 1.0 } else { halve(&|p| binomial_at_most(k, n, p) > tail) };
    (low, high)
}

/// p-value of the two-sided sign test. The p-value is the probability that at least as many differences have the same
/// sign if both signs are equally likely. Differences of 0 have no sign.
pub fn sign_test(differences: &[f64]) -> f64 {
    let positive = differences.iter().filter(|&&d| d > 0.0).count() as u32;
    let negative = differences.iter().filter(|&&d| d < 0.0).count() as u32;
    (2.0 * binomial_at_most(positive.min(negative), positive + negative, 0.5)).min(1.0)
}

/// Applies Holm's correction to several tests. Each probability is multiplied by the number of probabilities that are
/// not smaller. The result is at least the corrected value of any smaller one.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut least: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        least = least.max((probabilities[i] * (probabilities.len() - rank) as f64).min(1.0));
        corrected[i] = least;
    }
    corrected
}

/// Sample standard deviation. `None` for fewer than two numbers.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

/// Returns the middle number, or the mean of the two numbers in the middle. Returns `None` if there are no numbers.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 0 => Some((sorted[half - 1] + sorted[half]) / 2.0),
        _ => Some(sorted[half]),
    }
}

/// The 0.975 quantile of Student's t distribution.
///
/// # Panics
/// Panics if `degrees` is 0.
pub fn t_975(degrees: u32) -> f64 {
    assert!(degrees > 0, "one run has no interval");
    let (mut low, mut high) = (0.0, 16.0);
    // The interval is halved until no number lies between its ends.
    loop {
        let t = (low + high) / 2.0;
        if t <= low || t >= high {
            return t;
        }
        if within(t, degrees) < 0.95 { low = t } else { high = t }
    }
}

/// P(|T| < t): Abramowitz, Stegun: Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
fn within(t: f64, degrees: u32) -> f64 {
    let nu = f64::from(degrees);
    let (sin, cos) = (t / (nu + t * t).sqrt(), (nu / (nu + t * t)).sqrt());
    // The terms of the sum are cos^k times a product. Its factors are (k - 1) / k, or (k - 1) / k shifted by one, up to
    // k = ν - 2.
    let (mut k, mut term) = if degrees % 2 == 1 { (1, cos) } else { (0, 1.0) };
    let mut sum = 0.0;
    while k + 2 <= degrees {
        sum += term;
        k += 2;
        term *= cos * cos * f64::from(k - 1) / f64::from(k);
    }
    if degrees % 2 == 1 {
        core::f64::consts::FRAC_2_PI * (libm::atan(t / nu.sqrt()) + sin * sum)
    } else {
        sin * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are in printed tables of t, to three decimals.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, t) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (29, 2.045),
            (30, 2.042),
            (60, 2.000),
            (99, 1.984),
            (120, 1.980),
            (1000, 1.962),
        ] {
            assert!((t_975(degrees) - t).abs() < 0.000_5, "{degrees}: {} for {t}", t_975(degrees));
        }
    }

    /// The numbers 2, 4, 4, 5 have the mean 3.75 and s² = 4.75 / 3.
    #[test]
    fn interval_and_median_by_hand() {
        let values = [4.0, 2.0, 5.0, 4.0];
        let stat = Stat::of(&values).unwrap();
        assert_eq!((stat.mean, stat.n), (3.75, 4));
        let half = 3.182_446_305 * (4.75_f64 / 3.0).sqrt() / 2.0;
        assert!((stat.ci95.unwrap() - half).abs() < 1e-8);
        assert_eq!([median(&values), median(&values[..3]), median(&[])], [Some(4.0), Some(4.0), None]);
        let single = Stat::of(&[7.0]).unwrap();
        assert_eq!((single.mean, single.ci95, single.n, single.low, single.high), (7.0, None, 1, 7.0, 7.0));
        assert_eq!(Stat::of(&[]), None);
    }

    /// Ranks of the interval of the median in printed tables of the sign test (two-sided, 5 %). For 10 values they are
    /// 2 and 9, for 20 they are 6 and 15, for 30 they are 10 and 21, and for 100 they are 40 and 61.
    #[test]
    fn the_interval_of_the_median_is_that_of_tables() {
        for (n, low, high) in [(9, 1, 9), (10, 2, 9), (11, 2, 10), (20, 6, 15), (30, 10, 21), (100, 40, 61)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let stat = Stat::of(&values).unwrap();
            assert_eq!((stat.low, stat.high), (f64::from(low), f64::from(high)), "{n}");
        }
    }

    /// Counts all 1024 samples of 10 runs from a population of two equally frequent values. Each number from the
    /// smaller to the larger value is a median of this population. In 22 of the samples, the confidence interval of the
    /// median leaves out some of these medians.
    #[test]
    fn the_interval_of_the_median_covers_whatever_the_distribution() {
        let missed = (0..1024_u32).filter(|bits| {
            let values: Vec<f64> = (0..10).map(|i| f64::from(bits >> i & 1) * 1e6).collect();
            let stat = Stat::of(&values).unwrap();
            // Any number from 0 to 1e6 is a median of the population.
            stat.low > 0.0 || stat.high < 1e6
        });
        assert_eq!(missed.count(), 22);
    }

    /// Clopper and Pearson (1934), and the rule of three.
    #[test]
    fn shares_of_runs_have_exact_bounds() {
        let close = |(low, high): (f64, f64), expected: (f64, f64)| {
            assert!((low - expected.0).abs() < 5e-4 && (high - expected.1).abs() < 5e-4, "{low} {high}");
        };
        close(clopper_pearson(0, 30), (0.0, 0.0950));
        close(clopper_pearson(30, 30), (0.9050, 1.0));
        close(clopper_pearson(1, 30), (0.0008, 0.1722));
        close(clopper_pearson(5, 10), (0.1871, 0.8129));
    }

    /// By Holm (1979), 0.01, 0.04, 0.03 become 0.03, 0.06, 0.06. If eight of nine signs are equal, the result is 2 · 10
    /// / 512.
    #[test]
    fn tests_of_signs_are_corrected_for_their_number() {
        let corrected = holm(&[0.01, 0.04, 0.03]);
        for (got, expected) in corrected.iter().zip([0.03, 0.06, 0.06]) {
            assert!((got - expected).abs() < 1e-12, "{corrected:?}");
        }
        let signs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1.0, 0.0];
        assert!((sign_test(&signs) - 20.0 / 512.0).abs() < 1e-12);
        assert_eq!([sign_test(&[]), sign_test(&[0.0, 0.0]), sign_test(&[1.0, -1.0])], [1.0; 3]);
        assert!(holm(&[]).is_empty());
    }
}
