//! Loss models against their closed forms, each over many seeds: every run within 5 standard errors, and the runs'
//! mean within 4 of its own.

use super::{Loss, LossModel};
use proptest::prelude::*;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

const RUNS: u64 = 20;
const PACKETS: u32 = 50_000;

fn pattern(model: LossModel, seed: u64, packets: u32) -> Vec<bool> {
    let mut loss = Loss::new(&model, &Seeds::new(seed, 0), "loss", Instant::ZERO);
    (0..packets).map(|_| loss.next_is_lost(Instant::ZERO)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Holds the runs' deviations from theory, in standard errors, to the standard normal distribution.
fn assert_standard_normal(what: &str, z: &[f64]) {
    for (seed, z) in z.iter().enumerate() {
        assert!(z.abs() < 5.0, "{what}: seed {seed} is {z} standard errors off");
    }
    let n = z.len() as f64;
    let bias = mean(z) * n.sqrt();
    assert!(bias.abs() < 4.0, "{what}: the mean of {n} seeds is {bias} standard errors off");
    // Σz² is chi-squared with n degrees of freedom: mean n, variance 2n.
    let spread = (z.iter().map(|z| z * z).sum::<f64>() - n) / (2.0 * n).sqrt();
    assert!(spread.abs() < 4.0, "{what}: spread of {n} seeds is {spread} standard errors off");
}

/// Checks the share of lost packets, whose variance over `n` packets is `variance / n`.
fn assert_loss(model: LossModel, expected: f64, variance: f64) {
    let error = (variance / f64::from(PACKETS)).sqrt();
    let z: Vec<f64> = (0..RUNS)
        .map(|seed| {
            let lost = pattern(model.clone(), seed, PACKETS).into_iter().filter(|&lost| lost).count();
            (lost as f64 / f64::from(PACKETS) - expected) / error
        })
        .collect();
    assert_standard_normal(&format!("{model:?}"), &z);
}

#[test]
fn uniform_loss_is_binomial() {
    for p in [0.002, 0.02, 0.3] {
        assert_loss(LossModel::uniform(p), p, p * (1.0 - p));
    }
}

/// Var = π_G π_B (h_B - h_G)² (1 + λ)/(1 - λ) for the chain's part, λ = 1 - p_GB - p_BG, and the states' own
/// Bernoulli variances on top, a packet.
#[test]
fn markov_loss_has_the_stationary_mean_and_variance() {
    for (gb, bg, hg, hb) in [(0.004, 0.2, 0.0, 1.0), (0.02, 0.4, 0.01, 0.6), (0.3, 0.9, 0.0, 1.0)] {
        let model = LossModel::Markov { p_good_to_bad: gb, p_bad_to_good: bg, loss_good: hg, loss_bad: hb };
        let (bad, lambda) = (gb / (gb + bg), 1.0 - gb - bg);
        let chain = bad * (1.0 - bad) * (hb - hg) * (hb - hg) * (1.0 + lambda) / (1.0 - lambda);
        let own = (1.0 - bad) * hg * (1.0 - hg) + bad * hb * (1.0 - hb);
        let expected = (1.0 - bad) * hg + bad * hb;
        assert!((model.mean_loss() - expected).abs() < 1e-12);
        assert_loss(model, expected, chain + own);
    }
}

#[test]
fn bursts_have_the_asked_loss_and_mean_length() {
    for (rate, length) in [(0.02, 5.0), (0.01, 3.0), (0.2, 10.0)] {
        let model = LossModel::bursts(rate, length);
        assert!(model.is_valid());
        assert!((model.mean_loss() - rate).abs() < 1e-12);
        let z: Vec<f64> = (0..RUNS)
            .map(|seed| {
                let pattern = pattern(model.clone(), seed, PACKETS);
                let runs = pattern.chunk_by(|a, b| a == b).filter(|run| run[0]);
                let lengths: Vec<f64> = runs.map(|run| run.len() as f64).collect();
                // A burst is geometric with p = 1/length: variance (1 - p)/p².
                let error = (length * (length - 1.0) / lengths.len() as f64).sqrt();
                (mean(&lengths) - length) / error
            })
            .collect();
        assert_standard_normal(&format!("bursts of {length} at {rate}"), &z);
    }
}

#[test]
fn impossible_bursts_are_invalid() {
    for (rate, length) in
        [(1.0, 5.0), (-0.1, 5.0), (0.1, 0.5), (0.1, 0.0), (0.9, 2.0), (f64::NAN, 2.0), (0.1, -3.0)]
    {
        assert!(!LossModel::bursts(rate, length).is_valid(), "{rate} {length}");
    }
}

proptest! {
    #[test]
    fn same_seed_same_losses(p in 0.0..1.0f64, seed: u64) {
        let model = LossModel::uniform(p);
        prop_assert_eq!(pattern(model.clone(), seed, 100), pattern(model, seed, 100));
    }

    #[test]
    fn certain_loss_and_no_loss_are_exact(seed: u64) {
        for (p, lost) in [(0.0, false), (1.0, true)] {
            prop_assert_eq!(pattern(LossModel::uniform(p), seed, 100), [lost; 100]);
        }
        let alternating = LossModel::Markov { p_good_to_bad: 1.0, p_bad_to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
        prop_assert!(pattern(alternating.clone(), seed, 100).into_iter().enumerate().all(|(i, lost)| lost == (i % 2 == 0)));
    }
}
