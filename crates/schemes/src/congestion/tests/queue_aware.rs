//! The window that reads delay, at single losses: MTU 1000 bytes, least round-trip time 100 ms.

use strandcast_proto::policy::fixture::{MTU, chunk, loss_of};
use strandcast_proto::policy::{LossCause, LossTrigger, PathId, Signal};
use strandcast_proto::rfc::WindowConfig;
use strandcast_proto::time::Duration;
use strandcast_proto::units::Rate;

use super::play::{Play, near};
use crate::congestion::QueueAware;
use crate::estimate::Verdict;

/// Windows of `segments` on each path, in congestion avoidance.
fn play(paths: u8, segments: u64) -> Play {
    let config = WindowConfig {
        initial_mtus: Some(segments as u32),
        initial_ssthresh: Some(segments * MTU / 2),
        ..WindowConfig::default()
    };
    let mut play = Play::with(Box::new(QueueAware::new(config)), paths);
    for path in 0..usize::from(paths) {
        queue(&mut play, path, 0);
    }
    play
}

fn queue(play: &mut Play, path: usize, ms: u64) {
    let p = &mut play.picture.paths[path];
    p.est.reference_rtt = Some(Duration::from_millis(100));
    p.est.queue = Some(ms as f64 / 1e3);
    p.srtt = Some(Duration::from_millis(100 + ms));
}

/// The window of path 0 after a loss while the queue is `ms` long, and the longest of late was `longest`.
fn after_loss(segments: u64, longest: u64, ms: u64) -> f64 {
    let mut play = play(1, segments);
    queue(&mut play, 0, longest);
    play.ack(1);
    queue(&mut play, 0, ms);
    play.lose(LossTrigger::FastRetransmit, segments);
    play.cwnd()
}

/// Before it is known whether losses come with long queues: the window less its backlog, cwnd · 100/(100 + q), as long
/// as q is at most half of the longest queueing delay or 25 ms, a quarter of the least round-trip time; half beyond.
#[test]
fn a_loss_halves_the_window_only_if_the_queue_is_long() {
    for (longest, ms, left) in [
        (0, 0, 100.0),
        (100, 10, 100.0 / 1.1),
        (100, 50, 100.0 / 1.5),
        (100, 51, 50.0),
        (100, 100, 50.0),
        (30, 25, 100.0 / 1.25),
        (30, 26, 50.0),
        (400, 150, 50.0),
    ] {
        near(after_loss(100, longest, ms), left, 0.01);
    }
}

/// Queues alternate between `least` and 5 ms, at most a twentieth of a round trip of 100 ms; a chunk is lost at
/// `lost_at(n)` ms in the nth turn. Returns the factors by which the losses of all turns change each window: at 5 and
/// at 1 ms.
fn judged(turns: u64, least: u64, lost_at: impl Fn(u64) -> u64) -> [f64; 2] {
    let mut play = play(1, 100);
    for turn in 0..turns {
        for ms in least..=5 {
            queue(&mut play, 0, ms);
            play.wait(Duration::from_millis(40));
            play.ack(1);
            if ms == lost_at(turn) {
                play.lose(LossTrigger::FastRetransmit, 1);
                play.ack(2);
            }
        }
    }
    [5, 1].map(|ms| {
        queue(&mut play, 0, ms);
        (0..2000).for_each(|_| play.ack(1));
        let before = play.cwnd();
        play.lose(LossTrigger::FastRetransmit, 1);
        let after = play.cwnd();
        play.ack(2);
        after / before
    })
}

/// A queue of a few packets is full as any other: its losses come with the longest delays, and those cut the window: by
/// half, or to
/// 0.7 where the queue was never nearly empty. Losses at any of them are a radio's.
#[test]
fn losses_of_a_shallow_queue_are_congestion_and_those_at_any_queue_are_not() {
    for (least, left) in [(0, 0.5), (1, 0.7)] {
        let [full, empty] = judged(40, least, |_| 5);
        near(full, left, 0.02);
        near(empty, 100.0 / 101.0, 0.02);
    }
    let [full, empty] = judged(40, 1, |turn| turn * 2 % 5 + 1);
    near(full, 100.0 / 105.0, 0.02);
    near(empty, 100.0 / 101.0, 0.02);
}

/// A random loss never leaves less than half, nor less than four MTU (RFC 9260 §7.2.3).
#[test]
fn a_random_loss_costs_no_more_than_congestion() {
    near(after_loss(100, 1000, 400), 100.0 / 5.0 * 2.5, 0.01);
    near(after_loss(6, 30, 10), 6.0 / 1.1, 0.01);
    near(after_loss(6, 200, 200), 4.0, 0.0);
}

#[test]
fn slow_start_outlives_random_losses_and_ends_with_a_queue() {
    let config = WindowConfig { initial_mtus: Some(10), ..WindowConfig::default() };
    let mut play = Play::with(Box::new(QueueAware::new(config)), 1);
    queue(&mut play, 0, 0);
    play.lose(LossTrigger::FastRetransmit, 10);
    assert_eq!(play.ssthresh(), None, "nothing speaks for congestion");
    play.ack(10);
    let before = play.cwnd();
    assert!(before >= 15.0, "{before}");
    queue(&mut play, 0, 40);
    play.picture.paths[0].in_flight_chunks = 10;
    play.ack(1);
    assert_eq!(play.ssthresh(), None, "a burst of ours");
    play.wait(Duration::from_secs(1));
    play.ack(1);
    play.wait(Duration::from_secs(1));
    let now = play.cwnd();
    play.ack(1);
    let most = 1.25 * now;
    assert!(play.ssthresh().is_some_and(|s| (s - most).abs() < 2.0), "{:?} after {before}", play.ssthresh());
}

/// Slow start that overruns a queue loses many chunks of a window; one or two are chance, whatever the queue.
#[test]
fn slow_start_ends_with_the_fourth_loss_of_a_window() {
    for (further, cut) in [(2, false), (3, true)] {
        let config = WindowConfig { initial_mtus: Some(40), ..WindowConfig::default() };
        let mut play = Play::with(Box::new(QueueAware::new(config)), 1);
        queue(&mut play, 0, 80);
        play.ack(1);
        play.lose(LossTrigger::FastRetransmit, 40);
        let more = chunk(20, &[0]);
        (0..further).for_each(|_| play.tell(&loss_of(&more)));
        play.ack(1);
        assert_eq!(play.cwnd() < 25.0, cut, "{further} more: {}", play.cwnd());
    }
}

/// A window leaves over 0.8 of a round trip.
#[test]
fn windows_are_paced() {
    let mut play = play(1, 50);
    play.ack(1);
    let (limit, srtt) = (play.picture.paths[0].limit, play.picture.paths[0].srtt.expect("set").as_secs_f64());
    let pace = limit.pacing.expect("paced").bytes_per_s();
    near(pace * srtt / limit.cwnd as f64, 1.25, 0.01);
}

#[test]
fn a_timeout_leaves_one_mtu_and_slow_start_to_what_the_loss_leaves() {
    let mut play = play(1, 100);
    play.lose(LossTrigger::Timeout, 100);
    near(play.cwnd(), 1.0, 0.0);
    near(play.ssthresh().expect("set"), 100.0, 0.01);
    queue(&mut play, 0, 200);
    play.ack(1);
    play.lose(LossTrigger::Timeout, 1);
    near(play.ssthresh().expect("set"), 4.0, 0.01);
}

/// RFC 5681 §3.1: a timeout after a timeout, as in an outage, leaves the threshold as it is.
#[test]
fn an_outage_leaves_the_threshold_of_before() {
    let mut play = play(1, 100);
    (0..4).for_each(|_| play.lose(LossTrigger::Timeout, 1));
    near(play.cwnd(), 1.0, 0.0);
    near(play.ssthresh().expect("set"), 100.0, 0.01);
}

/// RFC 2861, RFC 6928 §2: five RTOs without a packet leave the initial window, and slow start back to what was.
#[test]
fn an_idle_path_may_start_up_to_the_window_that_it_had() {
    let (initial_mtus, initial_ssthresh) = (Some(10), Some(40 * MTU));
    let config = WindowConfig { initial_mtus, initial_ssthresh, ..WindowConfig::default() };
    let mut play = Play::with(Box::new(QueueAware::new(config)), 1);
    queue(&mut play, 0, 0);
    (0..60).for_each(|_| play.ack(1));
    let before = play.cwnd();
    assert!(before > 40.0, "{before}");
    play.send(1, MTU);
    play.wait(Duration::from_secs(6));
    play.send(2, MTU);
    near(play.cwnd(), 10.0, 0.0);
    near(play.ssthresh().expect("set"), before, 0.0);
}

/// RFC 7661 §4.1: a packet every 25 ms, as data probes are, is no use of a window of 40 packets, a quarter of it is. It
/// lasts 2 s.
#[test]
fn a_window_lasts_while_a_quarter_of_it_is_used() {
    let (initial_mtus, initial_ssthresh) = (Some(10), Some(40 * MTU));
    let config = WindowConfig { initial_mtus, initial_ssthresh, ..WindowConfig::default() };
    let mut play = Play::with(Box::new(QueueAware::new(config)), 1);
    queue(&mut play, 0, 0);
    (0..60).for_each(|_| play.ack(1));
    let before = play.cwnd();
    assert!(before > 40.0, "{before}");
    let mut sequence = 0;
    let mut seconds_with = |play: &mut Play, seconds: u32, in_flight: u64| {
        for _ in 0..40 * seconds {
            sequence += 1;
            play.send(sequence, in_flight);
            play.wait(Duration::from_millis(25));
        }
    };
    seconds_with(&mut play, 6, 11 * MTU);
    near(play.cwnd(), before, 0.0);
    seconds_with(&mut play, 2, MTU);
    near(play.cwnd(), before, 0.0);
    seconds_with(&mut play, 6, MTU);
    near(play.cwnd(), 10.0, 0.0);
    near(play.ssthresh().expect("set"), before, 0.0);
}

/// A window that holds others up is halved once a flight, and may grow back fast.
#[test]
fn a_penalty_halves_the_window_and_leaves_the_threshold() {
    let mut play = play(1, 64);
    play.lose(LossTrigger::HeadOfLine, 64);
    near(play.cwnd(), 32.0, 0.0);
    near(play.ssthresh().expect("set"), 64.0, 0.0);
}

/// `lost` of each 100 chunks are lost, with no queue; the window after `losses` such hundreds.
fn lossy(play: &mut Play, lost: u32, hundreds: u32) {
    for _ in 0..hundreds {
        for n in 0..lost {
            let tsn = play.acked[0] + n + 1;
            play.tell(&loss_of(&chunk(tsn, &[0])));
            play.lose(LossTrigger::FastRetransmit, 50);
        }
        for _ in 0..(100 - lost) {
            play.ack(1);
        }
    }
}

/// 20 % lost whatever the window: the test lowers it to 20 of 50 MTU (200 kB/s · 100 ms), at least half of it, and
/// takes it back.
#[test]
fn a_path_that_loses_whatever_is_sent_gets_its_window_back() {
    let mut play = play(1, 50);
    play.picture.paths[0].est.delivery_rate = Some(Rate::from_bytes_per_s(2e5));
    let mut least: f64 = 50.0;
    for _ in 0..12 {
        lossy(&mut play, 20, 1);
        least = least.min(play.cwnd());
    }
    near(least, 26.0, 3.0);
    assert!(play.cwnd() >= 49.0, "{}", play.cwnd());
}

/// Acknowledgements that come back by a shorter way than the path's own, 60 ms instead of 100: the test takes the round
/// trips as they are, 400 kB/s · 60 ms, not what 100 ms would need, which would test nothing.
#[test]
fn a_test_takes_round_trips_as_they_are() {
    for (srtt, least, left) in
        [(60, 60, 25.0), (70, 60, 28.0), (60, 70, 28.0), (100, 60, 40.0), (200, 60, 40.0)]
    {
        let mut play = play(1, 50);
        let path = &mut play.picture.paths[0];
        path.est.delivery_rate = Some(Rate::from_bytes_per_s(4e5));
        (path.srtt, path.min_rtt) = (Some(Duration::from_millis(srtt)), Some(Duration::from_millis(least)));
        let lost: Vec<_> = (0..20).map(|n| chunk(20 + n, &[0])).collect();
        lost.iter().for_each(|chunk| play.tell(&loss_of(chunk)));
        play.lose(LossTrigger::FastRetransmit, 50);
        near(play.cwnd(), left, 0.01);
    }
}

/// 20 % lost at 50 MTU and none below: a shallow queue that was full.
#[test]
fn a_window_that_overfills_a_shallow_queue_stays_low() {
    let mut play = play(1, 50);
    play.picture.paths[0].est.delivery_rate = Some(Rate::from_bytes_per_s(3e5));
    lossy(&mut play, 20, 1);
    let cut = play.cwnd();
    assert!((28.0..36.0).contains(&cut), "300 kB/s · 100 ms: {cut}");
    lossy(&mut play, 0, 4);
    assert!(play.cwnd() < 45.0, "grows by an MTU a window, not back: {}", play.cwnd());
}

/// Losses at queues of `own` ms, at which the other path waits for `other` ms.
fn grown(own: u64, other: u64) -> f64 {
    let mut play = play(2, 100);
    for _ in 0..6 {
        for path in 0..2 {
            queue(&mut play, path, if path == 0 { own } else { other });
            play.ack_of(path as u8, 1, 100 * MTU, None);
        }
        play.lose(LossTrigger::FastRetransmit, 50);
        play.wait(Duration::from_millis(100));
    }
    queue(&mut play, 0, 0);
    let before = play.cwnd_of(1);
    for _ in 0..4 {
        let window = play.cwnd_of(1) as u32;
        play.ack_of(1, window, play.picture.paths[1].limit.cwnd, None);
    }
    play.cwnd_of(1) - before
}

/// RFC 6356 behind one bottleneck, an MTU a window alone. Queues shorter than a quarter of the least round-trip time
/// are alike by chance.
#[test]
fn increases_are_coupled_where_long_queues_are_alike() {
    let (alone, coupled, short) = (grown(80, 20), grown(80, 80), grown(20, 20));
    assert!(alone >= 3.0 && coupled < 0.9 * alone, "{alone}, {coupled}");
    assert!(short >= 3.0, "{short}");
}

/// RFC 9438 §4.2 with half of the window left: K = cbrt(W_max/2 / 0.4), 5 s for 100 segments, and the window is W_max
/// again.
#[test]
fn after_a_loss_a_window_grows_as_cubic_does() {
    let mut play = play(1, 100);
    queue(&mut play, 0, 80);
    play.ack(1);
    play.lose(LossTrigger::FastRetransmit, 100);
    play.ack(100);
    let cut = play.cwnd();
    near(cut, 50.0, 2.0);
    play.rtt(Duration::from_millis(100));
    for trip in 1..=70 {
        play.round(Duration::from_millis(100));
        // The curve, or a segment a round trip from half of the window on; give or take two round trips.
        let curve = |trips: i32| {
            let since = 0.1 * f64::from(trip + trips) - 5.0;
            100.0 + 0.4 * since * since * since
        };
        let (least, most) = (curve(-2).max(cut + f64::from(trip - 2)), curve(2).max(cut + f64::from(trip)));
        assert!((least..=most + 1.0).contains(&play.cwnd()), "{trip}: {} of {least} to {most}", play.cwnd());
    }
}

/// Path 0 of these has fallen silent, and what it had in flight is lost: `segments`.
fn falls_silent(play: &mut Play, segments: u32) {
    Verdict::Silent.write(&mut play.picture.paths[0].est);
    for tsn in 1..=segments {
        let chunk = chunk(tsn, &[0]);
        play.tell(&Signal::Lost { chunk: &chunk, path: PathId(0), cause: LossCause::PathFailure });
    }
}

/// Half of six segments over the two paths whose queues are short, for two round trips of 100 ms; 1.5 kB over 50 ms
/// more are
/// 30 kB/s.
#[test]
fn what_a_silent_path_lost_may_leave_by_the_others_at_once() {
    let mut play = play(4, 10);
    queue(&mut play, 3, 60);
    for path in 0..4 {
        play.ack_of(path, 1, 1, None);
    }
    let pace = |play: &Play| play.picture.paths[1].limit.pacing.expect("paced").bytes_per_s();
    let before = pace(&play);
    falls_silent(&mut play, 6);
    let windows: Vec<_> = (1..4).map(|path| play.cwnd_of(path)).collect();
    assert_eq!(windows, [11.5, 11.5, 10.0]);
    near(pace(&play) - before, 3e4, 1e3);
    play.wait(Duration::from_millis(199));
    play.ack_of(1, 1, 1, None);
    assert_eq!(play.cwnd_of(1), 11.5);
    play.wait(Duration::from_millis(1));
    play.ack_of(1, 1, 1, None);
    near(play.cwnd_of(1), 10.0, 0.5);
    near(pace(&play) - before, 0.0, 5e3);
}

#[test]
fn a_path_that_congests_stands_in_no_longer() {
    let mut play = play(2, 10);
    falls_silent(&mut play, 6);
    assert_eq!(play.cwnd_of(1), 13.0);
    queue(&mut play, 1, 100);
    let (path, highest) = (PathId(1), strandcast_proto::wire::Tsn(9));
    let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
    play.tell(&Signal::LossEvent { path, trigger, highest, cause });
    assert_eq!(play.cwnd_of(1), 5.0);
    queue(&mut play, 1, 0);
    falls_silent(&mut play, 6);
    assert_eq!(play.cwnd_of(1), 5.0, "its slow start is over: what it carries is known");
}

/// RFC 4015 §3.2, and the counts of losses with it.
#[test]
fn a_window_that_a_spurious_loss_cut_returns() {
    let mut play = play(1, 40);
    play.recover();
    queue(&mut play, 0, 100);
    let before = play.picture.paths[0].limit;
    play.lose(LossTrigger::FastRetransmit, 20);
    assert!(play.picture.paths[0].limit.cwnd < before.cwnd, "the queue is long");
    let trigger = LossTrigger::FastRetransmit;
    play.tell(&Signal::Spurious { path: PathId(0), trigger, chunks: 1, before: Some(before) });
    let after = play.picture.paths[0].limit;
    assert_eq!((after.cwnd, after.ssthresh), (before.cwnd, before.ssthresh));
}

/// RFC 3465 §2.2 without its limit: until a loss the window doubles when all of it was acknowledged, two chunks a SACK.
#[test]
fn the_first_slow_start_doubles_and_the_next_one_does_not() {
    let config = WindowConfig { initial_mtus: Some(10), ..WindowConfig::default() };
    let mut play = Play::with(Box::new(QueueAware::new(config)), 1);
    (0..5).for_each(|_| play.ack(2));
    assert_eq!(play.cwnd(), 20.0);
    play.lose(LossTrigger::Timeout, 20);
    assert_eq!(play.cwnd(), 1.0);
    play.ack(2);
    assert_eq!(play.cwnd(), 2.0, "one MTU for a SACK (RFC 9260 §7.2.1)");
}
