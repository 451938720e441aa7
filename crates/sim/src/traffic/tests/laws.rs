//! Distributions compared with their closed forms.

use super::super::law::{Pareto, exponential};
use super::{assert_law, assert_mean, stream};

const SHAPES: [f64; 4] = [1.1, 1.5, 1.9, 3.0];
const SAMPLES: usize = 100_000;

/// Scale of a Pareto distribution cut at `cap` with mean 1, by Newton's method on E[min(X, cap)] = (a·s −
/// sᵃ·cap¹⁻ᵃ)/(a − 1), the integral of the survival function.
fn scale(a: f64, cap: f64) -> f64 {
    (0..50).fold(0.3, |s: f64, _| {
        let tail = libm::pow(s / cap, a - 1.0);
        s - (s * (a - tail) / (a - 1.0) - 1.0) / (a * (1.0 - tail) / (a - 1.0))
    })
}

#[test]
fn exponential_times() {
    let mut random = stream(1);
    let samples: Vec<_> = (0..SAMPLES).map(|_| exponential(&mut random)).collect();
    assert_mean("exponential", &samples, 1.0, 1.0);
    assert_law("exponential", samples, |x| 1.0 - libm::exp(-x));
}

#[test]
fn pareto_times_have_the_mean_asked_for_in_spite_of_the_cut() {
    for (seed, a) in (1..).zip(SHAPES) {
        let (s, cap) = (scale(a, 100.0), 100.0);
        let square =
            s * s + 2.0 * libm::pow(s, a) * (libm::pow(cap, 2.0 - a) - libm::pow(s, 2.0 - a)) / (2.0 - a);
        let (law, mut random) = (Pareto::new(7.0, a), stream(seed));
        let samples: Vec<_> = (0..SAMPLES).map(|_| law.sample(&mut random) / 7.0).collect();
        let what = format!("Pareto {a}, seed {seed}");
        assert!((law.mean() - 7.0).abs() < 1e-9, "{what}: {}", law.mean());
        assert_mean(&what, &samples, 1.0, square - 1.0);
        assert!(samples.iter().all(|&x| x <= cap * (1.0 + 1e-12)), "{what}: above 100 means");
        let cut: Vec<_> = samples.iter().map(|&x| f64::from(x > cap * (1.0 - 1e-12))).collect();
        let share = libm::pow(s / cap, a);
        assert_mean(&format!("{what}, cut"), &cut, share, share * (1.0 - share));
        let below = |x: f64| if x < s { 0.0 } else { 1.0 - libm::pow(s / x, a) };
        assert_law(&what, samples.into_iter().filter(|&x| x < cap * (1.0 - 1e-12)).collect(), |x| {
            below(x) / (1.0 - share)
        });
    }
}

/// The remainder of the interval at a random time has density P(X > x)/mean.
#[test]
fn what_is_left_of_a_pareto_time() {
    for (seed, a) in (1..).zip(SHAPES) {
        let s = scale(a, 100.0);
        let (law, mut random) = (Pareto::new(7.0, a), stream(seed));
        let samples = (0..SAMPLES).map(|_| law.residual(&mut random) / 7.0).collect();
        let below = |x: f64| {
            let x = x.min(100.0);
            if x < s { x } else { (a * s - libm::pow(s, a) * libm::pow(x, 1.0 - a)) / (a - 1.0) }
        };
        assert_law(&format!("rest of Pareto {a}, seed {seed}"), samples, below);
    }
}

/// The published numbers for shape 1.5 without the cut: the scale is a third of the mean.
#[test]
fn the_cut_raises_the_scale_by_about_4_percent() {
    let raise = 3.0 * scale(1.5, 100.0);
    assert!((1.035..1.045).contains(&raise), "{raise}");
}
