//! Numbers by hand from the rounds of wVegas, with segments of 1000 bytes.

use strandcast_proto::policy::fixture::chunk;
use strandcast_proto::policy::{PathId, PathState, Signal};
use strandcast_proto::time::Duration;

use super::play::{Play, near};

fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

/// A window leaves path `path` and is acknowledged, each segment after `rtt`. The first ACK ends the round before: its
/// steps are taken then, with this round-trip time among theirs.
fn round(play: &mut Play, path: u8, rtt: Duration) {
    let p = usize::from(path);
    let (window, last) = (play.cwnd_of(p) as u32, play.acked[p]);
    play.picture.paths[p].srtt = Some(rtt);
    for n in 1..=window {
        play.tell(&Signal::Sent(&chunk(last + n, &[path])));
    }
    play.wait(rtt);
    for _ in 0..window {
        let flight = play.picture.paths[p].limit.cwnd;
        play.ack_of(path, 1, flight, Some(rtt));
    }
}

/// A segment alone, which measures a base of 100 ms.
fn measure_base(play: &mut Play) {
    play.tell(&Signal::Sent(&chunk(1, &[0])));
    let flight = play.picture.paths[0].limit.cwnd;
    play.ack_of(0, 1, flight, Some(ms(100.0)));
}

fn alpha(play: &Play) -> f64 {
    let mut gauges = Vec::new();
    play.cc.gauges(PathId(0), &mut gauges);
    gauges.iter().find(|(name, _)| *name == "wvegas_alpha").expect("a gauge of every path").1
}

/// Slow start doubles 10 to 80; then round trips are twice the base, diff is 40 segments of 80. More than γ: what is
/// left is 80·100/200 + 1, and no slow start begins below that. The round after has diff = 20, more than α = 10.
#[test]
fn slow_start_ends_when_segments_queue() {
    let mut play = Play::new("wvegas", 1, 10, None);
    for (rtt, expected) in [(100.0, 20.0), (100.0, 40.0), (200.0, 80.0), (200.0, 41.0), (200.0, 40.0)] {
        round(&mut play, 0, ms(rtt));
        near(play.cwnd(), expected, 1e-2);
    }
    // No longer than γ, nothing happens.
    let mut play = Play::new("wvegas,gamma=100", 1, 10, None);
    for (rtt, expected) in [(100.0, 20.0), (100.0, 40.0), (200.0, 80.0), (200.0, 160.0)] {
        round(&mut play, 0, ms(rtt));
        near(play.cwnd(), expected, 1e-2);
    }
}

/// Over a bottleneck of its own, rtt = w/C while something queues, and diff is the queue: it becomes total α of 10
/// segments, in addition to 1000 segments/s · 100 ms = 100.
#[test]
fn one_path_keeps_all_of_alpha_in_the_queue() {
    let mut play = Play::new("wvegas,drain=off", 1, 10, Some(80));
    for _ in 0..200 {
        let rtt = f64::max(100.0, play.cwnd());
        round(&mut play, 0, ms(rtt));
    }
    near(play.cwnd(), 110.0, 1.5);
    assert_eq!(alpha(&play), 10.0);
}

/// Bottlenecks of 1000 and 3000 segments/s: weights of 1/4 and 3/4, 2 and 7 whole segments of 10.
#[test]
fn queues_are_shared_by_rates() {
    let mut play = Play::new("wvegas,drain=off", 2, 10, Some(80));
    for _ in 0..400 {
        for (path, capacity) in [(0, 1.0), (1, 3.0)] {
            let rtt = f64::max(100.0, play.cwnd_of(usize::from(path)) / capacity);
            round(&mut play, path, ms(rtt));
        }
    }
    near(play.cwnd_of(0), 102.0, 1.5);
    near(play.cwnd_of(1), 307.0, 1.5);
}

/// The queue of a round is 2 ms, 2.03, 4 and 5 ms: twice the least, so that (103 + 1 segments)·100/(2·105) are left,
/// and slow start brings back 3/4 of 103.
#[test]
fn queues_that_doubled_are_drained() {
    for (keys, after) in [("", 0.75 * 103.01), (",drain=off", 104.01)] {
        let mut play = Play::new(&format!("wvegas{keys}"), 1, 100, Some(40));
        measure_base(&mut play);
        // Two round-trip times are not a mean: Reno's 1/100 for the ACK that ends that round.
        for (rtt, expected) in [(102.0, 100.01), (102.0, 101.01), (103.9, 102.01), (105.0, 103.01)] {
            round(&mut play, 0, ms(rtt));
            near(play.cwnd(), expected, 5e-3);
        }
        // The first ACK drains, the second begins to fill again: 27 segments and what is missing then.
        let (flight, last) = (play.picture.paths[0].limit.cwnd, play.acked[0]);
        (1..60).for_each(|n| play.tell(&Signal::Sent(&chunk(last + n, &[0]))));
        play.ack_of(0, 1, flight, Some(ms(105.0)));
        near(play.cwnd(), if keys.is_empty() { 104.01 * 100.0 / 210.0 } else { 104.01 }, 5e-2);
        for _ in 0..35 {
            let flight = play.picture.paths[0].limit.cwnd;
            play.ack_of(0, 1, flight, None);
        }
        near(play.cwnd(), after, 5e-2);
    }
}

/// Without any queue nothing is drained: the window grows by a segment per round.
#[test]
fn an_empty_queue_is_not_drained() {
    let mut play = Play::new("wvegas", 1, 10, Some(10));
    (0..12).for_each(|_| round(&mut play, 0, ms(100.0)));
    near(play.cwnd(), 20.1, 1.0);
}

/// A loss halves, and α begins with 2 again; the base stays.
#[test]
fn a_loss_makes_alpha_begin_anew() {
    let mut play = Play::new("wvegas,drain=off", 1, 100, Some(80));
    measure_base(&mut play);
    (0..4).for_each(|_| round(&mut play, 0, ms(110.0)));
    assert_eq!(alpha(&play), 10.0);
    let before = play.cwnd();
    play.recover();
    near(play.cwnd(), before.floor() / 2.0, 0.6);
    assert_eq!(alpha(&play), 2.0);
    // diff = 51·10/110 = 4: α is weighed again, which shows that the base is 100 ms still.
    (0..3).for_each(|_| round(&mut play, 0, ms(110.0)));
    assert_eq!(alpha(&play), 10.0);
}

/// A path that failed and works again may be longer: the base is measured anew. Else 300 ms would be 200 ms of queues
/// for ever, and the window would stay at 15 segments, of which 15·200/300 = α queue.
#[test]
fn a_path_that_works_again_has_another_base() {
    let mut play = Play::new("wvegas", 1, 10, Some(10));
    (0..4).for_each(|_| round(&mut play, 0, ms(100.0)));
    for state in [PathState::PotentiallyFailed, PathState::Active] {
        play.picture.paths[0].state = state;
        play.tell(&Signal::PathChanged(PathId(0)));
    }
    assert_eq!(play.cwnd(), 2.0);
    (0..60).for_each(|_| round(&mut play, 0, ms(300.0)));
    assert!(play.cwnd() >= 50.0, "{} segments", play.cwnd());
}

/// The queue of a round grows from 4.9 to 19.9 s, four times as long: w·100/(2·20000) would be less than a segment.
#[test]
fn two_segments_are_left() {
    let mut play = Play::new("wvegas", 1, 8, Some(1));
    measure_base(&mut play);
    (0..4).for_each(|_| round(&mut play, 0, ms(5000.0)));
    round(&mut play, 0, ms(20_000.0));
    assert!(play.cwnd() > 8.0);
    let (flight, next) = (play.picture.paths[0].limit.cwnd, play.acked[0] + 1);
    play.tell(&Signal::Sent(&chunk(next, &[0])));
    play.ack_of(0, 1, flight, Some(ms(20_000.0)));
    assert_eq!(play.cwnd(), 2.0);
}
