//! Xu et al. (2015), Algorithms 2 and 3 and eq. 7, with numbers worked by hand; MTU 1468, cwnd(init) 2936.

use strandcast_proto::policy::PathId;

use crate::congestion::friendliness::{Balance, Friendliness, Member, penalized};

const MTU: u64 = 1468;
const INITIAL: u64 = 2 * MTU;

/// fwnd = Σ cwnd(init) over `paths`, raised by slow start to `window`.
fn friendliness(paths: usize, threshold: u64, window: u64) -> Friendliness {
    let mut f = Friendliness::new(0.5, 1.5, Some(threshold));
    for _ in 0..paths {
        f.path_met(INITIAL);
    }
    f.grow(window - f.window() as u64, paths);
    assert_eq!(f.window(), window as f64);
    f
}

fn member(id: u8, cwnd: u64, rate: f64, count: u32) -> Member {
    Member { id: PathId(id), cwnd, rate, count, floor: 4 * MTU, exempt: false }
}

#[test]
fn algorithm_2_begins_with_the_sum_of_initial_windows() {
    let f = friendliness(3, 65_536, 3 * INITIAL);
    assert_eq!((f.window(), f.threshold()), (8808.0, 65_536.0));
}

#[test]
fn algorithm_2_slow_start_follows_the_path_s_growth() {
    let mut f = friendliness(2, 65_536, 2 * INITIAL);
    assert_eq!(f.grow(MTU, 2), 1468.0, "the path keeps all of it");
    assert_eq!(f.window(), (2 * INITIAL + MTU) as f64);
    f.acked(100_000, MTU);
    assert_eq!(f.window(), (2 * INITIAL + MTU) as f64, "bytes count in congestion avoidance alone");
}

/// n = 2: Δ = 1468 gives 734 to the path; one MTU for each fwnd of bytes acknowledged.
#[test]
fn algorithm_2_congestion_avoidance_divides_the_path_s_growth() {
    let mut f = friendliness(2, 20_000, 20_000);
    assert_eq!(f.grow(MTU, 2), 734.0);
    assert_eq!(f.window(), 20_000.0);
    f.acked(12_000, MTU);
    assert_eq!(f.window(), 20_000.0);
    f.acked(12_000, MTU);
    assert_eq!(f.window(), 21_468.0);
    f.acked(17_000, MTU);
    assert_eq!(f.window(), 21_468.0, "4 000 of before and these are not yet 21 468");
    f.acked(468, MTU);
    assert_eq!(f.window(), 22_936.0);
    assert_eq!(f.grow(900, 0), 900.0, "no path counts as one");
}

/// fwnd 60 kB, cwnd(init) 2936, n = 2: fthresh = fwnd = 30 kB; never below n cwnd(init).
#[test]
fn algorithm_2_fast_retransmission_by_congestion() {
    let mut f = friendliness(2, 65_536, 60_000);
    f.fast_retransmit(true, 2 * INITIAL);
    assert_eq!((f.window(), f.threshold()), (30_000.0, 30_000.0));
    for _ in 0..5 {
        f.fast_retransmit(true, 2 * INITIAL);
    }
    assert_eq!((f.window(), f.threshold()), (5872.0, 5872.0));
}

/// As Algorithm 2 is printed the radio's losses leave fwnd alone; by section V's text any loss halves it.
#[test]
fn algorithm_2_fast_retransmission_by_the_radio() {
    let mut printed = friendliness(2, 65_536, 60_000);
    let mut text = printed.clone().cut_by_any_loss(true);
    for f in [&mut printed, &mut text] {
        f.fast_retransmit(false, 2 * INITIAL);
    }
    assert_eq!((printed.window(), printed.threshold()), (60_000.0, 65_536.0));
    assert_eq!((text.window(), text.threshold()), (30_000.0, 30_000.0));
    text.fast_retransmit(true, 2 * INITIAL);
    assert_eq!(text.window(), 15_000.0);
}

#[test]
fn algorithm_2_timeout() {
    let mut f = friendliness(2, 65_536, 60_000);
    f.timeout(2 * INITIAL);
    assert_eq!((f.window(), f.threshold()), (5872.0, 30_000.0));
    f.timeout(2 * INITIAL);
    assert_eq!((f.window(), f.threshold()), (5872.0, 5872.0));
}

#[test]
fn paths_bring_and_take_their_initial_window() {
    let mut f = friendliness(2, 65_536, 60_000);
    f.path_met(INITIAL);
    assert_eq!(f.window(), 62_936.0);
    f.path_left(INITIAL, 2 * INITIAL);
    assert_eq!(f.window(), 60_000.0);
    f.timeout(2 * INITIAL);
    f.path_left(INITIAL, INITIAL);
    assert_eq!(f.window(), 2936.0);
    f.path_left(INITIAL, 0);
    assert_eq!(f.window(), 0.0, "no path");
    assert_eq!(f.balance(0), Balance::Fair, "nothing to share");
}

#[test]
fn silence_shrinks_it_as_it_shrinks_the_windows() {
    let mut f = friendliness(2, 65_536, 60_000);
    f.silent(40_000, 10_000, 2 * INITIAL);
    assert_eq!(f.window(), 15_000.0);
    f.silent(10_000, 1000, 2 * INITIAL);
    assert_eq!(f.window(), 5872.0);
    f.silent(0, 0, 2 * INITIAL);
    assert_eq!(f.window(), 5872.0);
}

#[test]
fn eq_7_has_two_bounds() {
    let f = friendliness(2, 65_536, 60_000);
    for (sum, balance) in [
        (0, Balance::Reward),
        (29_999, Balance::Reward),
        (30_000, Balance::Fair),
        (90_000, Balance::Fair),
        (90_001, Balance::Penalize),
    ] {
        assert_eq!(f.balance(sum), balance, "{sum}");
    }
}

/// fwnd 60 kB, Σ 24 kB, rates 3 to 1: +27 and +9 kB, so that the sum is fwnd.
#[test]
fn algorithm_3_reward_lifts_the_sum_to_fwnd() {
    let f = friendliness(2, 65_536, 60_000);
    let mut members = [member(0, 16_000, 3e5, 0), member(1, 8_000, 1e5, 0)];
    f.reward(&mut members);
    assert_eq!(members.map(|m| m.cwnd), [43_000, 17_000]);
}

#[test]
fn algorithm_3_reward_without_rates_is_equal_and_skips_who_timed_out() {
    let f = friendliness(2, 65_536, 60_000);
    let mut members = [member(0, 16_000, 0.0, 0), member(1, 8_000, 0.0, 0)];
    f.reward(&mut members);
    assert_eq!(members.map(|m| m.cwnd), [34_000, 26_000]);
    let mut members = [member(0, 16_000, 3e5, 0), Member { exempt: true, ..member(1, 8_000, 1e5, 0) }];
    f.reward(&mut members);
    assert_eq!(members.map(|m| m.cwnd), [43_000, 8_000], "its share goes to no path");
    f.reward(&mut []);
}

/// fwnd 60 kB, Σ 100 > 90 kB, counts 2 and 1: the first is halved, which is enough.
#[test]
fn algorithm_3_penalize_takes_the_highest_count() {
    let f = friendliness(2, 65_536, 60_000);
    let mut members = [member(0, 50_000, 5e5, 2), member(1, 50_000, 1e5, 1)];
    assert_eq!(f.penalize(&mut members)[..], [PathId(0)]);
    assert_eq!(members.map(|m| (m.cwnd, m.count)), [(25_000, 1), (50_000, 1)]);
}

/// Σ 200 kB: 2 and 2, the slower one; then count 2 against 1; then 1 and 1, the slower one again: 100 → 50 → 25, 100 → 50.
#[test]
fn algorithm_3_penalize_goes_on_until_the_sum_fits() {
    let f = friendliness(2, 65_536, 60_000);
    let mut members = [member(0, 100_000, 1e5, 2), member(1, 100_000, 5e5, 2)];
    assert_eq!(f.penalize(&mut members)[..], [PathId(0), PathId(1), PathId(0)]);
    assert_eq!(members.map(|m| (m.cwnd, m.count)), [(25_000, 0), (50_000, 1)]);
}

/// As printed, q is null when R_e of q is read: with all counts 0 the slowest path is taken, ties by order.
#[test]
fn algorithm_3_penalize_finds_somebody_when_all_counts_are_0() {
    let members = [member(0, 50_000, 3e5, 0), member(1, 50_000, 1e5, 0), member(2, 50_000, 1e5, 0)];
    assert_eq!(penalized(&members), Some(1));
    let f = friendliness(1, 65_536, 60_000);
    let mut members = members;
    // The same path again until it is at its floor: 50, 25, 12.5, 6.25 kB, 5872 bytes; then the next.
    assert_eq!(f.penalize(&mut members)[..], [1, 1, 1, 1, 2].map(PathId));
    assert_eq!(members.map(|m| (m.cwnd, m.count)), [(50_000, 0), (5872, 0), (25_000, 0)]);
}

#[test]
fn algorithm_3_penalize_ends_at_four_mtu() {
    let f = friendliness(1, 65_536, 4000);
    let mut members = [member(0, 8 * MTU, 1e5, 0), member(1, 4 * MTU, 0.0, 9), member(2, 5 * MTU, 1e5, 0)];
    assert_eq!(f.penalize(&mut members).len(), 2);
    assert_eq!(members.map(|m| m.cwnd), [4 * MTU; 3], "halved, but to the floor at least");
    assert_eq!(members[1].count, 9, "a window at the floor is not a candidate");
    assert_eq!(penalized(&members), None);
    assert_eq!(penalized(&[]), None);
}
