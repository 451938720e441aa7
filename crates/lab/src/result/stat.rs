//! Means and how far to trust them.

use serde::{Deserialize, Serialize};

/// A metric over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stat {
    /// Mean over the runs that have the metric.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval by Student's t; `None` of a single run.
    pub ci95: Option<f64>,
    /// How many runs have the metric.
    pub n: u64,
}

impl Stat {
    /// Of these numbers; `None` of none.
    pub fn of(values: &[f64]) -> Option<Stat> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (!values.is_empty()).then(|| Stat {
            mean,
            ci95: deviation(values).map(|s| t_975(values.len() as u32 - 1) * s / n.sqrt()),
            n: values.len() as u64,
        })
    }
}

/// Sample standard deviation; `None` of fewer than two numbers.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

/// The middle number, or the mean of both in the middle; `None` of none.
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
/// Of 0 degrees of freedom there is none.
pub fn t_975(degrees: u32) -> f64 {
    assert!(degrees > 0, "one run has no interval");
    let (mut low, mut high) = (0.0, 16.0);
    // The interval halves until no number is between its ends.
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
    // Terms of the sum: cos^k times the product of (k - 1) / k, or k - 1 over k shifted by one, up to k = ν - 2.
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

    /// Printed tables of t, to their three decimals.
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

    /// 2, 4, 4, 5: mean 3.75, s² = 4.75 / 3.
    #[test]
    fn interval_and_median_by_hand() {
        let values = [4.0, 2.0, 5.0, 4.0];
        let stat = Stat::of(&values).unwrap();
        assert_eq!((stat.mean, stat.n), (3.75, 4));
        let half = 3.182_446_305 * (4.75_f64 / 3.0).sqrt() / 2.0;
        assert!((stat.ci95.unwrap() - half).abs() < 1e-8);
        assert_eq!([median(&values), median(&values[..3]), median(&[])], [Some(4.0), Some(4.0), None]);
        assert_eq!(Stat::of(&[7.0]), Some(Stat { mean: 7.0, ci95: None, n: 1 }));
        assert_eq!(Stat::of(&[]), None);
    }
}
