//! Coupled cubic curves: C is multiplied by the fourth power of a path's share, once per stage.

use strandcast_proto::policy::PathId;
use strandcast_proto::policy::contract::fixture::MTU;
use strandcast_proto::time::Duration;

use super::iid::{self, Lossy};
use super::play::{Play, near};

fn delta(play: &Play) -> Option<f64> {
    let mut all = Vec::new();
    play.cc.gauges(PathId(0), &mut all);
    all.first().map(|(name, value)| {
        assert_eq!(*name, "mpcubic_delta");
        *value
    })
}

/// Two paths of 100 segments, and a loss on path 0: 70 are left.
fn after_a_loss(keys: &str) -> Play {
    let mut play = Play::new(&format!("mpcubic{keys}"), 2, 100, Some(100));
    for path in [0, 1] {
        play.ack_of(path, 1, 100 * MTU, None);
    }
    play.recover();
    play
}

/// δ = 1/16: K = cbrt(30/0.025) = 10.627 s, W(1) = 100 − 0.025·9.627³ = 77.70 where the share is a half.
#[test]
fn two_equal_paths_follow_a_curve_of_a_sixteenth() {
    let mut play = after_a_loss(",friendly=off");
    let before = play.cwnd();
    near(before, 70.0, 0.1);
    // Path 1 has the same rate again for the moment at which the stage begins.
    play.picture.paths[1].srtt = Some(Duration::from_millis(100));
    play.picture.paths[0].srtt = Some(Duration::from_millis(100));
    play.ack(1);
    near(delta(&play).expect("a stage"), 1.0 / 16.0, 1e-3);
    play.rtt(Duration::from_secs(1));
    play.wait(Duration::from_millis(1));
    let w = play.cwnd();
    play.ack(1);
    near((play.cwnd() - w) * w, 77.70 - w, 0.15);
}

/// δ stays what it was when the stage began.
#[test]
fn delta_is_frozen_until_the_next_loss() {
    let mut play = after_a_loss("");
    play.ack(1);
    let before = delta(&play);
    assert!(before.is_some());
    for n in 1..100 {
        play.picture.paths[1].srtt = Some(Duration::from_millis(100 * n));
        play.wait(Duration::from_millis(20));
        play.ack(1);
        assert_eq!(delta(&play), before);
    }
    play.recover();
    assert_eq!(delta(&play), None);
    play.ack(1);
    assert!(delta(&play) > before, "path 1 is slower now");
}

/// Reno's part grows by a quarter of what one path would: so does the window on short paths.
#[test]
fn short_paths_share_one_friendly_window() {
    let grown = |spec: &str, paths: u8| {
        let mut play = Play::new(spec, paths, 10, Some(10));
        (0..paths).for_each(|path| play.ack_of(path, 1, 10 * MTU, None));
        play.rtt(Duration::from_millis(10));
        let before = play.cwnd();
        for _ in 0..100 {
            play.wait(Duration::from_millis(1));
            play.ack(1);
        }
        play.cwnd().powi(2) - before.powi(2)
    };
    let (one, two) = (grown("mpcubic", 1), grown("mpcubic", 2));
    assert_eq!(one, grown("cubic", 1));
    near(two / one, 0.25, 0.05);
}

/// CUBIC's mean window where losses are independent: (C(4 − b)/(4b)·(RTT/p)³)^¼, b = 0.3.
#[test]
fn the_mean_window_of_cubic_is_the_closed_form() {
    for (rtt, p) in [(0.1, 1e-3), (0.2, 1e-3)] {
        let expected = (0.4 * 3.7 / 1.2 * f64::powi(rtt / p, 3)).powf(0.25);
        for spec in ["cubic,friendly=off,fast-convergence=off", "mpcubic,friendly=off,fast-convergence=off"] {
            let mean = iid::alone(spec, Lossy { rtt, p });
            assert!((mean.window / expected - 1.0).abs() < 0.1, "{spec}: {mean:?}, expected {expected}");
        }
    }
}

/// Two and three equal paths in one bottleneck have one CUBIC's window together, on long and on short paths.
#[test]
fn equal_paths_are_together_one_cubic() {
    for (keys, rtt) in [(",friendly=off", 0.1), (",friendly=off", 0.3), ("", 0.02)] {
        let path = Lossy { rtt, p: 1e-3 };
        let one = iid::alone(&format!("cubic{keys}"), path).window;
        for n in [2, 3] {
            let paths = vec![path; n];
            let all: f64 = iid::run(&format!("mpcubic{keys}"), &paths, iid::LOSSES, 1).iter().map(|m| m.window).sum();
            assert!((all / one - 1.0).abs() < 0.1, "{keys}, {rtt} s, {n} paths: {all}, one has {one}");
        }
    }
}
