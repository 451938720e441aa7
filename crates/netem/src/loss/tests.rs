//! Loss models compared with their closed forms, each over many seeds: every run within 5 standard errors,
//! and the runs' mean within 4 of its standard errors.

use std::sync::Arc;

use proptest::prelude::*;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_schemes::estimate;

use super::{Loss, LossList, LossModel, Modulation, frame_error_rate};
use crate::number::{Every, Number};

const RUNS: u64 = 20;
const PACKETS: u32 = 50_000;

fn pattern(model: LossModel, seed: u64, packets: u32) -> Vec<bool> {
    pattern_of(1500, model, seed, packets)
}

fn pattern_of(bytes: usize, model: LossModel, seed: u64, packets: u32) -> Vec<bool> {
    let mut loss = Loss::new(&model, &Seeds::new(seed, 0), "loss", Instant::ZERO);
    (0..packets).map(|n| loss.next_is_lost(ms(u64::from(n)), bytes)).collect()
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Compares the runs' deviations from theory, in standard errors, with the standard normal distribution.
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

/// Checks the fraction of lost packets, whose variance over `n` packets is `variance / n`.
fn assert_loss(model: LossModel, expected: f64, variance: f64) {
    assert_loss_of(1500, model, expected, variance);
}

fn assert_loss_of(bytes: usize, model: LossModel, expected: f64, variance: f64) {
    let error = (variance / f64::from(PACKETS)).sqrt();
    let z: Vec<f64> = (0..RUNS)
        .map(|seed| {
            let lost =
                pattern_of(bytes, model.clone(), seed, PACKETS).into_iter().filter(|&lost| lost).count();
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

/// Var = π_G π_B (h_B - h_G)² (1 + λ)/(1 - λ) for the chain's part, λ = 1 - p_GB - p_BG, plus the states' own
/// Bernoulli variances per packet.
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

/// Packets every 1 ms sample a chain with λ = e^(-1 ms (1/good + 1/bad)), stationary from the start, so the
/// variance formula of the chain by packet holds.
#[test]
fn markov_loss_by_time_has_the_stationary_mean_and_variance() {
    for (good, bad, hg, hb) in [(100, 5, 0.0, 1.0), (20, 10, 0.02, 0.7)] {
        let (mean_good, mean_bad) = (Duration::from_millis(good), Duration::from_millis(bad));
        let model = LossModel::MarkovByTime { mean_good, mean_bad, loss_good: hg, loss_bad: hb };
        let (good, bad) = (good as f64, bad as f64);
        let (share, lambda) = (bad / (good + bad), libm::exp(-1.0 / good - 1.0 / bad));
        let chain = share * (1.0 - share) * (hb - hg) * (hb - hg) * (1.0 + lambda) / (1.0 - lambda);
        let own = (1.0 - share) * hg * (1.0 - hg) + share * hb * (1.0 - hb);
        let expected = (1.0 - share) * hg + share * hb;
        assert!((model.mean_loss() - expected).abs() < 1e-12);
        assert_loss(model, expected, chain + own);
    }
}

/// Bad lasts an exponential time, and so does Good: sampled every microsecond, runs have the means and the variances.
#[test]
fn sojourns_have_the_asked_lengths() {
    for (good_us, bad_us) in [(300u32, 40u32), (50, 500)] {
        let micros = |us: u32| Duration::from_micros(us.into());
        let (mean_good, mean_bad) = (micros(good_us), micros(bad_us));
        let model = LossModel::MarkovByTime { mean_good, mean_bad, loss_good: 0.0, loss_bad: 1.0 };
        let mut z = [Vec::new(), Vec::new()];
        for seed in 0..RUNS {
            let mut loss = Loss::new(&model, &Seeds::new(seed, 0), "loss", Instant::ZERO);
            let samples: Vec<bool> =
                (0..200_000).map(|us| loss.next_is_lost(Instant::from_nanos(us * 1000), 1500)).collect();
            for (bad, mean_us) in [(false, good_us), (true, bad_us)] {
                let runs = samples.chunk_by(|a, b| a == b).filter(|run| run[0] == bad);
                let lengths: Vec<f64> = runs.map(|run| run.len() as f64).collect();
                // Sampling misses a stay that falls between two samples and joins its neighbours: sampled at
                // microseconds, the process is a chain by packet, whose runs are geometric.
                let rate = 1.0 / f64::from(good_us) + 1.0 / f64::from(bad_us);
                let leave = (1.0 - libm::exp(-rate)) / (rate * f64::from(mean_us));
                let error = ((1.0 - leave).sqrt() / leave) / (lengths.len() as f64).sqrt();
                z[usize::from(bad)].push((mean(&lengths) - 1.0 / leave) / error);
            }
        }
        assert_standard_normal(&format!("Good of {good_us} µs"), &z[0]);
        assert_standard_normal(&format!("Bad of {bad_us} µs"), &z[1]);
    }
}

#[test]
fn a_list_loses_what_it_says() {
    let list = Arc::new(LossList::parse("# packets\n2\n3 # twice\n\n6\n").expect("a list"));
    assert_eq!(list.ordinals(), [2, 3, 6]);
    let lost = |repeat| -> Vec<u32> {
        let lost = pattern(LossModel::List { list: list.clone(), repeat }, 1, 20);
        (1..).zip(lost).filter(|&(_, lost)| lost).map(|(n, _)| n).collect()
    };
    assert_eq!(lost(false), [2, 3, 6]);
    assert_eq!(lost(true), [2, 3, 6, 8, 9, 12, 14, 15, 18, 20]);
    assert_eq!(LossModel::List { list: list.clone(), repeat: true }.mean_loss(), 0.5);
    assert_eq!(LossModel::List { list, repeat: false }.mean_loss(), 0.0);
}

#[test]
fn bad_lines_of_a_list_are_named() {
    for (text, error) in [
        ("# none\n", "line 1: the list is empty; write one ordinal per line"),
        ("1\n0.5\n", "line 2: `0.5` is not the ordinal of a packet; write one whole number per line"),
        ("0\n1\n", "line 1: the first packet is number 1; add 1 to all ordinals"),
        ("5\n\n5\n", "line 3: ordinals must ascend; sort the lines and keep each once"),
    ] {
        assert_eq!(LossList::parse(text).map_err(|e| e.to_string()), Err(error.to_owned()));
    }
}

/// 0 % for a second, then everything.
#[test]
fn the_probability_may_change() {
    let p = Number::Steps(vec![(Duration::ZERO, 0.0), (Duration::from_secs(1), 1.0)]);
    let lost = pattern(LossModel::Uniform { p }, 1, 2000);
    assert!(lost.iter().enumerate().all(|(ms, &lost)| lost == (ms >= 1000)));
    let p = Number::Uniform { low: 0.1, high: 0.3, every: Every::Packet };
    assert_loss(LossModel::Uniform { p }, 0.2, 0.2 * 0.8);
}

#[test]
fn times_too_short_and_probabilities_that_are_none_are_invalid() {
    let time = Duration::from_micros;
    let by_time = |good, bad, loss_bad| LossModel::MarkovByTime {
        mean_good: time(good),
        mean_bad: time(bad),
        loss_good: 0.0,
        loss_bad,
    };
    assert!(by_time(1, 1, 1.0).is_valid());
    for model in [by_time(0, 1, 1.0), by_time(1, 0, 1.0), by_time(1, 1, 1.1)] {
        assert!(!model.is_valid(), "{model:?}");
    }
    let drifting = Number::Steps(vec![(Duration::ZERO, 0.1), (time(1), 1.1)]);
    assert!(!LossModel::Uniform { p: drifting }.is_valid());
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

    /// Outages by time are independent of packets, and wait for no packet that is otherwise lost.
    #[test]
    fn states_by_time_do_not_depend_on_packets(seed: u64, times in prop::collection::vec(0..100_000u64, 1..200)) {
        let mean = Duration::from_micros(500);
        let model = LossModel::MarkovByTime { mean_good: mean, mean_bad: mean, loss_good: 0.0, loss_bad: 1.0 };
        let new = || Loss::new(&model, &Seeds::new(seed, 0), "loss", Instant::ZERO);
        let mut all = new();
        let states: Vec<bool> = (0..100_000).map(|us| all.next_is_lost(Instant::from_nanos(us * 1000), 1500)).collect();
        let mut some = new();
        for us in times {
            prop_assert_eq!(some.next_is_lost(Instant::from_nanos(us * 1000), 1500), states[us as usize], "{} µs", us);
        }
    }
}

/// Q(3) = 1.349898e-3 and Q(4) = 3.167124e-5 (tables of the normal distribution), e⁻¹⁰/2 = 2.269996e-5; a packet of L bytes
/// is lost with 1 - (1 - BER)^(8L).
#[test]
fn bit_errors_lose_packets_by_their_length() {
    let snr = |s: f64| Number::Constant(10.0 * libm::log10(s));
    for (modulation, s, ber) in [
        (Modulation::Qpsk, 16.0, 3.167_124e-5),
        (Modulation::Bpsk, 8.0, 3.167_124e-5),
        (Modulation::Qam16, 45.0, 0.75 * 1.349_898e-3),
        (Modulation::Qam64, 336.0, 7.0 / 12.0 * 3.167_124e-5),
        (Modulation::Dbpsk, 10.0, 2.269_996_5e-5),
        (Modulation::Dqpsk, 20.0, 3.658_980_4e-4),
    ] {
        let found = modulation.bit_error_rate(10.0 * libm::log10(s));
        assert!((found / ber - 1.0).abs() < 1e-5, "{modulation:?}: {found}, not {ber}");
        for bytes in [40, 1500] {
            let p = 1.0 - (0..8 * bytes).fold(1.0, |right, _| right * (1.0 - ber));
            assert!((frame_error_rate(ber, bytes) / p - 1.0).abs() < 1e-9, "{ber} {bytes}");
            let model = LossModel::Snr { modulation, snr_db: snr(s) };
            assert_loss_of(bytes, model, p, p * (1.0 - p));
        }
    }
}

/// A packet leaves at the ratio of that time, even if the ratio changes.
#[test]
fn bit_errors_follow_the_ratio() {
    let steps = vec![(Duration::ZERO, 60.0), (Duration::from_millis(100), 0.0)];
    let model = LossModel::Snr { modulation: Modulation::Qpsk, snr_db: Number::Steps(steps) };
    assert!(model.mean_loss() > 1.0 - 1e-12, "the last step's");
    let lost = pattern(model, 1, 200);
    assert!(lost[..100].iter().all(|&lost| !lost), "no bit is wrong at 60 dB");
    assert!(lost[100..].iter().all(|&lost| lost), "every packet has wrong bits at 0 dB");
}

/// Drawn for each packet, U(12, 15) dB: ∫ FER(x) dx / 3, by Simpson's rule over 3000 steps.
#[test]
fn bit_errors_at_a_ratio_that_is_drawn() {
    let at = |db: f64| frame_error_rate(Modulation::Qpsk.bit_error_rate(db), 1500);
    let weight = |i: u32| if i == 0 || i == 3000 { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
    let mean = (0..=3000).map(|i| weight(i) * at(12.0 + f64::from(i) / 1000.0)).sum::<f64>() / 9000.0;
    let snr_db = Number::Uniform { low: 12.0, high: 15.0, every: Every::Packet };
    let model = LossModel::Snr { modulation: Modulation::Qpsk, snr_db };
    assert!((model.mean_loss() / mean - 1.0).abs() < 1e-3, "{} and {mean}", model.mean_loss());
    assert_loss(model, mean, mean * (1.0 - mean));
}

#[test]
fn degenerate_packets_and_ratios() {
    assert_eq!(frame_error_rate(0.1, 0), 0.0);
    assert_eq!(frame_error_rate(0.0, 1500), 0.0);
    assert_eq!(frame_error_rate(1.0, 1500), 1.0);
    let valid = |snr_db| LossModel::Snr { modulation: Modulation::Qpsk, snr_db }.is_valid();
    assert!(valid(Number::Constant(0.0)) && valid(Number::Constant(200.0)));
    assert!(!valid(Number::Constant(-0.1)) && !valid(Number::Constant(f64::NAN)));
}

const MODULATIONS: [(&str, Modulation); 6] = [
    ("bpsk", Modulation::Bpsk),
    ("qpsk", Modulation::Qpsk),
    ("16qam", Modulation::Qam16),
    ("64qam", Modulation::Qam64),
    ("dbpsk", Modulation::Dbpsk),
    ("dqpsk", Modulation::Dqpsk),
];

/// Schemes have separate code for the same formulas.
#[test]
fn bit_error_rates_are_those_that_schemes_reckon_with() {
    assert_eq!(MODULATIONS.len(), estimate::Modulation::WORDS.len());
    for (word, ours) in MODULATIONS {
        let theirs = estimate::Modulation::from_word(word).expect("schemes know it");
        for tenth in 0..=200 {
            let db = f64::from(tenth) / 10.0;
            let (a, b) = (
                ours.bit_error_rate(db),
                theirs.bit_error_rate(estimate::Snr::from_db(estimate::Decibel(db))),
            );
            assert!((a - b).abs() <= 1e-12 * a, "{word} at {db} dB: {a} and {b}");
        }
    }
}

/// Converts the ratio to frame errors, and their count back to the ratio.
#[test]
fn the_effective_ratio_of_a_link_is_its_own() {
    for (word, modulation) in MODULATIONS {
        let theirs = estimate::Modulation::from_word(word).expect("schemes know it");
        let ratio = theirs.snr_at(4e-6);
        let model = LossModel::Snr { modulation, snr_db: Number::Constant(ratio.to_db().0) };
        let frames = 200_000;
        let errors = pattern_of(1500, model, 7, frames).into_iter().filter(|&lost| lost).count();
        let mut esnr = estimate::EffectiveSnr::new(theirs);
        esnr.close(u64::from(frames), errors as u64, 1500.0);
        // 4.7 % of the frames are in error, with a standard error of 1 % of that: 0.01 dB.
        let off = esnr.snr().to_db().0 - ratio.to_db().0;
        assert!(off.abs() < 0.05, "{word}: {off} dB");
    }
}
