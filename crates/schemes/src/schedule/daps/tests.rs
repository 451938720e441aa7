use strandcast_proto::policy::fixture::{MTU, Picture};

use super::super::LowestRtt;
use super::*;

fn waiting() -> Backlog {
    Backlog {
        bytes: 500 * MTU,
        messages: 1,
        next_len: MTU,
        next_expires: None,
        retransmission: false,
        tried: PathSet::default(),
        ..Backlog::default()
    }
}

/// Paths with these round-trip times in ms and windows in packets, with room for all data.
fn picture(paths: &[(u64, u64)]) -> Picture {
    let mut picture = Picture::new(paths.len() as u8);
    for (p, (rtt, window)) in picture.paths.iter_mut().zip(paths) {
        p.srtt = Some(Duration::from_millis(*rtt));
        p.limit.cwnd = window * MTU;
    }
    picture
}

fn daps() -> Daps {
    Daps::new(DapsConfig::default())
}

fn takes(scheduler: &mut dyn Scheduler, picture: &Picture) -> Option<u8> {
    scheduler.next(&picture.view(), &waiting()).map(|a| a.paths[0].0)
}

/// The paths of the first `count` numbers.
fn plan(picture: &Picture, count: usize) -> Vec<u8> {
    let mut daps = daps();
    (0..count).map(|_| takes(&mut daps, picture).expect("there is room")).collect()
}

/// The paths as runs: (path, numbers in a row).
fn runs(plan: &[u8]) -> Vec<(u8, usize)> {
    plan.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

/// The numbers in the order in which they arrive if every path sends its own without a pause, a window per forward
/// delay: the first window arrives after one delay, the second after two.
fn arrivals(plan: &[u8], paths: &[(u64, u64)]) -> Vec<usize> {
    let mut sent = vec![0; paths.len()];
    let mut arrivals: Vec<(u64, u64, usize)> = Vec::new();
    for (number, path) in plan.iter().enumerate() {
        let ((rtt, window), sent) = (paths[usize::from(*path)], &mut sent[usize::from(*path)]);
        arrivals.push((rtt / 2 * (*sent / window + 1), rtt, number));
        *sent += 1;
    }
    arrivals.sort_unstable();
    arrivals.into_iter().map(|(_, _, number)| number).collect()
}

/// Round-trip times 1 : 4: four windows of the fast path, then one of the slow one. In the paper's model, where both
/// send at once, the numbers arrive in order; those of paths that take turns by packets do not.
#[test]
fn numbers_arrive_in_order_at_a_ratio_of_one_to_four() {
    let paths = [(20, 5), (80, 3)];
    let picture = picture(&paths);
    let numbers = plan(&picture, 46);
    assert_eq!(runs(&numbers), [(0, 20), (1, 3), (0, 20), (1, 3)]);
    assert!(arrivals(&numbers, &paths).is_sorted());
    let in_turn: Vec<u8> = (0..46).map(|n| n % 2).collect();
    assert!(!arrivals(&in_turn, &paths).is_sorted(), "the model can tell");
    let mut lowest = LowestRtt;
    assert!((0..46).all(|_| takes(&mut lowest, &picture) == Some(0)), "lowest-rtt has no plan");
}

/// Delays 2 : 3: at 2 the first path, at 3 the second, at 4 the first, at 6, the least common multiple, both. Three
/// paths with delays 1 : 2 : 4 as well.
#[test]
fn the_plan_is_that_of_the_least_common_multiple() {
    let paths = [(40, 2), (60, 2)];
    let numbers = plan(&picture(&paths), 20);
    assert_eq!(runs(&numbers), [(0, 2), (1, 2), (0, 4), (1, 2), (0, 2), (1, 2), (0, 4), (1, 2)]);
    assert!(arrivals(&numbers, &paths).is_sorted());
    let paths = [(80, 1), (20, 1), (40, 1)];
    let numbers = plan(&picture(&paths), 14);
    assert_eq!(numbers, [1, 1, 2, 1, 1, 2, 0, 1, 1, 2, 1, 1, 2, 0]);
    assert!(arrivals(&numbers, &paths).is_sorted());
}

/// With 20 ms a full path has room within 20 ms and delivers 10 ms later: worth waiting for if the other path has 80
/// or 60 ms, not with 50.
#[test]
fn waits_for_a_path_that_is_three_times_as_fast() {
    for (other, chosen) in [(80, None), (60, None), (50, Some(1))] {
        let mut picture = picture(&[(20, 4), (other, 4)]);
        picture.paths[0].in_flight = 4 * MTU;
        assert_eq!(takes(&mut daps(), &picture), chosen, "{other} ms");
        assert_eq!(takes(&mut LowestRtt, &picture), Some(1));
    }
}

#[test]
fn never_waits_for_a_slower_path() {
    let mut picture = picture(&[(20, 1), (80, 4)]);
    let mut daps = daps();
    for _ in 0..4 {
        assert_eq!(takes(&mut daps, &picture), Some(0));
    }
    assert_eq!(takes(&mut daps, &picture), Some(1));
    picture.paths[1].in_flight = 4 * MTU;
    let next: Vec<_> = (0..8).map(|_| takes(&mut daps, &picture)).collect();
    assert_eq!(next, [Some(0); 8], "its turns pass");
}

/// A path that does not answer has no turns while others do; a lost chunk is in no plan.
#[test]
fn suspect_paths_and_lost_chunks() {
    let mut suspects = picture(&[(20, 2), (80, 2)]);
    suspects.paths[0].error_count = 1;
    suspects.paths[0].in_flight = 2 * MTU;
    assert_eq!(takes(&mut daps(), &suspects), Some(1));
    suspects.paths[1].in_flight = 2 * MTU;
    suspects.paths[0].in_flight = 0;
    assert_eq!(takes(&mut daps(), &suspects), None, "the sound one will have room");
    suspects.paths[1].error_count = 1;
    assert_eq!(takes(&mut daps(), &suspects), Some(0), "all are suspect");
    let lost = Backlog { retransmission: true, tried: PathSet::one(PathId(0)), ..waiting() };
    let again = daps().next(&picture(&[(20, 2), (80, 2)]).view(), &lost).map(|a| a.paths[0]);
    assert_eq!(again, Some(PathId(1)));
}
