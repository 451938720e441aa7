use strandcast_proto::policy::fixture::{MTU, Picture};
use strandcast_proto::policy::{PathId, PathSet};

use super::super::LowestRtt;
use super::*;

/// Waiting data, in packets.
fn waiting(packets: u64) -> Backlog {
    Backlog {
        bytes: packets * MTU,
        messages: 1,
        next_len: MTU,
        next_expires: None,
        retransmission: false,
        tried: PathSet::default(),
        ..Backlog::default()
    }
}

/// Two paths with windows of 10 packets; that of the first, with 10 ms, is full. Deviations are 1 and 2 ms.
fn picture(slow_ms: u64) -> Picture {
    let mut picture = Picture::new(2);
    for (p, (rtt, deviation)) in picture.paths.iter_mut().zip([(10, 1), (slow_ms, 2)]) {
        (p.srtt, p.rttvar) = (Some(Duration::from_millis(rtt)), Duration::from_millis(deviation));
        p.limit.cwnd = 10 * MTU;
    }
    picture.paths[0].in_flight = 10 * MTU;
    picture
}

/// One mean deviation, and no least one: δ = 2 ms.
fn paper() -> Ecf {
    Ecf::new(EcfConfig { ecf_deviation: 1.0, ecf_floor: Duration::ZERO, ..EcfConfig::default() })
}

fn takes(scheduler: &mut dyn Scheduler, picture: &Picture, packets: u64) -> Option<u8> {
    scheduler.next(&picture.view(), &waiting(packets)).map(|a| a.paths[0].0)
}

/// 10 · (k + 10) < 10 · (40 + 2) is k < 32. The second rule, 40 · max(k, 10) ≥ 10 · (20 + 2), holds for every k.
#[test]
fn waits_for_the_fast_path_where_the_slow_one_would_finish_later() {
    let picture = picture(40);
    for (k, chosen) in [(1, None), (10, None), (31, None), (32, Some(1)), (500, Some(1))] {
        assert_eq!(takes(&mut paper(), &picture, k), chosen, "{k} packets wait");
        assert_eq!(takes(&mut LowestRtt, &picture, k), Some(1), "lowest-rtt never waits");
    }
}

/// While it waits, 10 · (k + 10) < 1.25 · 420 is k < 42.5; once a chunk went to the slow path k < 32 counts again.
#[test]
fn hysteresis_keeps_a_sender_waiting() {
    let (picture, mut ecf) = (picture(40), paper());
    let asked = [(32, Some(1)), (31, None), (42, None), (43, Some(1)), (42, Some(1)), (31, None)];
    for (k, chosen) in asked {
        assert_eq!(takes(&mut ecf, &picture, k), chosen, "{k} packets wait");
    }
}

/// Round-trip times of 10 and 20 ms. The first rule, 10 · (max(k, 10) + 10) < 10 · 22, is k < 12; the second,
/// 20 · max(k, 10) ≥ 10 · 22, is k ≥ 11. Where only the first holds, the sender continues to wait: 1.25 · 220 is k <
/// 17.5.
#[test]
fn a_slow_path_that_is_worth_two_round_trips_is_used() {
    let (picture, mut ecf) = (picture(20), paper());
    let asked = [
        (10, Some(1)),
        (12, Some(1)),
        (11, None),
        (10, Some(1)),
        (12, None),
        (17, None),
        (18, Some(1)),
        (12, Some(1)),
    ];
    for (k, chosen) in asked {
        assert_eq!(takes(&mut ecf, &picture, k), chosen, "{k} packets wait");
    }
}

/// The kernel's deviation is 100 ms at least: 10 · (k + 10) < 10 · 140 is k < 130, and 40 · k ≥ 10 · 120 is k ≥ 30. It
/// is two mean deviations, 120 ms here: k < 150 and k ≥ 35.
#[test]
fn deviations_are_those_of_the_kernel() {
    let mut picture = picture(40);
    let chosen = |picture: &Picture, k| takes(&mut Ecf::new(EcfConfig::default()), picture, k);
    assert_eq!([29, 30, 129, 130].map(|k| chosen(&picture, k)), [Some(1), None, None, Some(1)]);
    picture.paths[1].rttvar = Duration::from_millis(60);
    assert_eq!([34, 35, 149, 150].map(|k| chosen(&picture, k)), [Some(1), None, None, Some(1)]);
}

/// The fast path while it has room; a path that has not carried the chunk before one that has; no comparison without a
/// round-trip time.
#[test]
fn begins_with_the_default_schedulers_choice() {
    let mut picture = picture(40);
    picture.paths[0].in_flight = 9 * MTU;
    assert_eq!(takes(&mut paper(), &picture, 5), Some(0));
    let lost = Backlog { retransmission: true, tried: PathSet::one(PathId(0)), ..waiting(5) };
    let again = paper().next(&picture.view(), &lost).map(|a| a.paths[0]);
    assert_eq!(again, Some(PathId(1)));
    picture.paths[0].blocked = true;
    let again = paper().next(&picture.view(), &lost).map(|a| a.paths[0]);
    assert_eq!(again, Some(PathId(1)), "the path that lost it is not waited for");
    (picture.paths[0].blocked, picture.paths[0].in_flight) = (false, 10 * MTU);
    picture.paths[1].srtt = None;
    assert_eq!(takes(&mut paper(), &picture, 5), Some(1));
}
