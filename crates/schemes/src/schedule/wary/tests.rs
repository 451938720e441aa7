use strandcast_proto::policy::fixture::{MTU, Picture, chunk};
use strandcast_proto::units::Rate;

use super::*;
use crate::estimate::Verdict;

/// 8 Mbit/s and 20 ms beside one of `mbps` and `least_ms`; both empty.
fn picture(mbps: f64, least_ms: u64) -> Picture {
    let mut picture = Picture::new(2);
    for (p, (mbps, least)) in picture.paths.iter_mut().zip([(8.0, 20), (mbps, least_ms)]) {
        p.est.delivery_rate = Some(Rate::from_bps(mbps * 1e6));
        crate::estimate::set_tested(&mut p.est, Instant::from_millis(1000));
        // As much as the rate allows: an empty path is taken for what its window is.
        p.limit.cwnd = (mbps * 125.0 * least as f64) as u64;
        p.est.reference_rtt = Some(Duration::from_millis(least));
        (p.srtt, p.min_rtt) = (p.est.reference_rtt, p.est.reference_rtt);
        p.last_sent = Some(picture.now);
    }
    picture
}

/// The paths of the next chunk, `since_ms` after both carried one, `left_ms` before it is worthless.
fn takes(picture: &Picture, since_ms: u64, left_ms: Option<u64>, retransmission: bool) -> Vec<u8> {
    let assignment = next(picture, since_ms, left_ms, retransmission);
    assignment.map_or(Vec::new(), |a| a.paths.iter().map(|p| p.0).collect())
}

/// The answer on it.
fn next(picture: &Picture, since_ms: u64, left_ms: Option<u64>, retransmission: bool) -> Option<Assignment> {
    let mut later = picture.clone();
    later.now += Duration::from_millis(since_ms);
    let backlog = Backlog {
        bytes: 10_000,
        messages: 10,
        next_len: MTU,
        next_expires: left_ms.map(|ms| later.now + Duration::from_millis(ms)),
        retransmission,
        ..Backlog::default()
    };
    let config = WaryConfig { rotation: Duration::ZERO, ..WaryConfig::default() };
    config.build().next(&later.view(), &backlog)
}

#[test]
fn slower_paths_carry_data_probes_too() {
    let mut p = picture(8.0, 60);
    p.paths[0].last_sent = Some(p.now + Duration::from_millis(100));
    assert_eq!(takes(&p, 24, Some(500), false), [0]);
    assert_eq!(takes(&p, 25, Some(500), false), [1]);
    assert_eq!(takes(&p, 25, Some(500), true), [0], "what was lost goes the best way");
    assert_eq!(takes(&p, 25, Some(85), false), [0], "30 ms, and 60 more if it is lost, are too many");
    assert_eq!(takes(&p, 25, None, false), [0], "no deadline");
    p.peer_reports = false;
    assert_eq!(takes(&p, 25, Some(500), false), [0], "none would tell what arrives");
}

#[test]
fn a_path_that_loses_nothing_carries_data_probes_that_have_one_try() {
    let mut p = picture(8.0, 60);
    p.paths[0].last_sent = Some(p.now + Duration::from_millis(100));
    assert_eq!(takes(&p, 49, Some(85), false), [0], "30 ms, and 60 more if it is lost, are too many");
    assert_eq!(takes(&p, 50, Some(85), false), [1]);
    assert_eq!(takes(&p, 50, Some(25), false), [0], "late as it is");
    p.paths[1].est.loss = Some(0.002);
    assert_eq!(takes(&p, 50, Some(85), false), [0]);
}

/// Every third chunk at the most: a stream of a chunk each 50 ms stays on the quicker path.
#[test]
fn a_thin_stream_does_not_go_by_the_slower_path() {
    let mut p = picture(8.0, 60);
    let mut scheduler = WaryConfig { rotation: Duration::ZERO, ..WaryConfig::default() }.build();
    let mut taken = Vec::new();
    for _ in 0..8 {
        p.now += Duration::from_millis(50);
        let next_expires = Some(p.now + Duration::from_millis(85));
        let backlog = Backlog { bytes: MTU, messages: 1, next_len: MTU, next_expires, ..Backlog::default() };
        let path = scheduler.next(&p.view(), &backlog).expect("one of them").paths[0];
        p.paths[path.index()].last_sent = Some(p.now);
        scheduler.on_signal(&p.view(), &Signal::Sent(&chunk(1, &[path.0])));
        taken.push(path.0);
    }
    assert_eq!(taken, [0, 1, 0, 0, 1, 0, 0, 1]);
}

/// 10 ms are the quickest way there is, by which the player may have begun to count; the other one takes 60 ms.
#[test]
fn what_no_path_brings_in_time_makes_way() {
    let mut p = picture(8.0, 120);
    Verdict::Silent.write(&mut p.paths[0].est);
    assert_eq!(takes(&p, 0, Some(70), false), [1], "in time");
    assert_eq!(takes(&p, 0, Some(55), false), [1], "if the player began 10 ms later");
    let too_far = Some(Assignment::nowhere(GiveUp::TooFar));
    assert_eq!([false, true].map(|again| next(&p, 0, Some(45), again)), [too_far.clone(), too_far], "never");
    p.paths[1].srtt = None;
    assert_eq!(takes(&p, 0, Some(45), false), [1], "nothing is known of it");
    assert!(!pointless(&p.view(), &Choices::new(), 0.01), "no path may take it now");
}

#[test]
fn data_probes_take_half_of_a_window() {
    let mut p = picture(8.0, 60);
    p.paths[0].last_sent = Some(p.now + Duration::from_millis(200));
    p.paths[1].limit.cwnd = 10 * MTU;
    for (in_flight, taken) in [(4, 1), (5, 0)] {
        p.paths[1].in_flight = in_flight * MTU;
        assert_eq!(takes(&p, 25, Some(500), false), [taken], "{in_flight} in flight");
    }
    p.paths[1].limit.cwnd = MTU;
    p.paths[1].in_flight = 0;
    assert_eq!(takes(&p, 25, Some(500), false), [1], "one at least");
}

#[test]
fn suspected_paths_take_nothing() {
    let mut p = picture(8.0, 60);
    Verdict::Stalled.write(&mut p.paths[0].est);
    assert_eq!(takes(&p, 0, Some(500), false), [1]);
    Verdict::Silent.write(&mut p.paths[1].est);
    assert_eq!(takes(&p, 0, Some(500), false), [0], "no path is better");
    assert_eq!(takes(&p, 0, None, false), [0]);
}

/// 10 ms there, and 20 ms until a second one would leave: no time for it within 30 ms.
#[test]
fn the_last_round_is_doubled() {
    let p = picture(8.0, 30);
    assert_eq!(takes(&p, 0, Some(35), true), [0], "a second round fits");
    assert_eq!(takes(&p, 0, Some(28), true), [0, 1]);
    assert_eq!(takes(&p, 0, Some(28), false), [0], "not for what is new");
    assert_eq!(takes(&p, 0, Some(14), true), [0], "the other comes too late");
}

/// Which path takes a chunk each 10 ms from the first second on, the first second's left out.
fn over_time(config: WaryConfig, p: &mut Picture, chunks: usize) -> Vec<u8> {
    let mut scheduler = config.build();
    let backlog = |now| Backlog {
        bytes: 10_000,
        messages: 10,
        next_len: MTU,
        next_expires: Some(now + Duration::from_millis(500)),
        ..Backlog::default()
    };
    let take = |_| {
        p.now += Duration::from_millis(10);
        let path = scheduler.next(&p.view(), &backlog(p.now)).expect("room").paths[0];
        p.paths[path.index()].last_sent = Some(p.now);
        path.0
    };
    (0..chunks).map(take).collect()
}

#[test]
fn paths_take_turns_of_a_round_trip() {
    let config = WaryConfig { data_probe: Duration::ZERO, ..WaryConfig::default() };
    let taken = over_time(config, &mut picture(8.0, 60), 300);
    let slower = |range: core::ops::Range<usize>| taken[range].iter().filter(|p| **p == 1).count();
    assert_eq!([slower(0..100), slower(100..200), slower(200..300)], [0, 6, 0], "60 ms each other second");
    let mut metered = picture(8.0, 60);
    metered.paths[1].tariff.class = METERED;
    assert_eq!(over_time(WaryConfig::default(), &mut metered, 300), [0; 300]);
}

/// A quick path is full, a slow one is free: a message that has become too late for the slow one is given up if more comes than
/// the quick one carries, and waits if not.
#[test]
fn what_is_too_late_for_the_free_path_gives_way() {
    let mut p = picture(8.0, 400);
    p.paths[0].in_flight = p.paths[0].limit.cwnd;
    let mut wary =
        WaryConfig { rotation: Duration::ZERO, data_probe: Duration::ZERO, ..WaryConfig::default() }.build();
    let mut next = |left_ms: u64, bytes: u64, retransmission: bool| {
        let next_expires = Some(p.now + Duration::from_millis(left_ms));
        let (messages, next_len) = (10, MTU);
        let backlog =
            Backlog { bytes, messages, next_len, next_expires, retransmission, ..Backlog::default() };
        wary.next(&p.view(), &backlog)
    };
    assert_eq!(next(500, MTU, false).map(|a| a.paths.to_vec()), Some(vec![PathId(1)]), "in time there");
    // 400 ms at 8 Mbit/s are 400 kB.
    assert_eq!(next(100, 300_000, false), None, "the quick path carries what comes");
    assert_eq!(next(100, 500_000, true), None, "lost before");
    let makes_way = Some(Assignment::nowhere(GiveUp::MakesWay));
    assert_eq!(next(100, 500_000, false), makes_way, "it does not");
}

/// 400 ms of queue on the only path, for a message of one packet and for one of ten.
#[test]
fn what_is_late_behind_a_queue_says_so() {
    let mut p = picture(8.0, 20);
    p.paths.truncate(1);
    p.paths[0].est.set_extra(crate::estimate::QUEUE, 0.4);
    p.paths[0].in_flight = p.paths[0].limit.cwnd - MTU;
    for rest in [MTU, 10 * MTU] {
        let next_expires = Some(p.now + Duration::from_millis(300));
        let backlog =
            Backlog { bytes: rest, messages: 1, next_len: MTU, rest, next_expires, ..Backlog::default() };
        let late = Some(Assignment::nowhere(GiveUp::TooLate));
        assert_eq!(WaryConfig::default().build().next(&p.view(), &backlog), late, "{rest} bytes");
    }
}
