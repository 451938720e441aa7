//! Numbers by hand from draft-khalili-mptcp-congestion-control §3, with segments of 1000 bytes.

use strandcast_proto::policy::LossTrigger::{self, FastRetransmit, HeadOfLine, Timeout};
use strandcast_proto::policy::fixture::MTU;
use strandcast_proto::policy::{LossCause, PathId, PathState, Signal};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use super::play::{Play, near};

/// Two paths of 100 and `other` segments, both with round trips of 100 ms, in congestion avoidance.
fn two(keys: &str, other: u64) -> Play {
    let mut play = Play::new(&format!("olia,when-full=off,cut=window{keys}"), 2, 100, Some(1));
    play.picture.paths[1].limit.cwnd = other * MTU;
    play
}

/// The step of path 0's window by an ACK, on average over ten.
fn step(mut play: Play, other: u64) -> f64 {
    let before = play.cwnd();
    for _ in 0..10 {
        play.picture.paths[1].limit.cwnd = other * MTU;
        play.ack_of(0, 1, 0, None);
    }
    (play.cwnd() - before) / 10.0
}

fn lose(play: &mut Play, path: u8, trigger: LossTrigger) {
    let (path, highest, cause) = (PathId(path), Tsn(9), LossCause::Congestion);
    play.tell(&Signal::LossEvent { path, trigger, highest, cause });
}

/// Path 0 is the largest and the best: nothing is shifted, w/rtt²/(Σw/rtt)² = 100/150².
#[test]
fn nothing_is_shifted_to_the_best_path_when_it_is_the_largest() {
    near(step(two("", 50), 50), 100.0 / 22_500.0, 5e-4);
}

/// Path 1 got more bytes through between its losses, with a smaller window: path 0 gives, −1/(2·1)/w an ACK.
#[test]
fn bytes_between_losses_say_which_path_is_best() {
    let mut play = two("", 50);
    play.ack_of(1, 60, 0, None);
    lose(&mut play, 1, FastRetransmit);
    near(step(play, 50), 100.0 / 22_500.0 - 0.5 / 100.0, 5e-4);
    // Path 1 has a window three times as large. Path 0 is the best, once more was acknowledged there: it takes
    // +1/2/w.
    let mut play = two("", 300);
    play.ack_of(0, 1, 0, None);
    near(step(play, 300), 100.0 / 160_000.0 + 0.5 / 100.0, 5e-4);
}

/// ℓ is the larger of the bytes acknowledged since the last loss and between the two losses before: a second loss, a
/// segment later, drops 60 of path 1, and the 30 of path 0 are more. Losses without anything between them are one,
/// and a cut by a full buffer does not count.
#[test]
fn two_losses_forget_what_was_before_them() {
    for (between, triggers, shifted) in [
        (0, &[FastRetransmit][..], -0.5),
        (1, &[FastRetransmit, FastRetransmit], 0.0),
        (0, &[FastRetransmit, Timeout, Timeout], -0.5),
        (1, &[FastRetransmit, HeadOfLine], -0.5),
    ] {
        let mut play = two("", 50);
        play.ack_of(0, 30, 0, None);
        play.ack_of(1, 60, 0, None);
        for trigger in triggers {
            lose(&mut play, 1, *trigger);
            if between > 0 {
                play.ack_of(1, between, 0, None);
            }
        }
        near(step(play, 50), 100.0 / 22_500.0 + shifted / 100.0, 5e-4);
    }
}

/// Path 0: 40 segments between losses in 100 ms. Path 1: 20 in 50 ms, with the largest window. ℓ²/rtt is 16 000 and
/// 8000, ℓ/rtt² 4000 and 8000: path 0 collects by the draft, path 1 is the best and the largest by the kernel.
#[test]
fn the_kernel_ranks_paths_in_another_way() {
    for (keys, shifted) in [("", 0.5), (",ranking=kernel", 0.0)] {
        let mut play = two(keys, 300);
        play.picture.paths[1].srtt = Some(Duration::from_millis(50));
        play.ack_of(1, 20, 0, None);
        play.ack_of(0, 30, 0, None);
        // Rates of 1000 and 6000: 100/0.01/7000².
        near(step(play, 300), 10_000.0 / 49e6 + shifted / 100.0, 5e-4);
    }
}

/// Windows of 100 and 101 are equally large: there is nothing to collect, though path 0 is the best. Of 100 and 102
/// they are not.
#[test]
fn one_percent_makes_no_difference() {
    for (keys, other, shifted) in
        [("", 101, 0.0), ("", 102, 0.5), (",tolerance=0", 101, 0.5), (",tolerance=0.05", 102, 0.0)]
    {
        let mut play = two(keys, other);
        play.ack_of(0, 30, 0, None);
        let total = 100.0 + other as f64;
        near(step(play, other), 100.0 / (total * total) + shifted / 100.0, 5e-4);
    }
}

/// A largest window that loses more than it gains shrinks, down to a segment and no further.
#[test]
fn windows_may_shrink_to_a_segment() {
    let mut play = Play::new("olia,when-full=off", 2, 2, Some(1));
    play.ack_of(1, 60, 0, None);
    for _ in 0..20 {
        // Path 1 is the best by far, and a little smaller: 1/4 − 1/2/w of a segment an ACK.
        play.picture.paths[1].limit.cwnd = play.picture.paths[0].limit.cwnd * 9 / 10;
        play.ack_of(0, 1, 0, None);
        assert!(play.cwnd() >= 1.0);
    }
    assert!(play.cwnd() < 1.1, "{} segments", play.cwnd());
}

/// Another path in the same slot has nothing of the former one's.
#[test]
fn a_path_that_is_gone_is_forgotten() {
    let mut play = two("", 50);
    play.ack_of(1, 60, 0, None);
    for state in [PathState::Closed, PathState::Active] {
        play.picture.paths[1].state = state;
        play.tell(&Signal::PathChanged(PathId(1)));
    }
    near(step(play, 50), 100.0 / 22_500.0, 5e-4);
}
