//! Numbers by hand from Lee and Chung 2017, equations corrected as the module's table says.

use strandcast_proto::policy::fixture::{MTU, Picture};
use strandcast_proto::policy::{PathId, PathState};
use strandcast_proto::time::{Duration, Instant};

use super::loss_intervals::LossIntervals;
use super::saturation::Saturation;
use super::subflow::{Subflow, hyperbola};
use super::{Coupled, Fairness, LinearEnds, Mpmtp, MpmtpConfig};

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, expected {expected} ± {tolerance}");
}

/// Paths of 100 ms with windows in segments and loss rates; each interval was as long as the others.
fn paths(of: &[(u64, f64)], config: MpmtpConfig) -> (Mpmtp, Picture) {
    let (mut mpmtp, mut picture) = (Mpmtp::new(config), Picture::new(of.len() as u8));
    for (i, (window, loss)) in of.iter().enumerate() {
        picture.paths[i].limit.cwnd = window * MTU;
        let intervals = &mut mpmtp.of(PathId(i as u8)).intervals;
        if *loss > 0.0 {
            (0..9).for_each(|_| {
                intervals.on_acked(1.0 / loss);
                intervals.on_event();
            });
        }
    }
    (mpmtp, picture)
}

fn balances(of: &[(u64, f64)]) -> Vec<f64> {
    let (mpmtp, picture) = paths(of, MpmtpConfig::default());
    (0..of.len()).map(|i| mpmtp.balance(&picture.view(), PathId(i as u8))).collect()
}

/// L between RTT_min and RTT_max, 100 ms apart, for a window of 50: 1, 1/25.5 in the middle, 1/50.
#[test]
fn l_falls_from_one_to_one_over_the_window() {
    for (x, l) in [(0.0, 1.0), (0.5, 1.0 / 25.5), (1.0, 0.02)] {
        near(hyperbola(1.0, 1.0 / 50.0, x), l, 1e-12);
        // Equations 13 to 15: l1/(l2 + RTT − RTT_min).
        let (l1, l2) = (0.1 * 0.02 / 0.98, 0.1 * 0.02 / 0.98);
        near(l1 / (l2 + 0.1 * x), l, 1e-12);
    }
}

/// p_avg = 0.002: B = 2 − 0.5 and 2 − 1.5. Three paths, the mean one at b1/(b2 + 0.001), b1 = 0.0015, b2 = 0.001.
#[test]
fn b_moves_growth_from_lossy_paths_to_others() {
    let two = balances(&[(10, 0.001), (10, 0.003)]);
    near(two[0], 1.5, 1e-9);
    near(two[1], 0.5, 1e-9);
    let three = balances(&[(10, 0.001), (10, 0.002), (10, 0.003)]);
    near(three[0], 1.5, 1e-9);
    near(three[1], 0.75, 1e-9);
    near(three[2], 0.5, 1e-9);
}

#[test]
fn b_has_bounds_and_is_one_for_equal_losses() {
    for equal in [&[(10, 0.001), (10, 0.001)][..], &[(10, 0.0), (10, 0.0)], &[(10, 0.01)]] {
        assert!(balances(equal).iter().all(|b| *b == 1.0));
    }
    // 2 − 0 and 2 − 2, which is raised to 0.1.
    let two = balances(&[(10, 0.0), (10, 0.004)]);
    near(two[0], 2.0, 1e-9);
    near(two[1], 0.1, 1e-9);
    // p_max/p_avg = 2.7: 2 − 2.7 is negative.
    let three = balances(&[(10, 0.0005), (10, 0.0005), (10, 0.009)]);
    near(three[2], 0.1, 1e-9);
    assert!(three[0] > 1.8 && three[0] == three[1]);
}

/// Equation 30 as corrected: two windows of 50, 100 ms, ᾱ = 20. 0.3·50²/20 = 37.5; (0.4·3.7/(1.2·0.1))^⅓ = 2.3104;
/// X = 1000, X^(4/3) = 10⁴: 0.008664.
#[test]
fn delta_of_two_windows_by_hand() {
    let config = MpmtpConfig { delta_least: 0.0, ..MpmtpConfig::default() };
    let delta = |alpha: f64| {
        let (mut mpmtp, picture) = paths(&[(50, 0.0), (50, 0.0)], config);
        let subflow = mpmtp.of(PathId(0));
        subflow.finish_mean(alpha);
        let view = picture.view();
        mpmtp.delta(&view, &Coupled::of(&view, PathId(0)).expect("it counts"))
    };
    near(delta(20.0), 0.008_664, 1e-6);
    // With α of the moment in its place δ·α/w would not depend on α: 0.3·50·2.3104/10⁴.
    for alpha in [1.0, 5.0, 50.0] {
        near(delta(alpha) * alpha / 50.0, 0.003_465_6, 1e-7);
    }
}

/// `delta=common`: windows of 20 and 80, ᾱ of 5 and 15. w = 50, ᾱ = 10: 0.3·50²/10 = 75; 2.3104; X^(4/3) = 10⁴.
#[test]
fn a_common_delta_is_of_the_means() {
    let config = MpmtpConfig { delta: Fairness::Common, delta_least: 0.0, ..MpmtpConfig::default() };
    let (mut mpmtp, picture) = paths(&[(20, 0.0), (80, 0.0)], config);
    for (path, alpha) in [(0, 5.0), (1, 15.0)] {
        mpmtp.of(PathId(path)).finish_mean(alpha);
    }
    let view = picture.view();
    for one in Coupled::all(&view) {
        near(mpmtp.delta(&view, &one), 0.017_328, 1e-6);
    }
}

#[test]
fn a_constant_delta_is_the_one_that_is_given() {
    let config = MpmtpConfig { delta: Fairness::Constant, delta_value: 0.07, ..MpmtpConfig::default() };
    let (mut mpmtp, picture) = paths(&[(50, 0.0), (50, 0.0)], config);
    mpmtp.couple(&picture.view(), PathId(0));
    assert_eq!(mpmtp.of(PathId(0)).delta, Some(0.07));
}

/// The windows that δ leads to are those of one CUBIC flow: with p = δᾱ/(b·w²) of each path CUBIC's mean window
/// (C(4 − b)/(4b)·(RTT/p)³)^¼ is the sum. One path would have p of CUBIC's mean 100 as well.
#[test]
fn delta_makes_the_sum_one_cubic() {
    let config = MpmtpConfig { delta_least: 0.0, ..MpmtpConfig::default() };
    for windows in [&[(50, 0.0), (50, 0.0)][..], &[(100, 0.0)], &[(20, 0.0), (50, 0.0), (30, 0.0)]] {
        let (mut mpmtp, picture) = paths(windows, config);
        let view = picture.view();
        for one in Coupled::all(&view) {
            mpmtp.of(one.path).finish_mean(7.0);
            let w = one.cwnd / MTU as f64;
            let p = mpmtp.delta(&view, &one) * 7.0 / (0.3 * w * w);
            near(libm::pow(0.4 * 3.7 / 1.2 * libm::pow(0.1 / p, 3.0), 0.25), 100.0, 1e-9);
        }
    }
}

#[test]
fn delta_has_bounds() {
    let delta = |window: u64, other: u64| {
        let (mut mpmtp, mut picture) = paths(&[(window, 0.0), (other, 0.0)], MpmtpConfig::default());
        mpmtp.of(PathId(0)).finish_mean(1.0);
        picture.paths[1].srtt = Some(Duration::from_micros(1));
        let view = picture.view();
        mpmtp.delta(&view, &Coupled::of(&view, PathId(0)).expect("it counts"))
    };
    assert_eq!(delta(1, 1000), 0.01);
    assert_eq!(delta(0, 0), 1.0, "no rate, no share");
    let (mut mpmtp, mut picture) = paths(&[(1000, 0.0), (1, 0.0)], MpmtpConfig::default());
    picture.paths.iter_mut().for_each(|p| p.srtt = Some(Duration::from_secs(100)));
    mpmtp.of(PathId(0)).finish_mean(1.0);
    let view = picture.view();
    assert_eq!(mpmtp.delta(&view, &Coupled::of(&view, PathId(0)).expect("it counts")), 1.0);
}

/// Paths that are closed, inactive or without a round-trip time are in no sum: alone again, δ and B are 1.
#[test]
fn with_one_path_that_counts_nothing_is_coupled() {
    for leave in [
        |p: &mut Picture| p.paths[1].state = PathState::Closed,
        |p: &mut Picture| p.paths[1].state = PathState::Inactive,
        |p: &mut Picture| p.paths[1].srtt = None,
    ] {
        let (mut mpmtp, mut picture) = paths(&[(50, 0.001), (50, 0.003)], MpmtpConfig::default());
        mpmtp.couple(&picture.view(), PathId(0));
        let subflow = mpmtp.of(PathId(0));
        assert!(subflow.balance > 1.0 && subflow.delta.is_some_and(|delta| delta < 1.0));
        leave(&mut picture);
        mpmtp.couple(&picture.view(), PathId(0));
        let subflow = mpmtp.of(PathId(0));
        assert_eq!((subflow.balance, subflow.delta), (1.0, None));
    }
}

/// RFC 5348 §5.4 by hand: three intervals 100, 200, 300 weigh 1 each; the open one counts once it raises the mean.
#[test]
fn loss_rates_are_tfrcs() {
    let mut intervals = LossIntervals::default();
    assert_eq!(intervals.rate(), 0.0);
    for length in [300.0, 200.0, 100.0] {
        intervals.on_acked(length);
        assert!(intervals.on_event());
        assert!(!intervals.on_event(), "the same event");
    }
    near(intervals.rate(), 1.0 / 200.0, 1e-12);
    intervals.on_acked(240.0);
    near(intervals.rate(), 1.0 / 200.0, 1e-12);
    // (600 + 200 + 100)/3 = 300.
    intervals.on_acked(360.0);
    near(intervals.rate(), 1.0 / 300.0, 1e-12);
    // Eight of 100 after it: (4·100 + 80 + 60 + 40 + 20)/6.
    (0..8).for_each(|_| {
        intervals.on_event();
        intervals.on_acked(100.0);
    });
    intervals.on_event();
    near(intervals.rate(), 1.0 / 100.0, 1e-12);
}

struct Rounds {
    saturation: Saturation,
    now: Instant,
    config: MpmtpConfig,
}

impl Rounds {
    fn new() -> Self {
        Rounds {
            saturation: Saturation::default(),
            now: Instant::from_millis(1000),
            config: MpmtpConfig::default(),
        }
    }

    /// A round trip with samples in ms, in which the window grew.
    fn round(&mut self, samples: &[u64]) -> bool {
        samples.iter().for_each(|ms| self.saturation.on_sample(*ms as f64 * 1e-3));
        self.now += Duration::from_millis(samples[0]);
        self.saturation.on_round(self.now, true, &self.config);
        self.saturation.rise().is_some()
    }
}

/// 10 % and 5 ms above the least, in the least sample of each of two round trips in a row.
#[test]
fn a_rise_lasts_two_round_trips() {
    let mut rounds = Rounds::new();
    assert!(!rounds.round(&[100, 100, 100, 100]));
    assert!(!rounds.round(&[111, 112, 113, 114]), "the first");
    assert!(!rounds.round(&[110, 150, 150, 150]), "one sample is low");
    assert!(!rounds.round(&[111, 112, 113, 114]));
    assert!(rounds.round(&[112, 115, 113, 120]));
    near(rounds.saturation.rise().expect("a rise"), 0.112, 1e-12);
    // Short paths: 5 ms, not 10 %.
    let mut rounds = Rounds::new();
    rounds.round(&[10; 4]);
    assert!(!rounds.round(&[14; 4]) && !rounds.round(&[14; 4]) && !rounds.round(&[16; 4]));
    assert!(rounds.round(&[16; 4]));
}

#[test]
fn few_samples_and_windows_that_stand_still_tell_nothing() {
    let mut rounds = Rounds::new();
    rounds.round(&[100; 4]);
    // Three round trips of two samples: one judgement after two of them.
    assert!(!rounds.round(&[150; 2]) && !rounds.round(&[150; 2]) && !rounds.round(&[150; 2]));
    assert!(rounds.round(&[150; 2]));
    let mut rounds = Rounds::new();
    rounds.round(&[100; 4]);
    for _ in 0..5 {
        (0..4).for_each(|_| rounds.saturation.on_sample(0.15));
        rounds.saturation.on_round(rounds.now, false, &rounds.config);
    }
    assert_eq!(rounds.saturation.rise(), None);
}

/// After five to ten seconds a longer round-trip time is the base.
#[test]
fn the_base_is_forgotten() {
    let mut rounds = Rounds::new();
    rounds.round(&[100; 4]);
    for _ in 0..110 {
        rounds.now += Duration::from_millis(100);
        (0..4).for_each(|_| rounds.saturation.on_sample(0.15));
        rounds.saturation.on_round(rounds.now, false, &rounds.config);
    }
    assert!(!rounds.round(&[160; 4]) && !rounds.round(&[160; 4]), "less than a tenth above 150");
    assert!(!rounds.round(&[170; 4]));
    assert!(rounds.round(&[170; 4]));
}

/// From where the rise was noticed, 112 ms, to the round-trip time at losses. The latter is 2·base before the first loss, then
/// what the smoothed round-trip time was, averaged over losses by halves.
#[test]
fn l_reads_the_way_from_the_rise_to_the_limit() {
    let mut rounds = Rounds::new();
    rounds.round(&[100; 4]);
    let rise = |rounds: &mut Rounds| {
        rounds.round(&[112; 4]);
        assert!(rounds.round(&[112; 4]));
    };
    rise(&mut rounds);
    near(rounds.saturation.position().expect("linear"), 0.0, 1e-12);
    rounds.round(&[156; 4]);
    near(rounds.saturation.position().expect("linear"), 0.5, 1e-9);
    rounds.round(&[300; 4]);
    assert_eq!(rounds.saturation.position(), Some(1.0));
    // A loss, after enough samples of 180 ms for the smoothed one to be there.
    rounds.round(&[180; 200]);
    rounds.saturation.on_loss(&rounds.config);
    assert_eq!(rounds.saturation.position(), None);
    rise(&mut rounds);
    rounds.round(&[146; 4]);
    near(rounds.saturation.position().expect("linear"), 0.5, 1e-6);
    rounds.round(&[220; 200]);
    rounds.saturation.on_loss(&rounds.config);
    rise(&mut rounds);
    // (180 + 220)/2 = 200.
    rounds.round(&[156; 4]);
    near(rounds.saturation.position().expect("linear"), 0.5, 1e-6);
    // Losses no later than rises: 1.5 · 112, or 2 · 100.
    rounds.round(&[100; 400]);
    (0..20).for_each(|_| rounds.saturation.on_loss(&rounds.config));
    rise(&mut rounds);
    rounds.round(&[156; 4]);
    near(rounds.saturation.position().expect("linear"), 0.5, 1e-6);
}

/// §3.1: "If RTT_cur > RTT_min, the proposed scheme switches to a linear profile": α of the convex profile grows again
/// once the round-trip time is back, and with `linear-ends=loss` only after a loss.
#[test]
fn the_linear_profile_ends_when_round_trip_times_are_back() {
    let grown = |linear_ends| {
        let config = MpmtpConfig { linear_ends, ..MpmtpConfig::default() };
        let (mut subflow, mut now) = (Subflow::default(), Instant::from_millis(1000));
        let mut alphas = Vec::new();
        for ms in [100, 100, 112, 112, 160, 160, 100, 100, 100] {
            (0..4).for_each(|_| subflow.saturation.on_sample(f64::from(ms) * 1e-3));
            now += Duration::from_millis(100);
            subflow.grow(50.0, 1.0, Duration::from_millis(100), &config);
            subflow.on_round(now, 50.0, &config);
            subflow.grow(50.0, 0.0, Duration::ZERO, &config);
            subflow.grow(50.0, 1.0, Duration::from_millis(1), &config);
            alphas.push(subflow.alpha);
        }
        alphas
    };
    let (rtt, loss) = (grown(LinearEnds::Rtt), grown(LinearEnds::Loss));
    assert_eq!(rtt[..3], loss[..3], "no rise yet");
    assert!(rtt[8] >= rtt[7] + 1.0 && rtt[7] >= rtt[6], "{rtt:?}");
    assert_eq!(loss[8], loss[7], "{loss:?}");
    assert!(rtt[8] > loss[8], "{rtt:?}, {loss:?}");
    for alphas in [&rtt, &loss] {
        assert!(alphas[5] < alphas[3], "linear while round-trip times are high: {alphas:?}");
    }
}

/// ᾱ: √(α_max·1) of the window before two losses are known, then the mean over time between the last two.
#[test]
fn mean_alpha_is_over_time_between_losses() {
    let config = MpmtpConfig::default();
    let mut subflow = Subflow::default();
    near(subflow.mean_alpha(64.0, &config), 8.0, 1e-12);
    subflow.intervals.on_acked(1.0);
    subflow.on_loss(100.0, &config);
    near(subflow.mean_alpha(64.0, &config), f64::sqrt(70.0), 1e-12);
    // α is 70 for one second, 1 for two: 24.
    subflow.intervals.on_acked(1.0);
    subflow.grow(70.0, 1.0, Duration::from_secs(1), &config);
    subflow.grow(100.0, 1.0, Duration::from_secs(2), &config);
    subflow.on_loss(100.0, &config);
    near(subflow.mean_alpha(64.0, &config), 24.0, 1e-12);
}
