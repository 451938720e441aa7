//! The window's shape as Lee and Chung 2017 draw it, with segments of 1000 bytes.

use strandcast_proto::policy::LossTrigger::{FastRetransmit, HeadOfLine, Timeout};
use strandcast_proto::policy::fixture::{MTU, ack};
use strandcast_proto::policy::{AckInfo, PathId, Signal};
use strandcast_proto::time::Duration;

use super::play::{Play, near};

const RTT: Duration = Duration::from_millis(100);

/// 100 segments, then a loss: 70 are left.
fn after_a_loss(keys: &str) -> Play {
    let mut play = Play::new(&format!("mpmtp{keys}"), 1, 100, Some(100));
    play.recover();
    near(play.cwnd(), 70.0, 1e-9);
    play
}

fn gauge(play: &Play, name: &str) -> Option<f64> {
    let mut all = Vec::new();
    play.cc.gauges(PathId(0), &mut all);
    all.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
}

fn alpha(play: &Play) -> f64 {
    gauge(play, "mpmtp_alpha").expect("a series")
}

/// A hundredth of a segment is acknowledged.
fn ack_little(play: &mut Play) {
    let flight = play.picture.paths[0].limit.cwnd;
    let next = play.acked[0] + 1;
    play.acked[0] = next;
    let ack = AckInfo { newly_acked: MTU / 100, ..ack(0, next, (next, next), flight) };
    play.tell(&Signal::Acked(&ack));
}

/// A window's worth of ACKs within `rtt`, each with that round-trip time.
fn round(play: &mut Play, rtt: Duration) {
    play.rtt(rtt);
    let acks = play.cwnd() as u32;
    for _ in 0..acks {
        play.wait(rtt / acks);
        play.ack_of(0, 1, play.picture.paths[0].limit.cwnd, Some(rtt));
    }
}

/// Round trips, parts included, until the window is `until`.
fn round_trips(play: &mut Play, until: f64) -> f64 {
    let mut trips = 0.0;
    while play.cwnd() < until {
        let part = 1.0 / play.cwnd();
        play.wait(Duration::from_secs_f64(0.1 * part));
        play.ack_of(0, 1, play.picture.paths[0].limit.cwnd, Some(RTT));
        trips += part;
    }
    trips
}

/// α = 1 + 69·((100 − w)/30)²: 70 at 70, 18.25 at 85, 1 at 100.
#[test]
fn alpha_is_a_parabola_below_the_last_maximum() {
    let mut play = after_a_loss("");
    let mut seen = Vec::new();
    while play.cwnd() < 99.99 {
        let before = play.cwnd();
        ack_little(&mut play);
        let down = (100.0 - before) / 30.0;
        near(alpha(&play), 1.0 + 69.0 * down * down, 0.02);
        seen.push((before, alpha(&play)));
    }
    for (w, expected) in [(70.0, 70.0), (85.0, 18.25), (99.98, 1.0)] {
        let (_, found) = seen.iter().find(|(before, _)| *before >= w).expect("the window passed it");
        near(*found, expected, 0.05);
    }
}

/// An ACK of a segment adds δ·B·α/w, of δ = B = 1 with one path: 70/70 at first.
#[test]
fn an_ack_adds_alpha_over_the_window() {
    let mut play = after_a_loss("");
    play.ack(1);
    near(play.cwnd(), 71.0, 1.1e-3);
    let down = 29.0 / 30.0;
    let expected = (1.0 + 69.0 * down * down) / 71.0;
    play.ack(1);
    near(play.cwnd(), 71.0 + expected, 2e-3);
}

/// dw = α(w) per round trip, solved: with a = 69/900 and u = 100 − w, (atan(30√a) − atan(u√a))/√a round trips to u. 95
/// after
/// 1.827 and 100 after 5.240.
#[test]
fn the_window_is_back_in_five_round_trips() {
    let mut play = after_a_loss("");
    let near_it = round_trips(&mut play, 95.0);
    near(near_it, 1.827, 0.05);
    near(near_it + round_trips(&mut play, 100.0), 5.240, 0.1);
}

/// From the last maximum on a segment more per round trip, and each round trip one more than in that before.
#[test]
fn beyond_the_last_maximum_growth_becomes_faster() {
    let mut play = after_a_loss("");
    round_trips(&mut play, 100.0);
    let mut before = alpha(&play).max(1.0);
    for _ in 0..20 {
        round(&mut play, RTT);
        let now = alpha(&play);
        assert!((0.0..=1.0).contains(&(now - before)), "{before} then {now}");
        before = now;
    }
    assert!((18.0..=21.0).contains(&before), "{before} after 20 round trips");
    near(play.cwnd(), 100.0 + 20.0 * 20.0 / 2.0, 20.0);
}

/// α is at most the window, so that no ACK adds more than in slow start.
#[test]
fn alpha_is_at_most_the_window() {
    let mut play = Play::new("mpmtp", 1, 3, Some(3));
    for _ in 0..20 {
        let before = play.cwnd();
        round(&mut play, RTT);
        assert!(alpha(&play) <= play.cwnd());
        assert!(play.cwnd() <= 2.0 * before + 1.0);
    }
}

/// Round-trip times rise: after two round trips growth slows down to a segment per round trip at the round-trip time of
/// losses, and it stays linear until the next loss.
#[test]
fn growth_is_linear_once_round_trip_times_rise() {
    let mut play = after_a_loss("");
    round(&mut play, RTT);
    // The window's round trips end within those of the test: of three at 120 ms two are whole ones.
    (0..3).for_each(|_| round(&mut play, Duration::from_millis(120)));
    play.ack(1);
    near(gauge(&play, "mpmtp_rtt_inc_ms").expect("noticed"), 120.0, 1e-6);
    assert_eq!(gauge(&play, "mpmtp_l"), Some(1.0), "at RTT_min L is 1");
    // RTT_max was seen at the first loss: no samples then, so 2·100.
    let w = play.cwnd();
    round(&mut play, Duration::from_millis(160));
    round(&mut play, Duration::from_millis(160));
    near(gauge(&play, "mpmtp_l").expect("a series"), 1.0 / (1.0 + (play.cwnd() - 1.0) / 2.0), 2e-3);
    for _ in 0..10 {
        let before = play.cwnd();
        round(&mut play, Duration::from_millis(200));
        near(play.cwnd() - before, 1.0, 0.2);
        assert!(alpha(&play) < 1.5);
    }
    assert!(play.cwnd() > w + 10.0);
    // The next loss ends it.
    play.recover();
    play.ack(1);
    assert_eq!((gauge(&play, "mpmtp_l"), gauge(&play, "mpmtp_rtt_inc_ms")), (Some(1.0), None));
    assert!(alpha(&play) > 20.0);
}

#[test]
fn without_the_linear_profile_growth_goes_on() {
    let mut play = after_a_loss(",linear=off");
    (0..25).for_each(|n| round(&mut play, Duration::from_millis(100 + 10 * n)));
    assert_eq!((gauge(&play, "mpmtp_l"), gauge(&play, "mpmtp_rtt_inc_ms")), (Some(1.0), None));
    assert!(alpha(&play) > 10.0, "convex: {}", alpha(&play));
}

/// Slow start until a loss, or until round-trip times rise: then a segment per round trip.
#[test]
fn slow_start_ends_at_a_rise() {
    let mut play = Play::new("mpmtp", 1, 10, None);
    (0..2).for_each(|_| round(&mut play, RTT));
    near(play.cwnd(), 40.0, 1e-9);
    // 640 without a rise, which two whole round trips tell, the first of which begins within the first or second.
    (0..4).for_each(|_| round(&mut play, Duration::from_millis(150)));
    let w = play.cwnd();
    assert!((160.0..=320.0).contains(&w), "{w}");
    (0..3).for_each(|_| round(&mut play, Duration::from_millis(150)));
    near(play.cwnd() - w, 3.0, 1.1);
    assert!(play.ssthresh().is_some_and(|s| s <= w + 1.0));
    // Without the profile it does not.
    let mut play = Play::new("mpmtp,linear=off", 1, 10, None);
    (0..2).for_each(|_| round(&mut play, RTT));
    (0..4).for_each(|_| round(&mut play, Duration::from_millis(150)));
    near(play.cwnd(), 640.0, 1e-9);
}

/// One segment, slow start to 0.7 of the window of the timeout, concave from there on.
#[test]
fn after_a_timeout_the_old_maximum_is_the_goal() {
    let mut play = Play::new("mpmtp", 1, 100, Some(100));
    play.ack(1);
    let most = play.cwnd();
    play.lose(Timeout, 101);
    assert_eq!(play.cwnd(), 1.0);
    near(play.ssthresh().expect("a threshold"), 0.7 * most, 2e-3);
    // The timer runs out again: nothing new is known.
    play.lose(Timeout, 1);
    assert_eq!(play.ssthresh(), Some(2.0));
    (0..3).for_each(|_| play.ack(1));
    assert!(alpha(&play) > 1.9, "as fast as in slow start: {}", alpha(&play));
    round_trips(&mut play, most);
    assert!(alpha(&play) < 1.1, "slow around the maximum: {}", alpha(&play));
}

/// A loss takes the share b, even if it is for another path's sake.
#[test]
fn a_loss_takes_b() {
    for trigger in [FastRetransmit, HeadOfLine] {
        for (keys, left) in [("", 70.0), (",b=0.2", 80.0), (",b=0.5", 50.0)] {
            let mut play = Play::new(&format!("mpmtp{keys}"), 1, 100, Some(100));
            play.lose(trigger, 100);
            near(play.cwnd(), left, 1e-9);
        }
    }
}

/// Two paths in one bottleneck: each slower than alone with δ, as fast with `delta=one`.
#[test]
fn delta_slows_coupled_paths_down() {
    let grown = |keys: &str| {
        let mut play = Play::new(&format!("mpmtp,balance=off{keys}"), 2, 100, Some(100));
        for path in [0, 1, 1, 0] {
            play.wait(RTT / 2);
            play.ack_of(path, 1, 100 * MTU, None);
        }
        play.recover();
        (0..5).for_each(|_| round(&mut play, RTT));
        (play.cwnd(), gauge(&play, "mpmtp_delta").expect("a series"))
    };
    let (alone, one) = grown(",delta=one");
    assert_eq!(one, 1.0);
    assert!(alone > 95.0, "{alone}");
    let (coupled, delta) = grown("");
    assert!(delta < 0.1 && coupled < 85.0, "{delta} {coupled}");
}

/// After idle time the profiles begin anew: round-trip times of before do not count.
#[test]
fn a_restart_forgets_a_rise() {
    let mut play = after_a_loss("");
    round(&mut play, RTT);
    (0..3).for_each(|_| round(&mut play, Duration::from_millis(120)));
    assert!(gauge(&play, "mpmtp_rtt_inc_ms").is_some());
    play.picture.paths[0].state = strandcast_proto::policy::PathState::Inactive;
    play.send(100_000, MTU);
    play.tell(&Signal::PathChanged(PathId(0)));
    play.picture.paths[0].state = strandcast_proto::policy::PathState::Active;
    play.tell(&Signal::PathChanged(PathId(0)));
    assert_eq!((play.cwnd(), gauge(&play, "mpmtp_rtt_inc_ms")), (2.0, None));
}
