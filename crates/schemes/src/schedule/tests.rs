use strandcast_proto::policy::contract::fixture::Picture;
use strandcast_proto::policy::{Backlog, PathId, PathSet, PathState, Scheduler};
use strandcast_proto::time::Duration;

use super::*;

const BACKLOG: fn() -> Backlog = || Backlog {
    bytes: 100_000,
    messages: 10,
    next_len: 1000,
    next_expires: None,
    retransmission: false,
    tried: PathSet::default(),
};

/// Three paths with windows of 4, 2 and 3 packets and 50, 20 and 80 ms.
fn picture() -> Picture {
    let mut picture = Picture::new(3);
    for (p, (packets, ms)) in picture.paths.iter_mut().zip([(4, 50), (2, 20), (3, 80)]) {
        p.limit.cwnd = packets * 1000;
        p.srtt = Some(Duration::from_millis(ms));
    }
    picture
}

/// Paths of the packets that leave until all windows are full or nothing is assigned.
fn fill(scheduler: &mut dyn Scheduler, picture: &mut Picture) -> Vec<Vec<u8>> {
    let mut order = Vec::new();
    while let Some(a) = scheduler.next(&picture.view(), &BACKLOG()) {
        for _ in 0..a.chunks {
            let admitted: Vec<PathId> =
                a.paths.iter().copied().filter(|p| picture.paths[p.index()].has_room()).collect();
            let Some(first) = admitted.first() else { break };
            picture.last_path_used = Some(*first);
            admitted.iter().for_each(|p| picture.paths[p.index()].in_flight += 1000);
            order.push(admitted.iter().map(|p| p.0).collect());
        }
    }
    order
}

#[test]
fn round_robin_fills_one_window_after_another() {
    let mut p = picture();
    let order: Vec<u8> = fill(&mut RoundRobin::default(), &mut p).concat();
    assert_eq!(order, [0, 0, 0, 0, 1, 1, 2, 2, 2]);
    p.paths[0].in_flight = 2000;
    p.paths[2].in_flight = 2000;
    assert_eq!(fill(&mut RoundRobin::default(), &mut p).concat(), [0, 0, 2], "the turn goes on after path 2");
}

#[test]
fn round_robin_by_packet_alternates() {
    let order: Vec<u8> = fill(&mut RoundRobin::new(Turn::Packet), &mut picture()).concat();
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 2, 0]);
}

#[test]
fn lowest_rtt_comes_first_and_unmeasured_paths_last() {
    let mut p = picture();
    p.paths[0].srtt = None;
    assert_eq!(fill(&mut LowestRtt, &mut p).concat(), [1, 1, 2, 2, 2, 0, 0, 0, 0]);
}

#[test]
fn redundant_sends_on_every_path_with_room() {
    let order = fill(&mut Redundant::new(16), &mut picture());
    assert_eq!(order, [vec![1, 0, 2], vec![1, 0, 2], vec![0, 2], vec![0]]);
    let order = fill(&mut Redundant::new(2), &mut picture());
    assert_eq!(order, [vec![1, 0], vec![1, 0], vec![0, 2], vec![0, 2], vec![2]]);
}

#[test]
fn failed_paths_are_used_only_when_nothing_else_is_left() {
    let schedulers: [Box<dyn Scheduler>; 4] = [
        Box::new(RoundRobin::default()),
        Box::new(RoundRobin::new(Turn::Packet)),
        Box::new(LowestRtt),
        Box::new(Redundant::new(16)),
    ];
    for mut scheduler in schedulers {
        let mut p = picture();
        p.paths[1].state = PathState::PotentiallyFailed;
        p.paths[2].state = PathState::Inactive;
        assert_eq!(fill(scheduler.as_mut(), &mut p).concat(), [0; 4]);
        p.paths[0].state = PathState::Suspended;
        assert_eq!(fill(scheduler.as_mut(), &mut p).concat(), [1; 2]);
        p.paths[1].state = PathState::Closed;
        assert_eq!(fill(scheduler.as_mut(), &mut p).concat(), [2; 3]);
        p.paths[2].state = PathState::Closed;
        assert!(fill(scheduler.as_mut(), &mut p).is_empty());
    }
}
