//! Sources compared with their laws. Random draws have fixed seeds; bounds are in standard errors of the law.

mod background;
mod laws;
mod live;
mod sources;
mod video;

use core::time::Duration;

use strandcast_netem::number::{Every, Number, Varying};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::{Emission, Level, Source};

fn stream(seed: u64) -> Random {
    Seeds::new(seed, 0).stream("traffic")
}

fn s(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn all(mut source: impl Source) -> Vec<Emission> {
    let emissions: Vec<_> = core::iter::from_fn(|| source.next()).collect();
    assert!(emissions.iter().zip(emissions.iter().skip(1)).all(|(a, b)| a.at <= b.at), "times go back");
    assert_eq!(source.next(), None, "continues after its end");
    emissions
}

/// A number in use.
fn varying(number: Number, seed: u64) -> Varying {
    Varying::new(&number, Seeds::new(seed, 0).stream("number"), Instant::ZERO)
}

/// A list of values, each from a time in seconds on.
fn steps(steps: &[(u64, f64)]) -> Varying {
    varying(Number::Steps(steps.iter().map(|&(from, value)| (Duration::from_secs(from), value)).collect()), 0)
}

/// U(0, high), redrawn once per `period`.
fn drawn(high: f64, period: Duration, seed: u64) -> Varying {
    varying(Number::Uniform { low: 0.0, high, every: Every::Period(period) }, seed)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Compares samples with a law's mean and variance: the mean within 4 standard errors.
fn assert_mean(what: &str, values: &[f64], expected: f64, variance: f64) {
    let off = (mean(values) - expected) / (variance / values.len() as f64).sqrt();
    assert!(off.abs() < 4.0, "{what}: mean {} is {off} standard errors from {expected}", mean(values));
}

/// Kolmogorov and Smirnov's test at the level 0.0005 (2.03/√n).
fn assert_law(what: &str, mut values: Vec<f64>, below: impl Fn(f64) -> f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let apart =
        |(i, &x): (usize, &f64)| (below(x) - i as f64 / n).abs().max((below(x) - (i + 1) as f64 / n).abs());
    let most = values.iter().enumerate().map(apart).fold(0.0, f64::max);
    assert!(most * n.sqrt() < 2.03, "{what}: {n} samples, {most} away from the law");
}
