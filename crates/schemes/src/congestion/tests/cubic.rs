use strandcast_proto::policy::LossTrigger::{FastRetransmit, Timeout};
use strandcast_proto::policy::fixture::MTU;
use strandcast_proto::time::Duration;

use super::play::{Play, near};
use crate::congestion::{Cubic, CubicConfig, InitialWindow, TcpConfig, TcpWindows};

fn secs(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

/// 100 segments, then a loss: 70 are left.
fn after_a_loss(keys: &str) -> Play {
    let mut play = Play::new(&format!("cubic{keys}"), 1, 100, Some(100));
    play.recover();
    near(play.cwnd(), 70.0, 1e-9);
    play
}

/// The growth by one ACK, when the round-trip time is `rtt` seconds.
fn growth(play: &mut Play, rtt: f64) -> f64 {
    let before = play.cwnd();
    play.rtt(secs(rtt));
    play.ack(1);
    play.cwnd() - before
}

/// W_max = 100, cwnd = 70: K = cbrt(30/0.4) = 4.2172 s. Windows are seen in whole bytes, 0.001 segments.
#[test]
fn the_first_ack_goes_for_the_curve_a_round_trip_ahead() {
    for (keys, rtt, expected) in [
        // W(1) = 0.4·(1 − 4.2172)³ + 100 = 86.680; (86.680 − 70)/70.
        ("", 1.0, 0.2383),
        // W(K) = 100; 30/70.
        ("", 4.2172, 0.4286),
        // W(12) = 0.4·7.7828³ + 100 = 288.6, more than 1.5·70; 35/70.
        ("", 12.0, 0.5),
        // C = 3.75: K = 2, W(1) = 100 − 3.75; 26.25/70.
        (",cubic-c=3.75", 1.0, 0.375),
    ] {
        let mut play = after_a_loss(&format!(",friendly=off{keys}"));
        near(growth(&mut play, rtt), expected, 1e-3);
    }
}

/// Concave up to W_max at K, convex after it: 70 at 0, 100 at K, 130 at 2K; in between 100 ∓ 30/8 at K ∓ K/2.
#[test]
fn the_window_follows_the_curve() {
    for (keys, segments) in [("", 1), ("", 2), (",count=ack", 1), (",friendly=off", 1)] {
        let (k, rtt) = (4.2172, 0.2);
        let mut play = after_a_loss(keys);
        play.rtt(secs(rtt));
        play.ack(1);
        let mut t = 0.0;
        for (until, expected) in [(k / 2.0, 96.25), (k, 100.0), (1.5 * k, 103.75), (2.0 * k, 130.0)] {
            while t < until {
                let step = rtt * f64::from(segments) / play.cwnd();
                play.wait(secs(step));
                t += step;
                play.ack(segments);
            }
            near(play.cwnd(), expected, 0.3);
        }
    }
}

/// Loss below the old W_max: it becomes w·(1 + β)/2.
#[test]
fn fast_convergence_gives_way() {
    for (keys, expected) in [
        // W_max = 70·0.85 = 59.5, cwnd = 49, K = cbrt(10.5/0.4) = 2.9720; W(1) = 59.5 − 0.4·1.9720³ = 56.4325.
        ("", 7.4325 / 49.0),
        // W_max = 70, K = cbrt(21/0.4) = 3.7444; W(1) = 70 − 0.4·2.7444³ = 61.7321.
        (",fast-convergence=off", 12.7321 / 49.0),
    ] {
        let mut play = after_a_loss(&format!(",friendly=off{keys}"));
        play.recover();
        near(play.cwnd(), 49.0, 1e-9);
        near(growth(&mut play, 1.0), expected, 1e-3);
    }
}

/// Above the old W_max the window is the new one, also with fast convergence: 105 is 1.5·70, 0.7·105 = 73.5,
/// K = cbrt(31.5/0.4) = 4.2864; W(1) = 105 − 0.4·3.2864³ = 90.8024.
#[test]
fn a_higher_maximum_is_kept() {
    let mut play = after_a_loss(",friendly=off");
    play.rtt(secs(12.0));
    play.ack(70);
    assert_eq!(play.cwnd(), 105.0);
    play.recover();
    near(play.cwnd(), 73.5, 1e-9);
    near(growth(&mut play, 1.0), 17.3024 / 73.5, 1e-3);
}

/// On short paths the window is Reno's with the same share of losses: it grows by alpha/w an ACK, so w² by 2·alpha.
/// 10 segments, 7 left: alpha = 3·0.3/1.7 = 0.5294 until the window before the loss is reached, (100 − 49)/1.0588 = 48
/// ACKs, and 1 from there on.
#[test]
fn short_paths_are_reno_friendly() {
    let mut play = Play::new("cubic", 1, 10, Some(10));
    play.recover();
    play.rtt(Duration::from_millis(10));
    for acks in 1..300 {
        play.wait(Duration::from_millis(1));
        play.ack(1);
        let square =
            if acks < 48 { 49.0 + 1.0588 * f64::from(acks) } else { 100.0 + 2.0 * f64::from(acks - 48) };
        near(play.cwnd(), square.sqrt(), 0.1);
    }
    // W(0.3) = 10 − 0.4·(1.9574 − 0.3)³ = 8.179 without it.
    let mut alone = Play::new("cubic,friendly=off", 1, 10, Some(10));
    alone.recover();
    alone.rtt(Duration::from_millis(10));
    for _ in 0..300 {
        alone.wait(Duration::from_millis(1));
        alone.ack(1);
    }
    near(alone.cwnd(), 8.179, 0.05);
}

/// Growth with one alpha throughout: w² is 49 + 1.0588 per ACK, 366.6 after 300; with alpha 1 it is 604.
#[test]
fn alpha_may_stay_as_it_is() {
    let mut play = Play::new("cubic,alpha-one=off", 1, 10, Some(10));
    play.recover();
    play.rtt(Duration::from_millis(10));
    for acks in 1..=300 {
        play.wait(Duration::from_millis(1));
        play.ack(1);
        near(play.cwnd(), (49.0 + 1.0588 * f64::from(acks)).sqrt(), 0.1);
    }
}

#[test]
fn floors_are_two_segments() {
    let mut play = Play::new("cubic", 1, 2, Some(2));
    play.lose(FastRetransmit, 2);
    assert_eq!(play.cwnd(), 2.0);
}

/// β of the flight, and K = 0, W_max = cwnd when congestion avoidance begins after a timeout: W(1) = 0.4 + 70.
#[test]
fn after_a_timeout_the_curve_begins_at_its_turning_point() {
    for (keys, expected) in [(",friendly=off", 0.4 / 70.0), ("", 0.5294 / 70.0)] {
        let mut play = Play::new(&format!("cubic{keys}"), 1, 100, Some(100));
        play.lose(Timeout, 100);
        assert_eq!((play.cwnd(), play.ssthresh()), (1.0, Some(70.0)));
        (0..69).for_each(|_| play.ack(1));
        assert_eq!(play.cwnd(), 70.0, "slow start up to the threshold");
        near(growth(&mut play, 1.0), expected, 1e-3);
        assert!(play.cwnd() > 70.0);
    }
}

/// The same after a first slow start that ended without a loss; there is no earlier window, so Reno adds a segment.
#[test]
fn a_threshold_from_outside_begins_at_the_turning_point() {
    let mut play = Play::new("cubic", 1, 50, Some(50));
    near(growth(&mut play, 1.0), 1.0 / 50.0, 1e-3);
    let mut play = Play::new("cubic", 1, 50, Some(50));
    // W(6) = 86.4, more than 1.5·50.
    let before = growth(&mut play, 6.0);
    play.wait(secs(6.0));
    assert!(before < 0.03, "W(0) is below Reno's window");
    near(growth(&mut play, 6.0), 0.5, 0.01);
}

/// RFC 9438 §5.8: time in which the window was not full does not count, nor does a pause.
#[test]
fn the_clock_stands_still_while_the_window_is_not_used() {
    let run = |disturb: &dyn Fn(&mut Play)| {
        let mut play = after_a_loss("");
        play.rtt(secs(0.2));
        (0..5).for_each(|_| play.round(secs(0.2)));
        disturb(&mut play);
        play.wait(secs(0.01));
        play.ack(1);
        play.cwnd()
    };
    let steady = run(&|_| {});
    let thin = run(&|play| {
        for _ in 0..100 {
            play.wait(secs(0.1));
            play.ack_of(0, 1, 10 * MTU, None);
        }
    });
    let silent = run(&|play| {
        play.wait(secs(30.0));
        play.send(10_000, MTU);
    });
    assert_eq!((thin, silent), (steady, steady));
}

/// After a restart from idle the stage is a new one, towards the old W_max: 70 and 100 as after the loss.
#[test]
fn a_stage_begins_anew_after_idle_time() {
    let config = TcpConfig {
        initial_window: InitialWindow::Segments(10),
        initial_ssthresh: Some(100 * MTU),
        restart_after_idle: true,
        ..TcpConfig::default()
    };
    let cubic = Cubic::per_path(CubicConfig { friendly: false, ..CubicConfig::default() });
    let mut play = Play::with(Box::new(TcpWindows::new(config, cubic)), 1);
    (0..90).for_each(|_| play.ack(1));
    play.recover();
    play.rtt(secs(0.2));
    play.send(10_000, MTU);
    (0..3).for_each(|_| play.round(secs(0.2)));
    assert!(play.cwnd() > 75.0);
    play.wait(secs(5.0));
    play.send(10_001, MTU);
    assert_eq!(play.cwnd(), 10.0);
    (0..60).for_each(|_| play.ack(1));
    assert_eq!(play.cwnd(), 70.0, "slow start to the threshold");
    near(growth(&mut play, 1.0), 0.2383, 1e-3);
}
