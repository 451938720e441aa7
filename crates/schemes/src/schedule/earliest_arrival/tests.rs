use proptest::prelude::*;

use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{PathId, PathSet};
use strandcast_proto::units::Rate;

use super::*;

fn backlog(bytes: u64, left_ms: Option<u64>, now: Instant) -> Backlog {
    Backlog {
        bytes,
        messages: 1,
        next_len: MTU,
        next_expires: left_ms.map(|ms| now + Duration::from_millis(ms)),
        retransmission: false,
        tried: PathSet::default(),
        ..Backlog::default()
    }
}

/// Properties of a path: Mbit/s, least round-trip time and queueing delay in ms, loss, packets in flight and window.
type Like = (f64, u64, u64, f64, u64, u64);

fn picture(paths: &[Like]) -> Picture {
    let mut picture = Picture::new(paths.len() as u8);
    for (p, (mbps, least, queue, loss, flight, window)) in picture.paths.iter_mut().zip(paths) {
        p.est.delivery_rate = Some(Rate::from_bps(mbps * 1e6));
        p.est.tested = Some(Instant::from_millis(1000));
        p.est.reference_rtt = Some(Duration::from_millis(*least));
        p.est.queue = Some(*queue as f64 / 1e3);
        p.est.loss = Some(*loss);
        p.srtt = Some(Duration::from_millis(least + queue));
        p.min_rtt = Some(Duration::from_millis(*least));
        p.in_flight = flight * MTU;
        p.limit.cwnd = window * MTU;
    }
    picture
}

fn asked(scheduler: &mut EarliestArrival, picture: &Picture, backlog: &Backlog) -> Option<u8> {
    scheduler.next(&picture.view(), backlog).map(|a| a.paths[0].0)
}

fn takes(picture: &Picture, bytes: u64, left_ms: Option<u64>) -> Option<u8> {
    asked(&mut EarliestArrival::default(), picture, &backlog(bytes, left_ms, picture.now))
}

/// Fast path of 20 Mbit/s and 10 ms, slow path of 1 Mbit/s and 40 ms.
const FAST: Like = (20.0, 10, 0, 0.0, 0, 100);
const SLOW: Like = (1.0, 40, 0, 0.0, 0, 5);

#[test]
fn the_earlier_arrival_in_time_is_taken() {
    assert_eq!(takes(&picture(&[FAST, SLOW]), 1000, Some(500)), Some(0));
    assert_eq!(takes(&picture(&[SLOW, FAST]), 1000, Some(500)), Some(1));
    // 100 packets beyond 25 kB wait 30 ms on the fast path: the slow one is earlier.
    let busy = (20.0, 10, 30, 0.0, 100, 200);
    assert_eq!(takes(&picture(&[busy, SLOW]), 1000, Some(500)), Some(1));
}

/// Data that the link may have kept while the path was silent count as above: they precede the data that are sent
/// now.
#[test]
fn what_a_link_still_holds_is_waited_for() {
    let mut held = picture(&[(20.0, 10, 0, 0.0, 0, 25), SLOW]);
    crate::estimate::set_held(&mut held.paths[0].est, 100 * MTU);
    assert_eq!(takes(&held, 1000, Some(500)), Some(1));
    crate::estimate::set_held(&mut held.paths[0].est, 0);
    assert_eq!(takes(&held, 1000, Some(500)), Some(0));
}

/// 41 packets beyond the 5 of the bandwidth-delay product are 328 ms at 1 Mbit/s.
#[test]
fn a_path_on_which_it_would_be_late_is_not_taken_though_the_other_has_no_room() {
    let full = (20.0, 10, 5, 0.0, 40, 40);
    let late = (1.0, 40, 328, 0.0, 45, 100);
    let p = picture(&[full, late]);
    let mut scheduler = EarliestArrival::default();
    assert_eq!(asked(&mut scheduler, &p, &backlog(1000, Some(200), p.now)), None);
    assert!(scheduler.poll_timeout().is_some_and(|t| t > p.now), "asked again without a signal");
    assert_eq!(takes(&picture(&[late, (2.0, 300, 0, 0.0, 0, 10)]), 1000, Some(200)), Some(1), "150 ms");
}

/// A quarter of 500 ms is 125 ms, at 1 Mbit/s 15 packets of 1000 bytes beyond the 5 of the bandwidth-delay product.
#[test]
fn no_more_waits_on_a_path_than_a_quarter_of_the_time_left() {
    let full = (20.0, 10, 30, 0.0, 100, 100);
    for (flight, taken) in [(19, Some(1)), (20, None), (30, None)] {
        let slow = (1.0, 40, 110, 0.0, flight, 100);
        assert_eq!(takes(&picture(&[full, slow]), 1000, Some(500)), taken, "{flight} in flight");
    }
    let alone = picture(&[(1.0, 40, 400, 0.0, 60, 100)]);
    assert_eq!(
        takes(&alone, 1000, None),
        Some(0),
        "without a deadline the window alone says what the only path takes"
    );
}

/// Behind 200 ms of a TCP's queue nothing is a quarter of 500 ms away: half of it is taken then, 31 packets of 8 ms
/// each beyond the 5 of the bandwidth-delay product, also by a message that has waited for a while.
#[test]
fn behind_queues_that_others_fill_half_of_the_time_is_taken() {
    let both = |flight| picture(&[(1.0, 40, 200, 0.0, flight, 100), (1.0, 60, 200, 0.0, 60, 100)]);
    let mut scheduler = EarliestArrival::default();
    for (flight, left, taken) in [(35, 500, Some(0)), (36, 500, None), (35, 300, Some(0))] {
        let p = both(flight);
        assert_eq!(asked(&mut scheduler, &p, &backlog(1000, Some(left), p.now)), taken, "{flight}, {left}");
    }
}

/// Held until its time is over, a late chunk would make the next one late, and so on for ever.
#[test]
fn what_is_late_everywhere_leaves_before_what_is_not() {
    let far = (6.0, 80, 0, 0.0, 60, 200);
    let farther = (6.0, 120, 0, 0.0, 60, 200);
    assert_eq!(takes(&picture(&[far, farther]), 100_000, Some(5)), Some(0));
}

/// 20 ms of delay and 400 ms in the queue are late within 400 ms: if it were sent all the same, the message would
/// make later ones late.
#[test]
fn what_queues_make_late_on_every_path_is_given_up() {
    let full = (1.0, 40, 400, 0.0, 55, 100);
    let nowhere = |paths: &[Like], left| {
        let p = picture(paths);
        let mut scheduler = EarliestArrival::default();
        scheduler.next(&p.view(), &backlog(100_000, Some(left), p.now))
            == Some(Assignment::nowhere(GiveUp::TooLate))
    };
    assert!(nowhere(&[full], 400) && nowhere(&[full, full], 400));
    assert!(!nowhere(&[full], 600) && !nowhere(&[full, full], 600), "there is time");
    assert!(!nowhere(&[full, FAST], 400), "not on every path");
    let (idle, far) = ((1.0, 40, 400, 0.0, 0, 100), (1.0, 600, 0, 0.0, 55, 100));
    assert!(!nowhere(&[idle], 400), "nothing of ours is in that queue");
    assert!(!nowhere(&[far], 200), "a long way is not a queue: who plays may count from the first arrival");
}

/// 40 packets of 1500 bytes, at 6 Mbit/s 2 ms each, take 78 ms after the first, and 20 ms of way.
#[test]
fn messages_are_judged_as_a_whole_before_they_begin() {
    let full = picture(&[(6.0, 40, 100, 0.0, 70, 200)]);
    let untested = {
        let mut p = picture(&[(6.0, 40, 0, 0.0, 19, 20)]);
        p.paths[0].est = Default::default();
        p
    };
    let nowhere = |p: &Picture, packets: u64, begun, left, life| {
        let mut scheduler = EarliestArrival::default();
        scheduler.next(&p.view(), &backlog(1_000_000, Some(life), p.now));
        let next = Backlog { rest: packets * (MTU - 16), begun, ..backlog(1_000_000, Some(left), p.now) };
        scheduler.next(&p.view(), &next) == Some(Assignment::nowhere(GiveUp::TooLate))
    };
    assert!(!nowhere(&full, 1, false, 160, 160) && nowhere(&full, 40, false, 160, 160));
    assert!(!nowhere(&full, 40, true, 160, 160) && !nowhere(&full, 40, true, 1, 160), "begun");
    // Windows of 20 carry 140 packets more in three round trips of 40 ms, and 300 in four.
    assert!(nowhere(&untested, 302, false, 119, 1000) && !nowhere(&untested, 302, false, 121, 1000));
    assert!(
        nowhere(&untested, 11, false, 19, 1000) && !nowhere(&untested, 11, false, 21, 1000),
        "half a window"
    );
    assert!(!nowhere(&untested, 302, false, 119, 119), "a new message is tried at a rate that was not");
    // Room for 19 of 20 packets: at once, or as they are paced, 1 ms each.
    let mut open = untested;
    open.paths[0].in_flight = MTU;
    assert!(!nowhere(&open, 19, false, 1, 1000));
    open.paths[0].limit.pacing = Some(Rate::from_bps(8e6));
    assert!(nowhere(&open, 19, false, 17, 1000) && !nowhere(&open, 19, false, 18, 1000));
}

#[test]
fn a_path_that_loses_is_worth_less() {
    let lossy = (20.0, 10, 0, 0.2, 0, 100);
    let clean = (20.0, 20, 0, 0.0, 0, 100);
    assert_eq!(takes(&picture(&[lossy, clean]), 1000, Some(500)), Some(1));
    assert_eq!(takes(&picture(&[lossy, clean]), 1000, None), Some(0), "5 + 10/4 ms on average, before 10 ms");
    let worse = (20.0, 10, 0, 0.4, 0, 100);
    assert_eq!(takes(&picture(&[worse, clean]), 1000, None), Some(1), "5 + 10 · 2/3 ms");
}

/// Without a deadline: 5 ms on the fast path, 20 ms on the slow one. The data that the fast one could take in the
/// difference are 37.5 kB.
#[test]
fn a_slow_path_takes_data_only_if_enough_wait() {
    let full = (20.0, 10, 0, 0.0, 20, 20);
    let fast = 10.0 + 4.0;
    assert!(fast < 20.0, "the fast path is the earlier one with its queue");
    assert_eq!(takes(&picture(&[full, SLOW]), 5000, None), None);
    assert_eq!(takes(&picture(&[full, SLOW]), 500_000, None), Some(1));
    assert_eq!(takes(&picture(&[FAST, SLOW]), 500_000, None), Some(0));
}

/// 1 Mbit/s with 100 packets waiting delivers after 780 ms; 20 Mbit/s bring 1.9 MB in that time.
#[test]
fn a_slow_path_takes_nothing_that_the_peers_buffer_would_have_to_wait_for() {
    let slow = (1.0, 40, 760, 0.0, 100, 200);
    for (rwnd, taken) in [(1 << 20, None), (8 << 20, Some(1))] {
        let mut p = picture(&[(20.0, 10, 0, 0.0, 20, 20), slow]);
        p.rwnd = rwnd;
        let mut scheduler = EarliestArrival::default();
        scheduler.on_signal(&p.view(), &Signal::Acked(&ack(0, 1, (1, 1), 20 * MTU)));
        let wanted = backlog(100_000_000, None, p.now);
        assert_eq!(asked(&mut scheduler, &p, &wanted), taken, "a window of {rwnd}");
    }
}

/// A receiver's buffer grows with the round trips of the paths that data come by.
#[test]
fn an_idle_slow_path_takes_two_chunks_whatever_the_peers_buffer() {
    let mut p = picture(&[(20.0, 10, 0, 0.0, 20, 20), (20.0, 300, 0, 0.0, 0, 200)]);
    p.rwnd = 1 << 16;
    let mut scheduler = EarliestArrival::default();
    scheduler.on_signal(&p.view(), &Signal::Acked(&ack(0, 1, (1, 1), 20 * MTU)));
    let wanted = backlog(100_000_000, None, p.now);
    assert_eq!(scheduler.next(&p.view(), &wanted), Some(Assignment::on(PathId(1), 2)));
    p.paths[1].in_flight = 2 * MTU;
    assert_eq!(scheduler.next(&p.view(), &wanted), None);
}

/// srtt + 4 rttvar is 60 ms: after 300 ms without an answer the path counts as 240 ms slower.
#[test]
fn a_silent_path_falls_behind() {
    let mut p = picture(&[(20.0, 10, 0, 0.0, 5, 100), (2.0, 100, 0, 0.0, 0, 100)]);
    let mut scheduler = EarliestArrival::default();
    scheduler.on_signal(&p.view(), &Signal::Acked(&ack(0, 1, (1, 1), 5 * MTU)));
    assert_eq!(asked(&mut scheduler, &p, &backlog(1000, Some(1000), p.now)), Some(0));
    p.now += Duration::from_millis(300);
    assert_eq!(asked(&mut scheduler, &p, &backlog(1000, Some(1000), p.now)), Some(1));
    scheduler.on_signal(&p.view(), &Signal::Acked(&ack(0, 2, (2, 2), 5 * MTU)));
    assert_eq!(asked(&mut scheduler, &p, &backlog(1000, Some(1000), p.now)), Some(0));
}

#[test]
fn a_path_that_was_idle_is_not_silent() {
    let mut p = picture(&[(20.0, 10, 0, 0.0, 0, 100), (2.0, 100, 0, 0.0, 0, 100)]);
    let mut scheduler = EarliestArrival::default();
    scheduler.on_signal(&p.view(), &Signal::Queued);
    p.now += Duration::from_secs(10);
    p.paths[0].in_flight = MTU;
    scheduler.on_signal(&p.view(), &Signal::Sent(&chunk(1, &[0])));
    assert_eq!(asked(&mut scheduler, &p, &backlog(1000, Some(500), p.now)), Some(0));
}

fn like() -> impl Strategy<Value = Like> {
    (0.2..50.0, 1..400u64, 0..2000u64, 0.0..0.3, 0..300u64, 1..300u64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// The rule itself, over paths of any kind: late only if late everywhere.
    #[test]
    fn never_late_on_one_path_while_another_is_in_time(
        paths in prop::collection::vec(like(), 2..6), left in 1..3000u64,
    ) {
        let picture = picture(&paths);
        let mut scheduler = EarliestArrival::default();
        let wanted = backlog(100_000, Some(left), picture.now);
        let left = Duration::from_millis(left).as_secs_f64();
        let forecast = |p: &PathView| Forecast::new(Instant::from_millis(1000), p, MTU, 0.0);
        let in_time = picture.paths.iter().filter(|p| forecast(p).in_time(left)).count();
        match scheduler.next(&picture.view(), &wanted) {
            Some(a) if a.paths.is_empty() => {
                let hopeless = |p: &PathView| p.in_flight > 0 && forecast(p).hopeless(left);
                prop_assert!(picture.paths.iter().all(hopeless));
            }
            Some(a) => {
                let path = &picture.paths[a.paths[0].index()];
                prop_assert!(in_time == 0 || forecast(path).in_time(left), "{:?}: {:?}", path, forecast(path));
                let most = if in_time == 0 { LATE } else { SHARE * left };
                let short = |p: &PathView| p.in_flight == 0 || forecast(p).backlog <= most;
                let held = |p: &PathView| !forecast(p).in_time(left) || !short(p);
                let filled = in_time > 0 && picture.paths.iter().all(held);
                prop_assert!(short(path) || filled && forecast(path).backlog <= FILLED * left);
                prop_assert!(path.has_room());
            }
            None if picture.paths.iter().any(PathView::has_room) => {
                prop_assert!(scheduler.poll_timeout().is_some_and(|t| t > picture.now));
                prop_assert!(picture.paths.iter().any(|p| p.in_flight > 0), "held with nothing in flight");
            }
            None => {}
        }
    }

    /// Bulk data are held only for a path that is busy.
    #[test]
    fn bulk_is_held_only_for_a_busy_path(paths in prop::collection::vec(like(), 2..6), bytes in 1..1_000_000u64) {
        let picture = picture(&paths);
        let mut scheduler = EarliestArrival::default();
        if scheduler.next(&picture.view(), &backlog(bytes, None, picture.now)).is_none()
            && picture.paths.iter().any(PathView::has_room)
        {
            prop_assert!(picture.paths.iter().any(|p| p.in_flight > 0));
            prop_assert!(scheduler.poll_timeout().is_some());
        }
    }
}

#[test]
fn paths_that_nobody_measured_are_used() {
    let mut p = Picture::new(2);
    for path in &mut p.paths {
        (path.srtt, path.min_rtt, path.limit.cwnd) = (None, None, 4 * MTU);
    }
    assert_eq!(takes(&p, 1000, Some(500)), Some(PathId(0).0));
    assert_eq!(takes(&p, 1000, None), Some(0));
}

/// The path was given 0.5 of 8 Mbit/s: no more is measured, but without a queue its window is what it carries. With
/// one it is full.
#[test]
fn a_path_that_was_given_little_is_not_slow() {
    let other = (4.0, 100, 0, 0.0, 0, 40);
    let at_ease = (0.5, 40, 0, 0.0, 4, 40);
    assert_eq!(takes(&picture(&[at_ease, other]), 1000, Some(200)), Some(0));
    let full = (0.5, 40, 60, 0.0, 4, 40);
    assert_eq!(takes(&picture(&[full, other]), 1000, Some(200)), Some(1));
}
