use strandcast_proto::policy::LossTrigger::{FastRetransmit, Timeout};
use strandcast_proto::policy::fixture::{MTU, chunk};
use strandcast_proto::policy::{PathId, PathState, Signal};
use strandcast_proto::rfc::Reno;
use strandcast_proto::time::Duration;

use super::play::{Play, near};
use crate::congestion::{TcpConfig, TcpWindows};

/// RFC 5681 eq. 2: min(N, SMSS) an ACK; RFC 3465 §2.2: min(N, L·SMSS).
#[test]
fn slow_start_adds_what_an_ack_acknowledges_up_to_l() {
    for (spec, segments, growth) in [
        ("reno", 1, 1.0),
        ("reno", 2, 1.0),
        ("reno,l=2", 1, 1.0),
        ("reno,l=2", 2, 2.0),
        ("reno,l=2", 3, 2.0),
        ("reno,l=0", 7, 7.0),
    ] {
        let mut play = Play::new(spec, 1, 10, None);
        play.ack(segments);
        assert_eq!(play.cwnd(), 10.0 + growth, "{spec}, {segments} segments");
    }
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let mut play = Play::new("reno,l=0", 1, 10, Some(16));
    play.ack(4);
    assert_eq!(play.cwnd(), 14.0);
    play.ack(7);
    assert_eq!(play.cwnd(), 16.0);
    play.ack(1);
    near(play.cwnd(), 16.0 + 1.0 / 16.0, 1e-3);
}

/// w ← w + 1/w gives w² ← w² + 2 + 1/w²: after n ACKs w² is 2n more, and a little.
#[test]
fn an_ack_in_congestion_avoidance_adds_a_segment_by_the_window() {
    for (spec, segments, share) in [
        ("reno", 1, 1.0),
        ("reno", 2, 1.0),
        ("reno,count=bytes", 1, 1.0),
        ("reno,count=bytes", 2, 2.0),
        ("lia", 1, 1.0),
    ] {
        let mut play = Play::new(spec, 1, 10, Some(10));
        for _ in 0..50 {
            play.ack(segments);
        }
        let square = play.cwnd() * play.cwnd();
        near(square, 100.0 + 100.0 * share, 1.5);
    }
}

#[test]
fn a_loss_leaves_half_of_the_flight() {
    for (spec, flight, left) in [
        ("reno", 20, 10.0),
        ("reno", 15, 7.5),
        ("reno", 23, 10.0), // three of them sent by limited transmit
        ("reno", 3, 2.0),   // RFC 5681 eq. 4: two segments at least
        ("reno,floor=1", 3, 1.5),
        ("reno,cut=window", 3, 10.0),
        ("lia", 15, 7.5),
    ] {
        let mut play = Play::new(spec, 1, 20, None);
        play.lose(FastRetransmit, flight);
        assert_eq!((play.cwnd(), play.ssthresh()), (left, Some(left)), "{spec}, {flight} in flight");
    }
}

#[test]
fn nothing_grows_in_recovery() {
    let mut play = Play::new("reno", 1, 20, None);
    play.lose(FastRetransmit, 20);
    play.ack(5);
    play.ack(14);
    assert_eq!(play.cwnd(), 10.0, "partial acknowledgements");
    play.ack(1);
    assert_eq!(play.cwnd(), 10.0, "the acknowledgement that ends recovery");
    play.ack(1);
    near(play.cwnd(), 10.1, 1e-9);
}

/// RFC 5681 §3.1: one segment after a timeout, slow start from there.
#[test]
fn timeouts_leave_one_segment() {
    let mut play = Play::new("reno", 1, 20, None);
    play.lose(Timeout, 20);
    assert_eq!((play.cwnd(), play.ssthresh()), (1.0, Some(10.0)));
    play.ack(1);
    assert_eq!(play.cwnd(), 2.0, "at once");
    play.lose(Timeout, 2);
    assert_eq!((play.cwnd(), play.ssthresh()), (1.0, Some(2.0)));
}

#[test]
fn a_timeout_ends_recovery() {
    let mut play = Play::new("reno", 1, 20, None);
    play.lose(FastRetransmit, 20);
    play.lose(Timeout, 10);
    play.ack(1);
    assert_eq!((play.cwnd(), play.ssthresh()), (2.0, Some(5.0)));
}

#[test]
fn only_full_windows_grow() {
    for (spec, grown) in [("reno", 20.0), ("reno,when-full=off", 21.0)] {
        let mut play = Play::new(spec, 1, 20, None);
        play.ack_of(0, 1, 19 * MTU, None);
        assert_eq!(play.cwnd(), grown, "{spec}: a segment was free");
        play.ack_of(0, 1, play.picture.paths[0].limit.cwnd - MTU + 1, None);
        assert_eq!(play.cwnd(), grown + 1.0, "{spec}: less than a segment was free");
    }
}

#[test]
fn idle_time_brings_the_initial_window_back() {
    for (restart_after_idle, after) in [(true, 4.0), (false, 8.0)] {
        let config = TcpConfig { restart_after_idle, ..TcpConfig::default() };
        let mut play = Play::with(Box::new(TcpWindows::new(config, Reno)), 1);
        play.send(1, MTU);
        (0..4).for_each(|_| play.ack(1));
        assert_eq!(play.cwnd(), 8.0, "4 by RFC 3390");
        play.wait(Duration::from_millis(999));
        play.send(5, MTU);
        assert_eq!(play.cwnd(), 8.0, "less than the RTO");
        play.wait(Duration::from_millis(1001));
        play.send(6, 2 * MTU);
        assert_eq!(play.cwnd(), 8.0, "something was in flight");
        play.wait(Duration::from_millis(1001));
        play.send(7, MTU);
        assert_eq!(play.cwnd(), after);
        play.wait(Duration::from_millis(1001));
        play.send(8, MTU);
        assert_eq!(play.cwnd(), after, "no lower");
    }
}

#[test]
fn paths_have_windows_of_their_own() {
    let mut play = Play::new("reno", 2, 10, None);
    play.ack_of(1, 1, 10 * MTU, None);
    play.lose(Timeout, 10);
    assert_eq!((play.cwnd_of(0), play.cwnd_of(1)), (1.0, 11.0));
    play.picture.paths[1].state = PathState::Closed;
    play.tell(&Signal::PathChanged(PathId(1)));
    assert_eq!(play.cwnd_of(1), 0.0, "gone");
    play.picture.paths[1].state = PathState::Active;
    play.picture.paths[1].mtu = 500;
    play.tell(&Signal::PathChanged(PathId(1)));
    assert_eq!(play.cwnd_of(1), 10.0, "another path in the same slot");
}

#[test]
fn a_path_that_came_back_begins_with_two_segments() {
    let mut play = Play::new("reno", 1, 10, None);
    play.tell(&Signal::Sent(&chunk(1, &[0])));
    for (state, window) in [(PathState::PotentiallyFailed, 10.0), (PathState::Active, 2.0)] {
        play.picture.paths[0].state = state;
        play.tell(&Signal::PathChanged(PathId(0)));
        assert_eq!(play.cwnd(), window);
    }
}

/// RFC 9406 §4.2: round-trip times that rise by max(4 ms, 1/8) end slow start after five slower rounds.
#[test]
fn hystart_ends_slow_start_when_round_trips_rise() {
    for (rise_ms, ends) in [(0, false), (3, false), (5, true)] {
        let mut play = Play::new("reno,hystart=on,l=8", 1, 10, None);
        let (mut sequence, mut before) = (0, 0.0);
        for round in 0..8u64 {
            let window = play.cwnd() as u32;
            for _ in 0..window {
                sequence += 1;
                play.send(sequence, play.picture.paths[0].limit.cwnd);
            }
            before = play.cwnd();
            let rtt = Duration::from_millis(20 + if round > 0 { rise_ms } else { 0 });
            for _ in 0..window {
                play.ack_of(0, 1, play.picture.paths[0].limit.cwnd, Some(rtt));
            }
            if round == 1 && ends {
                // Eight samples are needed, then every ACK counts a quarter: 20 + 7 + 13/4.
                assert_eq!(play.cwnd(), 30.25);
            }
        }
        assert_eq!(play.ssthresh().is_some(), ends, "{rise_ms} ms");
        assert!(if ends { play.cwnd() < before + 1.1 } else { play.cwnd() == 2560.0 }, "{}", play.cwnd());
    }
}
