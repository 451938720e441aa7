use strandcast_proto::policy::fixture::Picture;
use strandcast_proto::policy::{Backlog, BlockView, PathId, PathState, Scheduler};
use strandcast_proto::time::Duration;

use super::*;
use crate::estimate::{JITTER, UNRELIABLE};

/// Much is waiting.
pub(crate) const BACKLOG: fn() -> Backlog =
    || Backlog { bytes: 100_000, messages: 10, next_len: 1000, next_expires: None, ..Backlog::default() };

/// Three paths with windows of 4, 2 and 3 packets and 50, 20 and 80 ms.
fn picture() -> Picture {
    let mut picture = Picture::new(3);
    for (p, (packets, ms)) in picture.paths.iter_mut().zip([(4, 50), (2, 20), (3, 80)]) {
        p.limit.cwnd = packets * 1000;
        p.srtt = Some(Duration::from_millis(ms));
    }
    picture
}

/// A closed block of `sources` source symbols, none of which was sent.
pub(crate) fn block(number: u32, sources: u16) -> BlockView {
    BlockView {
        number,
        sources,
        closed: true,
        rank: 0,
        sources_sent: 0,
        repairs_sent: 0,
        in_flight: Default::default(),
    }
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
    assert_eq!(
        fill(&mut RoundRobin::default(), &mut p).concat(),
        [0, 0, 2],
        "the turn continues after path 2"
    );
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

/// Paths with windows of 4, 2 and 3 packets, these loss rates, jitters and conditions.
fn lossy(says: [(f64, f64, bool); 3]) -> Picture {
    let mut picture = picture();
    for (p, (loss, jitter, unreliable)) in picture.paths.iter_mut().zip(says) {
        p.est.loss = Some(loss);
        p.est.set_extra(JITTER, jitter);
        p.est.set_extra(UNRELIABLE, f64::from(u8::from(unreliable)));
    }
    picture
}

/// `liu2019`, Algorithm 2, steps 2, 3 and 5, lines 1-8 and 13-15: ascending loss rate, the next path when a window is
/// full.
#[test]
fn loss_ordered_fills_the_least_lossy_path_first() {
    let mut p = lossy([(0.05, 0.0, false), (0.12, -1.0, false), (0.01, 1.0, false)]);
    let mut scheduler = LossOrdered::default();
    assert_eq!(fill(&mut scheduler, &mut p).concat(), [2, 2, 2, 0, 0, 0, 0, 1, 1]);
    p.paths[2].in_flight = 2000;
    p.paths[1].in_flight = 0;
    assert_eq!(fill(&mut scheduler, &mut p).concat(), [2, 1, 1]);
    assert_eq!(scheduler.next(&p.view(), &BACKLOG()), None, "all windows are full");
}

/// `liu2019`, Algorithm 2, step 4, lines 9-12; within 1 % loss rates are equal.
#[test]
fn equal_loss_rates_are_ordered_by_jitter_then_round_trip_time() {
    let mut scheduler = LossOrdered::default();
    let mut order = |says| fill(&mut scheduler, &mut lossy(says)).concat();
    let same = 0.05;
    assert_eq!(
        order([(same, 0.2, false), (same, 0.3, true), (same, -0.1, false)]),
        [2, 2, 2, 0, 0, 0, 0, 1, 1]
    );
    assert_eq!(order([(same, 0.0, false); 3]), [1, 1, 0, 0, 0, 0, 2, 2, 2], "20, 50, 80 ms");
    assert_eq!(order([(0.0500, 0.3, false), (0.0504, 0.2, false), (0.0506, 0.1, false)])[..4], [1, 1, 0, 0]);
    let mut exact = LossOrdered { tie: 0.0, ..LossOrdered::default() };
    let mut p = lossy([(0.0500, 0.3, false), (0.0504, 0.2, false), (0.0506, 0.1, false)]);
    assert_eq!(fill(&mut exact, &mut p).concat(), [0, 0, 0, 0, 1, 1, 2, 2, 2]);
}

#[test]
fn unreliable_paths_come_last_only_when_asked() {
    let says = [(0.01, 0.5, true), (0.05, 0.0, false), (0.12, 0.0, false)];
    assert_eq!(fill(&mut LossOrdered::default(), &mut lossy(says)).concat(), [0, 0, 0, 0, 1, 1, 2, 2, 2]);
    let mut wary = LossOrdered { demote_unreliable: true, ..LossOrdered::default() };
    assert_eq!(fill(&mut wary, &mut lossy(says)).concat(), [1, 1, 2, 2, 2, 0, 0, 0, 0]);
    let all = [(0.12, 0.5, true), (0.05, 0.5, true), (0.01, 0.5, true)];
    assert_eq!(fill(&mut wary, &mut lossy(all)).concat(), [2, 2, 2, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn paths_without_a_loss_rate_come_last() {
    let mut p = lossy([(0.0, 0.0, false), (0.9, 0.0, false), (0.5, 0.0, false)]);
    p.paths[0].est = Default::default();
    assert_eq!(fill(&mut LossOrdered::default(), &mut p).concat(), [2, 2, 2, 1, 1, 0, 0, 0, 0]);
    let mut unknown = picture();
    let order = fill(&mut LossOrdered::default(), &mut unknown).concat();
    assert_eq!(order, [1, 1, 0, 0, 0, 0, 2, 2, 2], "nothing is known: lowest round-trip time");
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
    let schedulers: [Box<dyn Scheduler>; 10] = [
        Box::new(RoundRobin::default()),
        Box::new(RoundRobin::new(Turn::Packet)),
        Box::new(LowestRtt),
        Box::new(LossOrdered::default()),
        Box::new(Redundant::new(16)),
        Box::new(Ecf::new(EcfConfig::default())),
        Box::new(Blest::new(BlestConfig::default())),
        Box::new(Daps::new(DapsConfig::default())),
        Box::new(Linux::new(LinuxConfig::default())),
        Box::new(Widest::new(WidestConfig::default())),
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
