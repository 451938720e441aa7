//! Numbers by hand from equations 8 and 9 of Lee and Chung 2017, with segments of 1000 bytes.

use strandcast_proto::policy::LossTrigger::{FastRetransmit, Timeout};
use strandcast_proto::policy::fixture::MTU;
use strandcast_proto::policy::{PathId, PathState};
use strandcast_proto::time::Duration;

use super::iid::{self, Lossy};
use super::play::{Play, near};

/// The growth by ten ACKs of path 0 with its window at 100 segments, or so.
fn growth(play: &mut Play) -> f64 {
    let before = play.cwnd();
    (0..10).for_each(|_| play.ack(1));
    play.cwnd() - before
}

/// α/w^(k+1): 1/1000 and 2/10000.
#[test]
fn an_ack_adds_alpha_over_a_power_of_the_window() {
    let per_round = [("mpsqrt", 0.01), ("mpiad", 0.002), ("mpsqrt,alpha=10", 0.1), ("mpiad,alpha=20", 0.02)];
    // As eq. 9 prints it: α/w^k.
    let per_ack = [("mpsqrt,literal=on", 0.998), ("mpiad,literal=on", 0.2)];
    for (spec, expected) in per_round.into_iter().chain(per_ack) {
        let mut play = Play::new(spec, 1, 100, Some(100));
        near(growth(&mut play), expected, 1.1e-3);
    }
}

/// β·w^l: half of 10, and 1.
#[test]
fn a_loss_takes_beta_times_a_power_of_the_window() {
    for (spec, left) in [("mpsqrt", 95.0), ("mpiad", 99.0), ("mpsqrt,beta=1", 90.0), ("mpiad,beta=4", 96.0)] {
        for (trigger, cwnd) in [(FastRetransmit, left), (Timeout, 1.0)] {
            let mut play = Play::new(spec, 1, 100, Some(100));
            play.lose(trigger, 100);
            near(play.cwnd(), cwnd, 1.1e-3);
            near(play.ssthresh().expect("a threshold"), left, 1.1e-3);
        }
        // Small windows keep two segments.
        let mut play = Play::new(spec, 1, 2, Some(2));
        (0..10).for_each(|_| play.lose(FastRetransmit, 2));
        assert_eq!(play.cwnd(), 2.0);
    }
}

/// δ = (max x/Σ x)²: 1/4 for two equal paths, (2/3)² with another half as fast, 1 for a path alone.
#[test]
fn delta_by_hand() {
    let delta = |change: &dyn Fn(&mut Play)| {
        let mut play = Play::new("mpsqrt", 2, 100, Some(100));
        change(&mut play);
        play.ack(1);
        let mut all = Vec::new();
        play.cc.gauges(PathId(0), &mut all);
        assert_eq!(all[0].0, "mpsqrt_delta");
        all[0].1
    };
    near(delta(&|_| {}), 0.25, 1e-9);
    near(delta(&|p| p.picture.paths[1].srtt = Some(Duration::from_millis(200))), 4.0 / 9.0, 1e-9);
    near(delta(&|p| p.picture.paths[1].limit.cwnd = 50 * MTU), 4.0 / 9.0, 1e-9);
    for alone in [
        |p: &mut Play| p.picture.paths[1].state = PathState::Inactive,
        |p: &mut Play| p.picture.paths[1].srtt = None,
        |p: &mut Play| p.picture.paths[0].srtt = None,
    ] {
        assert_eq!(delta(&alone), 1.0);
    }
}

/// A window of one round trip is an eighth of the mean.
#[test]
fn windows_are_means_over_round_trips() {
    let mut play = Play::new("mpiad", 2, 100, Some(100));
    for path in [0, 1] {
        play.ack_of(path, 1, 100 * MTU, None);
    }
    play.picture.paths[1].limit.cwnd = 20 * MTU;
    play.wait(Duration::from_millis(100));
    // The view keeps what a test sets until the windows are asked again, which the first signal does.
    let mut limits = play.picture.clone();
    limits.paths[1].limit.cwnd = 20 * MTU;
    let ack = strandcast_proto::policy::fixture::ack(1, 2, (2, 2), 20 * MTU);
    play.cc.on_signal(&limits.view(), &strandcast_proto::policy::Signal::Acked(&ack));
    // 100 − 80/8 = 90, compared with 100.
    play.ack(1);
    let mut all = Vec::new();
    play.cc.gauges(PathId(0), &mut all);
    near(all[0].1, libm::pow(100.0 / 190.0, 2.0), 1e-3);
}

/// √(α/(β·p)) in equilibrium.
#[test]
fn mean_windows_are_the_closed_form() {
    for (spec, alpha, beta) in [
        ("mpsqrt", 1.0, 0.5),
        ("mpiad", 2.0, 1.0),
        ("mpsqrt,alpha=2,beta=0.25", 2.0, 0.25),
        ("mpiad,alpha=1,beta=2", 1.0, 2.0),
    ] {
        let (p, rtt) = (1e-3, 0.1);
        let mean = iid::alone(spec, Lossy { rtt, p });
        let expected = f64::sqrt(alpha / (beta * p));
        assert!((mean.window / expected - 1.0).abs() < 0.1, "{spec}: {mean:?}, expected {expected}");
    }
}

/// Two and three equal paths with independent losses have one window together, and a little more: the largest of their
/// windows is above the mean, so δ above 1/n².
#[test]
fn equal_paths_are_together_one() {
    let path = Lossy { rtt: 0.1, p: 1e-3 };
    for spec in ["mpsqrt", "mpiad"] {
        let one = iid::alone(spec, path).window;
        for n in [2, 3] {
            let all: f64 = iid::run(spec, &vec![path; n], iid::LOSSES, 1).iter().map(|m| m.window).sum();
            assert!((0.9..1.3).contains(&(all / one)), "{spec}, {n} paths: {all}, one has {one}");
        }
    }
}
