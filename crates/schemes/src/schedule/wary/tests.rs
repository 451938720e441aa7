use strandcast_proto::policy::fixture::{MTU, Picture, chunk};
use strandcast_proto::units::Rate;

use super::*;
use crate::estimate::Verdict;

/// A path of 8 Mbit/s and 20 ms and one of `mbps` and `least_ms`; both empty.
fn picture(mbps: f64, least_ms: u64) -> Picture {
    let mut picture = Picture::new(2);
    for (p, (mbps, least)) in picture.paths.iter_mut().zip([(8.0, 20), (mbps, least_ms)]) {
        p.est.delivery_rate = Some(Rate::from_bps(mbps * 1e6));
        p.est.tested = Some(Instant::from_millis(1000));
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
    WaryConfig::default().build().next(&later.view(), &backlog)
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
    let mut metered = p.clone();
    metered.paths[1].tariff.class = METERED;
    assert_eq!(takes(&metered, 25, Some(500), false), [0]);
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

/// Probes take at most every third chunk: a stream of a chunk every 50 ms stays on the quicker path.
#[test]
fn a_thin_stream_does_not_go_by_the_slower_path() {
    let mut p = picture(8.0, 60);
    let mut scheduler = WaryConfig::default().build();
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

/// The quickest path takes 10 ms, by which the player may have begun to count; the other one takes 60 ms.
#[test]
fn what_no_path_brings_in_time_makes_way() {
    let mut p = picture(8.0, 120);
    Verdict::Dead.write(&mut p.paths[0].est);
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

/// A quick path is full, a slow one is free: a message that has become too late for the slow one is given up if more
/// comes than the quick one carries, and waits if not.
#[test]
fn what_is_too_late_for_the_free_path_gives_way() {
    let mut p = picture(8.0, 400);
    p.paths[0].in_flight = p.paths[0].limit.cwnd;
    let mut wary = WaryConfig { data_probe: Duration::ZERO, ..WaryConfig::default() }.build();
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
    p.paths[0].est.queue = Some(0.4);
    p.paths[0].in_flight = p.paths[0].limit.cwnd - MTU;
    for rest in [MTU, 10 * MTU] {
        let next_expires = Some(p.now + Duration::from_millis(300));
        let backlog =
            Backlog { bytes: rest, messages: 1, next_len: MTU, rest, next_expires, ..Backlog::default() };
        let late = Some(Assignment::nowhere(GiveUp::TooLate));
        assert_eq!(WaryConfig::default().build().next(&p.view(), &backlog), late, "{rest} bytes");
    }
}

/// Path 0 stalls. Path 1 has a second of queue, of which `own_ms` are this sender's. A message waits for path 0 unless
///
/// * path 0 is dead,
/// * the message has too little time left for path 0, or
/// * path 1 would run empty, although new messages would still be in time there.
#[test]
fn what_is_late_elsewhere_waits_for_a_path_that_stalls() {
    let after = |verdict: Verdict, life_ms: u64, left_ms: u64, own_ms: u64, room: u64| {
        let mut p = picture(1.0, 60);
        let mut wary = WaryConfig { data_probe: Duration::ZERO, ..WaryConfig::default() }.build();
        let backlog = |left_ms| Backlog {
            bytes: 10_000,
            messages: 10,
            next_len: MTU,
            next_expires: Some(p.now + Duration::from_millis(left_ms)),
            ..Backlog::default()
        };
        let (new, next) = (backlog(life_ms), backlog(left_ms));
        wary.next(&p.view(), &new).expect("room");
        verdict.write(&mut p.paths[0].est);
        // 125 kB in a second, of which 60 ms are in transit.
        p.paths[1].in_flight = 125 * (60 + own_ms);
        p.paths[1].limit.cwnd = p.paths[1].in_flight + room;
        p.paths[1].est.queue = Some(1.0);
        wary.next(&p.view(), &next).map(|a| a.paths.len())
    };
    let (given_up, waits) = (Some(0), None);
    for verdict in [Verdict::Stalled, Verdict::Silent] {
        assert_eq!(after(verdict, 500, 500, 940, 125_000), waits);
        assert_eq!(after(verdict, 500, 11, 940, 125_000), waits, "a way of 10 ms");
        assert_eq!(after(verdict, 500, 10, 940, 125_000), given_up);
        assert_eq!(
            after(verdict, 2000, 500, 940, 125_000),
            waits,
            "the other path has enough to carry meanwhile"
        );
        assert_eq!(after(verdict, 2000, 500, 0, 0), waits, "it has no room");
        assert_eq!(after(verdict, 2000, 500, 10, 125_000), waits, "busy until asked again");
        assert_eq!(after(verdict, 2000, 500, 0, 125_000), given_up, "it would stand in the way of new ones");
    }
    assert_eq!(after(Verdict::Dead, 500, 500, 940, 125_000), given_up);
}
