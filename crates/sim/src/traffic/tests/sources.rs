//! Constant rate, Poisson and bursts.

use core::time::Duration;

use proptest::prelude::*;
use strandcast_netem::number;
use strandcast_proto::time::Instant;

use super::{all, assert_law, assert_mean, mean, s, steps, stream, varying};
use crate::traffic::{Cbr, Emission, OnOff, OnOffLaw, Poisson, Source};

fn times(source: impl Source) -> Vec<Instant> {
    all(source).into_iter().map(|emission| emission.at).collect()
}

fn intervals(times: &[Instant]) -> Vec<f64> {
    times.iter().zip(times.iter().skip(1)).map(|(a, b)| (*b - *a).as_secs_f64()).collect()
}

#[test]
fn constant_rate_is_a_message_every_8_size_by_rate() {
    let messages = all(Cbr::new(1000, Box::new(1e6), s(5), s(6)));
    assert_eq!(messages.len(), 125);
    for (n, message) in (0..).zip(&messages) {
        let at = s(5) + Duration::from_millis(8 * n);
        assert_eq!(*message, Emission { at, bytes: 1000, frame: None });
    }
}

/// 8/3 µs is not a whole number of nanoseconds: the n-th message is still at the exact time.
#[test]
fn intervals_add_up_without_error() {
    let times = times(Cbr::new(1, Box::new(3e6), s(0), s(3) - Duration::from_micros(1)));
    assert_eq!(times.len(), 1_125_000);
    for (n, at) in (0u64..).zip(times) {
        assert!(at.as_nanos().abs_diff(n * 8_000 / 3) <= 1, "message {n} at {at:?}");
    }
}

#[test]
fn a_rate_of_zero_stands_still() {
    let rate = steps(&[(0, 0.0), (10, 8e3), (12, 0.0), (15, 16e3), (16, 0.0)]);
    // 2000 bytes until 12 s, and 2000 more from 15 s on; a message due at 12 s is sent at the rate after it.
    let times = times(Cbr::new(500, Box::new(rate), s(0), s(100)));
    let ms: Vec<_> = times.iter().map(|at| at.as_nanos() / 1_000_000).collect();
    assert_eq!(ms, [10_000, 10_500, 11_000, 11_500, 15_000, 15_250, 15_500, 15_750]);
    assert_eq!(all(Cbr::new(500, Box::new(0.0), s(0), s(100))), []);
    assert_eq!(all(Poisson::new(500, Box::new(f64::NAN), stream(1), s(0), s(100))), []);
}

proptest! {
    /// At the n-th message the rate's integral is n messages, for any course of the rate.
    #[test]
    fn messages_follow_the_integral_of_the_rate(
        steps in prop::collection::vec((1..3_000_000_000u64, prop_oneof![Just(0.0), 1e3..1e6]), 1..20), size in 1..3000u32,
    ) {
        let mut from = Instant::ZERO;
        let steps: Vec<_> = steps.into_iter().map(|(ns, rate)| {
            let step = (from, rate);
            from += Duration::from_nanos(ns);
            step
        }).collect();
        let rate = number::Number::Steps(steps.iter().map(|step| (step.0 - Instant::ZERO, step.1)).collect());
        let rate = varying(rate, 0);
        let integral = |t: Instant| -> f64 {
            let ends = steps.iter().skip(1).map(|step| step.0).chain([Instant::MAX]);
            steps.iter().zip(ends).map(|(step, end)| step.1 * (t.min(end) - step.0).as_secs_f64()).sum()
        };
        let bits = 8.0 * f64::from(size);
        let times = times(Cbr::new(size, Box::new(rate), s(0), from));
        for (n, at) in times.iter().enumerate() {
            let due = integral(*at);
            prop_assert!((due - n as f64 * bits).abs() < 0.01, "message {n} at {at:?}: {due} bits");
        }
        let total = integral(from);
        prop_assert!((times.len() as f64 - total / bits) > -0.01 && (times.len() as f64 - total / bits) < 1.01);
    }
}

#[test]
fn poisson_intervals_are_exponential() {
    for seed in 1..=5 {
        let times = times(Poisson::new(1250, Box::new(1e6), stream(seed), s(0), s(500)));
        let intervals = intervals(&times);
        assert_mean(&format!("seed {seed}"), &intervals, 0.01, 1e-4);
        assert_law(&format!("seed {seed}"), intervals, |x| 1.0 - libm::exp(-x / 0.01));
    }
}

/// Counts of a Poisson process have a variance equal to their mean, even at a changing rate.
#[test]
fn poisson_counts_follow_a_changing_rate() {
    let rate = steps(&[(0, 1e5), (10, 0.0), (20, 4e5)]);
    let counts: Vec<_> = (0..200)
        .map(|seed| times(Poisson::new(1250, Box::new(rate.clone()), stream(seed), s(0), s(30))).len() as f64)
        .collect();
    assert_mean("counts", &counts, 500.0, 500.0);
    let square: Vec<_> = counts.iter().map(|n| (n - 500.0) * (n - 500.0)).collect();
    // Fourth central moment of the distribution: m + 3m².
    assert_mean("variance", &square, 500.0, 500.0 + 2.0 * 500.0 * 500.0);
}

fn on_off(law: OnOffLaw, size: u32, seed: u64, stop: Instant) -> OnOff {
    let half = Duration::from_millis(500);
    OnOff::new(size, Box::new(1e6), law, [half, half], stream(seed), s(0), stop)
}

#[test]
fn constant_bursts_by_hand() {
    // 100 ms between messages, 5 per burst, the first one an interval after the silence.
    let times = times(on_off(OnOffLaw::Constant, 12_500, 1, s(3)));
    let ms: Vec<_> = times.iter().map(|at| at.as_nanos() / 1_000_000).collect();
    assert_eq!(ms, [600, 700, 800, 900, 1000, 1600, 1700, 1800, 1900, 2000, 2600, 2700, 2800, 2900]);
}

/// Messages per burst, and silence between bursts, of a source with interval `interval`.
fn bursts(times: &[Instant], interval: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut sizes, mut silences) = (vec![1.0], Vec::new());
    for gap in intervals(times) {
        if gap > interval + 1e-6 {
            silences.push(gap - interval);
            sizes.push(0.0);
        }
        *sizes.last_mut().expect("begins with one") += 1.0;
    }
    (sizes, silences)
}

/// A burst is max(1, round(T/interval)) messages: its mean is 1 + Σ P(T > (k + ½) interval), its second moment
/// 1 + Σ (2k + 1) P(…), over k ≥ 1.
#[test]
fn bursts_are_rounded_to_whole_messages() {
    let shape = 1.5;
    // Scale for mean 1 cut at 100, from E[min(X, 100)] = 3s − 2·s^1.5/10 = 1.
    let scale = (0..50).fold(0.34, |s: f64, _| (1.0 + 0.2 * s * s.sqrt()) / 3.0);
    let pareto = |x: f64| if x > 100.0 { 0.0 } else { libm::pow(scale / x, shape).min(1.0) };
    let exponential = |x: f64| libm::exp(-x);
    let cases: [(OnOffLaw, &dyn Fn(f64) -> f64); 2] =
        [(OnOffLaw::Pareto { shape }, &pareto), (OnOffLaw::Exponential, &exponential)];
    for (law, above) in cases {
        // 2, 20 and 200 ms between messages.
        for size in [250, 2500, 25_000] {
            let interval = f64::from(size) * 8.0 / 1e6;
            let above = |k: i32| above((f64::from(k) + 0.5) * interval / 0.5);
            let last = (1..).find(|&k| above(k) < 1e-9).expect("the law ends");
            let (first, second) = (1..last).fold((1.0, 1.0), |(first, second), k| {
                (first + above(k), second + f64::from(2 * k + 1) * above(k))
            });
            let (mut sizes, mut silences) = (Vec::new(), Vec::new());
            for seed in 0..4 {
                let (mut a, b) = bursts(&times(on_off(law, size, seed, s(2000))), interval);
                a.pop();
                sizes.extend(a);
                silences.extend(b);
            }
            let what = format!("{law:?}, messages of {size} bytes");
            assert_mean(&what, &sizes, first, second - first * first);
            let silence = |x: f64| {
                1.0 - if law == OnOffLaw::Exponential { exponential(x / 0.5) } else { pareto(x / 0.5) }
            };
            assert_law(&what, silences, silence);
        }
    }
}

#[test]
fn same_stream_same_messages_and_other_streams_change_nothing() {
    let law = OnOffLaw::Pareto { shape: 1.5 };
    let alone = times(on_off(law, 500, 7, s(50)));
    let mut beside = (on_off(law, 500, 7, s(50)), Poisson::new(500, Box::new(1e6), stream(8), s(0), s(50)));
    let interleaved: Vec<_> = core::iter::from_fn(|| {
        beside.1.next();
        beside.0.next().map(|emission| emission.at)
    })
    .collect();
    assert_eq!(alone, interleaved);
    let other = times(on_off(law, 500, 8, s(50)));
    assert_ne!(alone, other);
    assert!(mean(&intervals(&alone)) > 0.0);
}
