use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{LossCause, PathState, Symbol, Transmission};
use strandcast_proto::time::Instant;

use super::*;
use crate::schedule::tests::{BACKLOG, block};

/// Paths with these round-trip times in ms and room for 100 packets; `blocks` closed blocks of 16.
fn picture(rtts: &[u64], blocks: u32) -> Picture {
    let mut picture = Picture::new(rtts.len() as u8);
    for (path, ms) in picture.paths.iter_mut().zip(rtts) {
        path.limit.cwnd = 100 * MTU;
        path.srtt = Some(Duration::from_millis(*ms));
    }
    picture.blocks = (0..blocks).map(|number| block(number, 16)).collect();
    picture
}

fn scheduler() -> NcMptcp {
    NcMptcp::new(NcMptcpConfig::default())
}

/// Passes an acknowledgement every 10 ms until `ms` milliseconds have passed.
fn pass(nc: &mut NcMptcp, picture: &mut Picture, ms: u64) {
    for _ in 0..ms / 10 {
        picture.now += Duration::from_millis(10);
        nc.on_signal(&picture.view(), &Signal::Acked(&ack(0, 0, (0, 0), MTU)));
    }
}

fn regular(nc: &NcMptcp, picture: &Picture) -> Vec<bool> {
    let view = picture.view();
    picture.paths.iter().map(|p| nc.classes.regular(&view, p.id)).collect()
}

/// One whose paths are classified: two looks, ten of the longest round-trip time apart each.
fn classified(picture: &mut Picture) -> NcMptcp {
    let mut nc = scheduler();
    let longest = picture.paths.iter().filter_map(|p| p.srtt).max().expect("measured").as_millis() as u64;
    pass(&mut nc, picture, 20 * longest + 20);
    nc
}

/// Carries the assignment out.
fn leave(nc: &mut NcMptcp, picture: &mut Picture, next: SymbolAssignment, tsn: u32) -> ChunkInfo {
    let block = picture.blocks.iter_mut().find(|b| b.number == next.block).expect("it is open");
    let most = block.in_flight.len().max(next.path.index() + 1);
    block.in_flight.resize(most, Default::default());
    let there = &mut block.in_flight[next.path.index()];
    let kind = match next.what {
        SymbolChoice::Source => {
            (there.sources, block.sources_sent) = (there.sources + 1, block.sources_sent + 1);
            SymbolKind::Source(block.sources_sent - 1)
        }
        SymbolChoice::Repair => {
            (there.repairs, block.repairs_sent) = (there.repairs + 1, block.repairs_sent + 1);
            SymbolKind::Repair
        }
    };
    let symbol = Some(Symbol { block: next.block, sources: block.sources, kind });
    let mut chunk = ChunkInfo { symbol, ..chunk(tsn, &[next.path.0]) };
    chunk.transmissions[0].at = picture.now;
    picture.paths[next.path.index()].in_flight += MTU;
    nc.on_signal(&picture.view(), &Signal::Sent(&chunk));
    chunk
}

fn next(nc: &mut NcMptcp, picture: &Picture) -> Option<SymbolAssignment> {
    nc.next_symbol(&picture.view(), &BACKLOG())
}

/// Sends until nothing is assigned: path, block, and whether it was an original.
fn fill(nc: &mut NcMptcp, picture: &mut Picture) -> Vec<(u8, u32, bool)> {
    let mut order = Vec::new();
    while let Some(a) = next(nc, picture) {
        leave(nc, picture, a, order.len() as u32);
        order.push((a.path.0, a.block, a.what == SymbolChoice::Source));
    }
    order
}

/// Every ten of the longest round-trip time, 300 ms; two looks must agree.
#[test]
fn classes_change_only_after_two_looks() {
    let (mut nc, mut picture) = (scheduler(), picture(&[20, 300, 30], 0));
    pass(&mut nc, &mut picture, 10);
    pass(&mut nc, &mut picture, 2990);
    assert_eq!(regular(&nc, &picture), [true; 3], "no look yet");
    pass(&mut nc, &mut picture, 10);
    assert_eq!(regular(&nc, &picture), [true; 3], "one look");
    pass(&mut nc, &mut picture, 2990);
    assert_eq!(regular(&nc, &picture), [true; 3], "one look");
    pass(&mut nc, &mut picture, 10);
    assert_eq!(regular(&nc, &picture), [true, false, true], "300 ms > 2 · 20 ms");
    // A look that says otherwise, and one that takes it back.
    picture.paths[2].est.loss = Some(0.03);
    pass(&mut nc, &mut picture, 3000);
    assert_eq!(regular(&nc, &picture), [true, false, true], "one look");
    picture.paths[2].est.loss = Some(0.0);
    pass(&mut nc, &mut picture, 3000);
    picture.paths[2].est.loss = Some(0.03);
    pass(&mut nc, &mut picture, 3000);
    assert_eq!(regular(&nc, &picture), [true, false, true], "they did not follow each other");
    pass(&mut nc, &mut picture, 3000);
    assert_eq!(regular(&nc, &picture), [true, false, false], "p > p of the best + 0.02");
}

#[test]
fn the_worst_of_like_paths_carries_coded_packets() {
    for (rtts, wanted) in [
        (vec![40, 50, 45], vec![true, false, true]),
        (vec![40, 40], vec![true, false]),
        (vec![40], vec![true]),
        (vec![40, 90, 85], vec![true, false, false]),
    ] {
        let mut picture = picture(&rtts, 0);
        assert_eq!(regular(&classified(&mut picture), &picture), wanted, "{rtts:?}");
    }
}

#[test]
fn the_best_coded_path_takes_over_when_no_regular_one_is_left() {
    let mut picture = picture(&[20, 100, 90], 4);
    let mut nc = classified(&mut picture);
    assert_eq!(regular(&nc, &picture), [true, false, false]);
    picture.paths[0].state = PathState::Inactive;
    assert_eq!(regular(&nc, &picture)[1..], [false, true]);
    let first = next(&mut nc, &picture).expect("there is room");
    assert_eq!((first.path, first.what), (PathId(2), SymbolChoice::Source));
}

#[test]
fn a_single_path_carries_originals_alone() {
    let mut picture = picture(&[50], 5);
    picture.paths[0].est.loss = Some(0.1);
    let mut nc = classified(&mut picture);
    let order = fill(&mut nc, &mut picture);
    let wanted: Vec<_> = (0..80).map(|i| (0, i / 16, true)).collect();
    assert_eq!(order, wanted);
}

#[test]
fn originals_take_the_regular_path_with_the_lowest_round_trip_time() {
    let mut picture = picture(&[50, 30, 200], 40);
    let mut nc = classified(&mut picture);
    assert_eq!(regular(&nc, &picture), [true, true, false]);
    let order = fill(&mut nc, &mut picture);
    let originals: Vec<_> = order.iter().filter(|(.., original)| *original).collect();
    assert!(originals[..100].iter().all(|(path, ..)| *path == 1), "until its window is full");
    assert!(originals[100..200].iter().all(|(path, ..)| *path == 0));
    let next = |i: usize| (i / 16) as u32;
    assert!(originals.iter().enumerate().all(|(i, (_, block, _))| *block == next(i)), "in order");
    assert!(order.iter().all(|(path, _, original)| *original == (*path != 2)));
}

/// Batch 0 is in flight on path 0, which loses p; path 1 has room for coded packets.
fn one_batch(p: f64, blocks: u32) -> (NcMptcp, Picture) {
    let mut picture = picture(&[50, 200], blocks);
    let mut nc = classified(&mut picture);
    picture.paths[0].limit.cwnd = 16 * MTU;
    picture.paths[0].est.loss = Some(p);
    (0..16).for_each(|tsn| {
        let original = next(&mut nc, &picture).expect("room");
        leave(&mut nc, &mut picture, original, tsn);
    });
    (nc, picture)
}

/// p = 0.1: r = 16 · 0.1 + √(16 · 0.1 · 0.9) = 2.8, ρ = 3 on a path without loss, and 14.4 + 3 > 16 are expected.
#[test]
fn redundancy_by_hand() {
    for (p, nc_loss, coded) in [(0.1, 0.0, 3), (0.1, 0.2, 4), (0.02, 0.0, 1), (0.0, 0.0, 0)] {
        let (mut nc, mut picture) = one_batch(p, 1);
        picture.paths[1].est.loss = Some(nc_loss);
        // r(0.02) = 0.32 + 0.56 = 0.88; 2.8/0.8 = 3.5.
        assert_eq!(fill(&mut nc, &mut picture), vec![(1, 0, false); coded], "{p} {nc_loss}");
    }
}

/// The coded packet arrives after 100 ms; an original that arrives later than that does not count.
#[test]
fn originals_that_are_late_are_made_up_for() {
    let (mut nc, mut picture) = one_batch(0.0, 1);
    assert_eq!(next(&mut nc, &picture), None, "25 ms: all will be there");
    picture.paths[0].srtt = Some(Duration::from_millis(201));
    let order = fill(&mut nc, &mut picture);
    assert_eq!(order, vec![(1, 0, false); 16], "none of them is");
    let (mut nc, mut picture) = one_batch(0.0, 1);
    picture.paths[0].srtt = Some(Duration::from_millis(201));
    picture.now += Duration::from_millis(1);
    assert_eq!(next(&mut nc, &picture), None, "sent 1 ms ago, due in 99.5 ms");
}

#[test]
fn what_was_lost_is_lacking_until_it_is_sent_again() {
    let (mut nc, mut picture) = one_batch(0.0, 1);
    let (symbol, at) = (Symbol { block: 0, sources: 16, kind: SymbolKind::Source(3) }, picture.now);
    let mut lost = ChunkInfo { symbol: Some(symbol), losses: 1, ..chunk(3, &[0]) };
    (lost.transmissions[0].at, lost.transmissions[0].in_flight) = (at, false);
    let signal = Signal::Lost { chunk: &lost, path: PathId(0), cause: LossCause::Congestion };
    nc.on_signal(&picture.view(), &signal);
    let wanted = SymbolAssignment { path: PathId(1), block: 0, what: SymbolChoice::Repair };
    assert_eq!(next(&mut nc, &picture), Some(wanted));
    let again = Transmission { at: Instant::from_millis(90_000), in_flight: true, ..lost.transmissions[0] };
    picture.now = again.at;
    lost.transmissions.push(again);
    nc.on_signal(&picture.view(), &Signal::Sent(&lost));
    assert_eq!(next(&mut nc, &picture), None);
}

/// With every batch covered the next one that is not begun gets k coded packets, then the one after it.
#[test]
fn coded_packets_run_ahead() {
    let (mut nc, mut picture) = one_batch(0.0, 4);
    let order = fill(&mut nc, &mut picture);
    let coded: Vec<u32> = order.iter().map(|(_, block, _)| *block).collect();
    let wanted: Vec<u32> = (0..48).map(|i| 1 + i / 16).collect();
    assert_eq!(coded, wanted);
    assert!(order.iter().all(|(path, _, original)| *path == 1 && !original));
}

/// Sixteen coded packets of batch 1 are in flight: the regular path continues with batch 2, and comes back once two
/// are lost.
#[test]
fn originals_pass_over_a_batch_that_coded_packets_bring() {
    let (mut nc, mut picture) = one_batch(0.0, 3);
    picture.paths[1].limit.cwnd = 16 * MTU;
    let coded = fill(&mut nc, &mut picture);
    assert_eq!(coded, vec![(1, 1, false); 16]);
    picture.paths[0].limit.cwnd = 20 * MTU;
    assert_eq!(fill(&mut nc, &mut picture), vec![(0, 2, true); 4]);
    picture.blocks[1].in_flight[1].repairs -= 2;
    picture.paths[0].limit.cwnd = 24 * MTU;
    let wanted = [(0, 1, true), (0, 1, true), (0, 2, true), (0, 2, true)];
    assert_eq!(fill(&mut nc, &mut picture), wanted);
}

#[test]
fn a_batch_begun_and_not_finished_gets_no_coded_packets() {
    let mut picture = picture(&[50, 200], 1);
    let mut nc = classified(&mut picture);
    picture.paths[0].limit.cwnd = 7 * MTU;
    let order = fill(&mut nc, &mut picture);
    assert_eq!(order, vec![(0, 0, true); 7]);
    picture.blocks[0].closed = false;
    picture.blocks[0].sources = 7;
    assert_eq!(next(&mut nc, &picture), None, "nor does one that is open");
}
