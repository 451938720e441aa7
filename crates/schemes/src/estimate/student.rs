//! Student's t distribution, for confidence intervals from few samples.

use core::f64::consts::PI;

/// Returns t such that |T| ≤ t with probability `confidence`, where T has `freedom` ≥ 1 degrees of freedom. Returns 0
/// if there are no degrees of freedom.
pub(super) fn two_sided(confidence: f64, freedom: u32) -> f64 {
    if freedom == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, PI / 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::tan(low) * libm::sqrt(f64::from(freedom))
}

/// Returns the probability of |T| ≤ √freedom · tan(angle). The formulas are in Abramowitz and Stegun, Handbook of
/// Mathematical Functions, 26.7.3 (odd) and 26.7.4 (even).
fn within(angle: f64, freedom: u32) -> f64 {
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let odd = freedom % 2;
    let mut term = if odd == 1 { cos } else { 1.0 };
    let mut sum = 0.0;
    // Terms of cos θ to the powers freedom - 2, freedom - 4, …, from the lowest power on.
    let mut power = odd;
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cos * cos * f64::from(power - 1) / f64::from(power);
    }
    if odd == 1 { 2.0 / PI * (angle + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are in any table of the distribution.
    #[test]
    fn quantiles_as_in_tables() {
        let cases = [
            (0.95, 1, 12.706),
            (0.95, 2, 4.303),
            (0.95, 3, 3.182),
            (0.95, 4, 2.776),
            (0.95, 5, 2.571),
            (0.95, 10, 2.228),
            (0.95, 19, 2.093),
            (0.95, 120, 1.980),
            (0.90, 2, 2.920),
            (0.90, 7, 1.895),
            (0.99, 1, 63.657),
            (0.99, 6, 3.707),
            (0.99, 19, 2.861),
        ];
        for (confidence, freedom, t) in cases {
            let found = two_sided(confidence, freedom);
            assert!((found / t - 1.0).abs() < 3e-4, "{confidence} {freedom}: {found}, not {t}");
        }
        assert_eq!(two_sided(0.95, 0), 0.0);
    }

    /// For two degrees of freedom, t = (2p - 1) √(2/(4p(1 - p))) with p = (1 + confidence)/2.
    #[test]
    fn two_degrees_have_a_closed_form() {
        for confidence in [0.1, 0.5, 0.8, 0.999] {
            let p: f64 = 0.5 + confidence / 2.0;
            let t = (2.0 * p - 1.0) * libm::sqrt(2.0 / (4.0 * p * (1.0 - p)));
            assert!((two_sided(confidence, 2) / t - 1.0).abs() < 1e-9, "{confidence}");
        }
    }
}
