//! Mean windows under independent losses, p = 0.001 and at least 2000 of them, against the closed forms of the papers.
//!
//! The papers balance increases and decreases of windows that stand still, where TCP's is √(2/p). Independent losses
//! make it 1.31/√p (`iid.rs`), with the same dependence on increase and decrease, so rates are compared with a TCP's
//! here.

use super::iid::{LOSSES, Lossy, alone, run};

const P: f64 = 1e-3;

/// `n` equal paths, as over one bottleneck.
fn equal(n: usize) -> Vec<Lossy> {
    vec![Lossy { rtt: 0.05, p: P }; n]
}

/// Rates of all `paths` together, as a multiple of one TCP's on the first.
fn tcps(spec: &str, paths: &[Lossy]) -> f64 {
    let rates: f64 = run(spec, paths, LOSSES, 1).iter().map(|mean| mean.rate).sum();
    rates / alone("reno", paths[0]).rate
}

#[track_caller]
fn within_a_tenth(value: f64, expected: f64, what: &str) {
    assert!((value / expected - 1.0).abs() <= 0.1, "{what}: {value}, expected {expected} ± 10 %");
}

/// n paths of √(2a/p) segments are n·√a TCPs: one for a = 1/n², n^(3/4) for a = 1/√n.
#[test]
fn ewtcp_is_one_tcp_with_squares_and_more_as_printed() {
    within_a_tenth(tcps("ewtcp", &equal(2)), 1.0, "1/n², two paths");
    within_a_tenth(tcps("ewtcp", &equal(3)), 1.0, "1/n², three paths");
    within_a_tenth(tcps("ewtcp,literal=on", &equal(2)), 1.68, "1/√n, two paths");
    within_a_tenth(tcps("uncoupled", &equal(2)), 2.0, "uncoupled");
}

/// Two equal paths: w/(w_T)² an ACK against p·w/2 a loss is w_T = √(2/p) for all of these.
#[test]
fn coupled_windows_of_equal_paths_are_one_tcp() {
    for spec in ["coupled", "lia", "olia", "balia"] {
        within_a_tenth(tcps(spec, &equal(2)), 1.0, spec);
    }
}

/// Path 1 loses four times as often. Path 0 gets as much as one TCP (Lee and Chung 2017, eq. 5), and each loss on
/// path 1 leaves one segment, since w_T/2 is more than its window. From there it climbs by 1/w_T an ACK until the
/// next loss, 1/p₁ ACKs on
/// average: to 1 + 1/(p₁·w_T) segments, and on average over time to less, since small windows last longer.
#[test]
fn coupled_leaves_the_path_that_loses_more() {
    let paths = [Lossy { rtt: 0.05, p: P }, Lossy { rtt: 0.05, p: 4.0 * P }];
    let means = run("coupled", &paths, LOSSES, 1);
    let total = means[0].window + means[1].window;
    within_a_tenth(total, alone("reno", paths[0]).window, "all windows");
    let top = 1.0 + 1.0 / (4.0 * P * total);
    assert!((1.0..top).contains(&means[1].window), "{} segments, at most {top}", means[1].window);
    // Half of a TCP's there would be no leaving: 1.31/√p₁ is 20.7 segments.
    assert!(means[1].window < 0.3 * alone("reno", paths[1]).window, "{} segments", means[1].window);
}

/// Round-trip times of 10 and 100 ms, equal loss. An ACK on path 0, the best one, adds (w₀/rtt₀²)/X² by all three, X
/// the sum of rates, and a loss takes w₀/2: X is √(2/p)/rtt₀, what one TCP gets there (RFC 6356 §2, goal 1).
#[test]
fn linked_windows_get_what_the_best_path_would() {
    let paths = [Lossy { rtt: 0.01, p: P }, Lossy { rtt: 0.1, p: P }];
    for spec in ["lia", "olia", "balia"] {
        within_a_tenth(tcps(spec, &paths), 1.0, spec);
    }
}
