//! Frequency with which k + e symbols fail to give k back, compared with closed forms.
//!
//! k + e rows of k coefficients, uniform over q elements, have rank k with probability Π (1 - q^-i), i = e +
//! 1 ... e + k.

use libm::{pow, sqrt};
use strandcast_coding::Code;
use strandcast_coding::codec::Decoder;
use strandcast_proto::seeds::{Random, Seeds};

/// Number of symbols beyond k that are counted.
const EXTRA: usize = 5;
/// Two-sided 99.9 % of the normal distribution.
const Z: f64 = 3.2905;

/// Fraction of blocks that k + 0, 1, ... repair symbols do not recover. Seeds are consecutive, as senders
/// draw them, or independent.
fn failures(code: Code, sources: usize, trials: u32, consecutive: bool) -> [f64; EXTRA] {
    let mut random = Seeds::new(1, 0).stream("seeds");
    let mut decoder = code.decoder(sources, 0);
    let mut failed = [0u32; EXTRA];
    let mut seed = random.u64() as u32;
    let mut draw = |random: &mut Random| {
        seed = if consecutive { seed.wrapping_add(1) } else { random.u64() as u32 };
        match code {
            Code::Sliding => 15 << 16 | seed & 0xffff,
            _ if code.numbers_repairs() => random.below(1 << 23) as u32,
            _ => seed,
        }
    };
    for _ in 0..trials {
        decoder.clear();
        let mut symbol = |decoder: &mut dyn Decoder| {
            decoder.repair(0..sources, draw(&mut random), &[]);
            decoder.rank() < sources
        };
        (1..sources).for_each(|_| {
            symbol(&mut *decoder);
        });
        for count in &mut failed {
            if !symbol(&mut *decoder) {
                break;
            }
            *count += 1;
        }
    }
    failed.map(|count| f64::from(count) / f64::from(trials))
}

fn closed_form(q: f64, sources: usize, extra: usize) -> f64 {
    1.0 - (extra + 1..=extra + sources).map(|i| 1.0 - pow(q, -(i as f64))).product::<f64>()
}

fn within(code: Code, q: f64, sources: usize, trials: u32, expected: &[f64]) {
    for consecutive in [false, true] {
        let measured = failures(code, sources, trials, consecutive);
        println!("{code}, k = {sources}, {trials} trials: {measured:?}");
        for (extra, &stated) in expected.iter().enumerate() {
            let p = closed_form(q, sources, extra);
            assert!((p - stated).abs() < 6e-4, "{code}: {p} at {sources} + {extra}, not {stated}");
            let margin = Z * sqrt(p * (1.0 - p) / f64::from(trials));
            let found = measured[extra];
            assert!((found - p).abs() <= margin, "{code}: {found} at {sources} + {extra}, {p} +- {margin}");
        }
    }
}

/// Number of trials: STRANDCAST_CODING_TRIALS, if it is set. A million of each take minutes.
fn trials(usual: u32) -> u32 {
    std::env::var("STRANDCAST_CODING_TRIALS").map_or(usual, |text| text.parse().expect("a number of trials"))
}

/// 1 - Π (1 - 256^-i) = .00392.
fn gf256(trials: u32) {
    for sources in [16, 32] {
        within(Code::Rlc, 256.0, sources, trials, &[0.00392]);
    }
}

/// 1 - Π (1 - 2^-i), i from 1, 2, 3, 4, 5.
fn gf2(trials: u32) {
    for sources in [16, 32] {
        within(Code::Fountain, 2.0, sources, trials, &[0.711, 0.422, 0.230, 0.120, 0.061]);
    }
}

#[test]
fn gf256_fails_as_often_as_dense_matrices_are_singular() {
    gf256(trials(30_000));
}

#[test]
fn gf2_fails_as_often_as_dense_matrices_are_singular() {
    gf2(trials(30_000));
}

/// Coefficients without zeros make matrices singular about as often: of two by two, 1 in 255. Repair keys are
/// consecutive, as senders count them. There are 65 536 keys, and the same key over the same window gives the
/// same symbol.
fn sliding(trials: u32) {
    for sources in [16, 32] {
        let p = closed_form(256.0, sources, 0);
        let found = failures(Code::Sliding, sources, trials, true)[0];
        println!("sliding-rlc, k = {sources}, {trials} trials: {found}");
        assert!(
            (found - p).abs() <= 1e-4 + Z * sqrt(p / f64::from(trials)),
            "{found} at {sources}, about {p}"
        );
    }
}

#[test]
fn windows_fail_about_as_often_as_dense_matrices_are_singular() {
    sliding(trials(30_000));
}

/// One-sided test: at most 10^-2 at k and 10^-4 at k + 1, by the upper end of the interval.
fn raptorq(trials: u32) {
    for sources in [10, 32] {
        let measured = failures(Code::RaptorQ, sources, trials, false);
        println!("raptorq, k = {sources}, {trials} trials: {measured:?}");
        for (extra, most) in [1e-2, 1e-4].into_iter().enumerate() {
            let allowed = most + Z * sqrt(most / f64::from(trials));
            assert!(measured[extra] <= allowed, "{} at {sources} + {extra}", measured[extra]);
        }
    }
}

#[test]
fn raptorq_fails_rarely() {
    raptorq(trials(2_000));
}
