//! Coupled cubic curves: C is multiplied by the fourth power of a path's share, once per stage.

use strandcast_proto::policy::fixture::MTU;
use strandcast_proto::policy::{LossCause, LossTrigger, PathId, Signal};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

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
        play.cwnd() * play.cwnd() - before * before
    };
    let (one, two) = (grown("mpcubic", 1), grown("mpcubic", 2));
    assert_eq!(one, grown("cubic", 1));
    near(two / one, 0.25, 0.05);
}

/// CUBIC's mean window with a loss after each 1/p segments: (C(4 − b)/(4b)·(RTT/p)³)^¼, b = 0.3 (RFC 9438 §5.1 fig. 6). With
/// independent losses it is 1.30·(RTT/p)^¾, a quarter more (S. Poojary, V. Sharma, "An Asymptotic Approximation of TCP
/// CUBIC", 2015).
#[test]
fn mean_windows_are_the_closed_form() {
    let p = 1e-3;
    for spec in ["cubic,friendly=off,fast-convergence=off", "mpcubic,friendly=off,fast-convergence=off"] {
        for rtt in [0.1, 0.2, 0.3] {
            let expected = 1.30 * libm::pow(rtt / p, 0.75);
            let mean = iid::alone(spec, Lossy { rtt, p });
            assert!((mean.window / expected - 1.0).abs() < 0.1, "{spec}: {mean:?}, expected {expected}");
            let expected = libm::pow(0.4 * 3.7 / 1.2 * libm::pow(rtt / p, 3.0), 0.25);
            let found = periodic(spec, 1, rtt, (1.0 / p) as u32);
            assert!((found / expected - 1.0).abs() < 0.1, "{spec}: {found}, expected {expected}");
        }
    }
}

/// The mean window over time of `n` paths that lose each segment number `every` at once.
fn periodic(spec: &str, n: u8, rtt: f64, every: u32) -> f64 {
    let mut play = Play::new(spec, n, 10, Some(10));
    play.rtt(Duration::from_secs_f64(rtt));
    let (mut seconds, mut segments) = (0.0, 0);
    for k in 1..=1000 * every {
        let step = rtt / play.cwnd();
        play.wait(Duration::from_secs_f64(step));
        if k > 200 * every {
            (seconds, segments) = (seconds + step, segments + 1);
        }
        for path in 0..n {
            let cwnd = play.picture.paths[usize::from(path)].limit.cwnd;
            if k % every == 0 {
                play.picture.paths[usize::from(path)].in_flight = cwnd;
                let (path, highest) = (PathId(path), Tsn(play.acked[usize::from(path)]));
                let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
                play.tell(&Signal::LossEvent { path, trigger, highest, cause });
            } else {
                play.ack_of(path, 1, cwnd, None);
            }
        }
    }
    f64::from(segments) / seconds * rtt
}

/// Equal paths that lose at the same moments are together one CUBIC: shares of 1/n, δ = 1/n⁴.
#[test]
fn equal_paths_are_together_one_cubic() {
    let keys = "friendly=off,fast-convergence=off";
    let one = periodic(&format!("cubic,{keys}"), 1, 0.2, 1000);
    for n in [2, 3] {
        let all = f64::from(n) * periodic(&format!("mpcubic,{keys}"), n, 0.2, 1000);
        assert!((all / one - 1.0).abs() < 0.1, "{n} paths: {all}, one has {one}");
    }
}

/// Where losses are independent, the largest of n windows is above their mean, so δ above 1/n⁴: more than one CUBIC, and far
/// from n.
#[test]
fn independent_losses_leave_more_than_one_cubic() {
    for (keys, rtt) in [(",friendly=off", 0.1), ("", 0.02)] {
        let path = Lossy { rtt, p: 1e-3 };
        let one = iid::alone(&format!("cubic{keys}"), path).window;
        for n in [2, 3] {
            let paths = vec![path; n];
            let means = iid::run(&format!("mpcubic{keys}"), &paths, iid::LOSSES, 1);
            let all: f64 = means.iter().map(|m| m.window).sum();
            assert!((0.9..1.5).contains(&(all / one)), "{keys}, {rtt} s, {n} paths: {all}, one has {one}");
        }
    }
}
