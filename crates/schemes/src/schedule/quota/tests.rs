//! Xu et al. (2015), eqs 8 to 13 and Algorithm 4, with numbers worked by hand.

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A path with 30 kB of window and 100 kB/s: T = 0.3 s.
fn offer(path: u8, residual: f64) -> Offer {
    Offer {
        path: PathId(path),
        cwnd: 30_000,
        in_flight: 0,
        rate: Some(100_000.0),
        rank: residual,
        quota: Quota::Residual(residual),
        round_trip: MS(100),
    }
}

fn order(d: &Distribution) -> Vec<u8> {
    d.list().iter().map(|e| e.path.0).collect()
}

/// log₂(1 + 22.93) = 4.5807: C = 100 kB/s / 1.5 · 4.5807 = 305.4 kB/s.
#[test]
fn eqs_8_and_9_capacity() {
    assert!((capacity(100_000.0, 1.5, 22.93) - 305_380.0).abs() < 100.0);
    assert_eq!(capacity(100_000.0, 1.0, 1.0), 100_000.0, "one bit a symbol");
    assert_eq!(capacity(100_000.0, 2.0, 3.0), 100_000.0);
    assert_eq!(capacity(0.0, 1.5, 22.93), 0.0, "no bandwidth");
    assert_eq!(capacity(100_000.0, 1.5, 0.0), 0.0, "noise alone");
}

/// cwnd/fwnd = 0.4: β as long as nothing was lost; 0.4 + 4 after four losses.
#[test]
fn eq_9_weight() {
    assert_eq!(weight(24_000, 60_000.0, 0, 1.5), 1.5);
    assert_eq!(weight(24_000, 60_000.0, 1, 1.5), 1.5);
    assert_eq!(weight(24_000, 60_000.0, 4, 1.5), 4.4);
    assert_eq!(weight(120_000, 60_000.0, 0, 1.5), 2.0);
    assert_eq!(weight(24_000, 0.0, 2, 1.5), 2.0, "no window to compare with");
}

/// R_e = 100 kB/s: +205 kB/s with w = 1.5; +4 with four losses, and -2.8 with one frame in ten in error (ESNR 18.4).
#[test]
fn eq_10_changes_its_sign_after_four_losses_and_frame_errors() {
    let residual = |w, snr| capacity(100_000.0, w, snr) - 100_000.0;
    assert!((residual(1.5, 22.93) - 205_400.0).abs() < 500.0);
    assert!((residual(4.4, 22.93) - 4_100.0).abs() < 200.0);
    assert!((residual(4.4, 18.4) + 2_800.0).abs() < 200.0);
}

#[test]
fn eq_11_handling_time() {
    assert_eq!(offer(0, 0.0).handling_time(), 0.3);
    assert_eq!(Offer { rate: None, ..offer(0, 0.0) }.handling_time(), 0.1, "a round trip");
    assert_eq!(Offer { rate: Some(0.0), ..offer(0, 0.0) }.handling_time(), 0.1);
}

#[test]
fn eq_12_is_the_longest_handling_time() {
    assert_eq!(period([0.3, 0.5, 0.1].into_iter(), 0.05), 0.5);
    assert_eq!(period([0.01].into_iter(), 0.05), 0.05, "at least a round trip");
    assert_eq!(period([7.0].into_iter(), 0.05), 1.0, "at most a second");
    assert_eq!(period([7.0].into_iter(), 1.4), 1.4, "unless a round trip is longer");
    assert_eq!(period([].into_iter(), 0.0), 0.0);
}

#[test]
fn eq_13_is_free_windows_or_the_receiver_s_room() {
    assert_eq!(most([30_000, 10_000].into_iter(), 65_536), 40_000);
    assert_eq!(most([30_000, 10_000].into_iter(), 20_000), 20_000);
    assert_eq!(most([].into_iter(), 20_000), 0);
    assert_eq!(most([u64::MAX, 1].into_iter(), 5), 5);
}

/// T = 0.3 s in a period of 0.3 s: one window and 205 kB/s · 0.3 s.
#[test]
fn algorithm_4_quota() {
    assert_eq!(offer(0, 205_000.0).quota(0.3), 30_000.0 + 61_500.0);
    assert_eq!(offer(0, 205_000.0).quota(0.9), 3.0 * 30_000.0 + 184_500.0, "three windows fit in");
    let busy = Offer { in_flight: 12_000, ..offer(0, -1.0) };
    assert_eq!(busy.quota(0.7), 2.0 * 18_000.0, "nothing to spare: what the window has room for");
    assert_eq!(
        Offer { in_flight: 12_000, ..offer(0, 0.0) }.quota(0.3),
        18_000.0,
        "R_c = 0 is nothing to spare"
    );
    assert_eq!(Offer { in_flight: 40_000, ..offer(0, 0.0) }.quota(0.3), 0.0);
    assert_eq!(Offer { quota: Quota::Window, ..busy }.quota(0.7), 30_000.0);
    assert_eq!(Offer { quota: Quota::Windows, ..busy }.quota(0.7), 60_000.0);
    assert_eq!(offer(0, -1.0).quota(0.2), 30_000.0, "one window where the period was cut short");
}

#[test]
fn pathlist_is_by_rank_then_round_trip_then_order() {
    let mut offers = [
        Offer { path: PathId(0), ..offer(0, 5.0) },
        Offer { path: PathId(1), ..offer(1, 9.0) },
        Offer { round_trip: MS(90), ..offer(2, 5.0) },
        Offer { path: PathId(3), ..offer(3, 5.0) },
        Offer { rank: f64::INFINITY, ..offer(4, 0.0) },
        Offer { rank: f64::NEG_INFINITY, ..offer(5, 0.0) },
    ];
    let mut d = Distribution::new(Allocation::Credits);
    d.begin(Instant::ZERO, &mut offers, 0);
    assert_eq!(order(&d), [4, 1, 2, 0, 3, 5]);
}

#[test]
fn credits_are_used_up_by_what_leaves() {
    let mut d = Distribution::new(Allocation::Credits);
    assert!(d.is_over(Instant::ZERO), "none has begun");
    d.begin(Instant::from_millis(1000), &mut [offer(0, 0.0)], 0);
    d.sent(PathId(0), 29_000);
    d.sent(PathId(0), 1_468);
    d.sent(PathId(7), 1_468);
    assert_eq!(d.list(), [Entry { path: PathId(0), credit: -468.0 }]);
    assert_eq!(d.ends(), Instant::from_millis(1300));
    assert!(!d.is_over(Instant::from_millis(1299)) && d.is_over(Instant::from_millis(1300)));
    assert!(!d.may_restart(Instant::from_millis(1024)) && d.may_restart(Instant::from_millis(1025)));
    d.end();
    assert!(d.is_over(Instant::from_millis(1001)));
    d.begin(Instant::from_millis(1400), &mut [], 0);
    assert!(d.list().is_empty() && !d.is_over(Instant::from_millis(1400)), "no paths: a short period");
}

/// The stall: with R_c > 0 one idle path asks for its window and more, D_max is its window, and the algorithm breaks
/// off.
#[test]
fn algorithm_4_as_printed_gives_nothing_to_idle_paths() {
    for paths in 1..=2 {
        let mut offers = [offer(0, 240_000.0), offer(1, 240_000.0)];
        let offers = &mut offers[..paths];
        let most = most(offers.iter().map(|o| o.cwnd - o.in_flight), 1 << 20);
        let mut d = Distribution::new(Allocation::Literal);
        d.begin(Instant::ZERO, offers, most);
        assert!(d.list().is_empty(), "{paths} paths");
        assert!(!d.may_restart(Instant::MAX), "and so until the period is over");
        let mut d = Distribution::new(Allocation::Credits);
        d.begin(Instant::ZERO, offers, most);
        assert_eq!(d.list().len(), paths);
    }
}

#[test]
fn algorithm_4_as_printed_gives_what_fits_in_order() {
    let mut d = Distribution::new(Allocation::Literal);
    d.begin(Instant::ZERO, &mut [offer(0, -3.0), offer(1, -2.0), offer(2, -1.0)], 70_000);
    assert_eq!(order(&d), [2, 1], "the third would make 90 000");
}
