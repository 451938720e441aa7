use proptest::prelude::*;
use strandcast_proto::policy::fixture::{MTU, Picture, chunk};
use strandcast_proto::policy::{ChunkInfo, PathId, Symbol, SymbolKind};

use super::*;
use crate::schedule::expectation::Expectation;
use crate::schedule::tests::{BACKLOG, block};

/// Paths with these windows in packets and round-trip times in ms, and `blocks` blocks of 16.
fn picture(paths: &[(u64, u64)], blocks: u32) -> Picture {
    let mut picture = Picture::new(paths.len() as u8);
    for (path, (packets, ms)) in picture.paths.iter_mut().zip(paths) {
        path.limit.cwnd = packets * MTU;
        path.srtt = Some(Duration::from_millis(*ms));
    }
    picture.blocks = (0..blocks).map(|number| block(number, 16)).collect();
    picture
}

fn scheduler() -> Fmtcp {
    Fmtcp::new(FmtcpConfig::default())
}

fn symbol(number: u32, tsn: u32, path: u8) -> ChunkInfo {
    let symbol = Symbol { block: number, sources: 16, kind: SymbolKind::Repair };
    ChunkInfo { symbol: Some(symbol), ..chunk(tsn, &[path]) }
}

/// A symbol of this block leaves on `path`.
fn leave(fmtcp: &mut Fmtcp, picture: &mut Picture, path: PathId, number: u32, tsn: u32) {
    let view = &mut picture.paths[path.index()];
    (view.in_flight, view.in_flight_chunks) = (view.in_flight + MTU, view.in_flight_chunks + 1);
    let block = picture.blocks.iter_mut().find(|b| b.number == number).expect("it is open");
    block.repairs_sent += 1;
    let most = block.in_flight.len().max(path.index() + 1);
    block.in_flight.resize(most, Default::default());
    block.in_flight[path.index()].repairs += 1;
    let mut chunk = symbol(number, tsn, path.0);
    chunk.transmissions[0].at = picture.now;
    fmtcp.on_signal(&picture.view(), &Signal::Sent(&chunk));
}

/// Sends until nothing is assigned: path and block of each symbol.
fn fill(fmtcp: &mut Fmtcp, picture: &mut Picture) -> Vec<(u8, u32)> {
    let mut order = Vec::new();
    while let Some(next) = fmtcp.next_symbol(&picture.view(), &BACKLOG()) {
        assert_eq!(next.what, SymbolChoice::Repair);
        assert!(picture.paths[next.path.index()].has_room());
        leave(fmtcp, picture, next.path, next.block, order.len() as u32);
        order.push((next.path.0, next.block));
    }
    order
}

fn symbols(order: &[(u8, u32)], number: u32) -> usize {
    order.iter().filter(|(_, of)| *of == number).count()
}

/// δ̂ = 0.1 requires k̃ > k + log2 10 = k + 3.32: without loss 20 symbols for 16.
#[test]
fn a_block_is_complete_with_three_and_a_third_more() {
    let (mut fmtcp, mut picture) = (scheduler(), picture(&[(100, 100)], 3));
    let order = fill(&mut fmtcp, &mut picture);
    assert_eq!([0, 1, 2].map(|number| symbols(&order, number)), [20; 3]);
    assert!(order.is_sorted_by_key(|(_, number)| *number), "the first block first");
    for (loss, wanted) in [(0.1, 22), (0.5, 39)] {
        let (mut fmtcp, mut picture) = (scheduler(), super::tests::picture(&[(100, 100)], 2));
        picture.paths[0].est.loss = Some(loss);
        // The least n with (1 - p) n > 19.32.
        assert_eq!(symbols(&fill(&mut fmtcp, &mut picture), 0), wanted, "{loss}");
    }
}

#[test]
fn delta_says_how_sure_a_block_is_to_be_decoded() {
    for (delta, wanted) in [(0.9, 17), (0.5, 18), (0.49, 18), (0.1, 20), (0.01, 23)] {
        let mut fmtcp = Fmtcp::new(FmtcpConfig { delta, ..FmtcpConfig::default() });
        let order = fill(&mut fmtcp, &mut picture(&[(100, 100)], 1));
        assert_eq!(order.len(), wanted, "{delta}: 2^-(k̃ - k) < δ̂");
    }
}

/// While the fast path sends the first block, the slow one sends a later one.
#[test]
fn a_slow_path_carries_later_blocks_than_the_fast_one() {
    let (mut fmtcp, mut picture) = (scheduler(), picture(&[(10, 20), (10, 200)], 40));
    let order = fill(&mut fmtcp, &mut picture);
    assert_eq!(order.len(), 20, "both windows are full");
    let of = |path| order.iter().filter(move |(p, _)| *p == path).map(|(_, number)| *number);
    assert!(of(0).all(|number| number == 0));
    // EAT of the fast path's symbol 10 + j, sent in thought, j >= 10: 10 + 20 + 20 (1 + j/10) ms. That is the slow
    // path's 100 ms at j = 25, and the first of two goes first: 36 symbols do, 20 of block 0 and 16 of block 1.
    let slow: Vec<u32> = of(1).collect();
    assert_eq!(slow[..5], [1, 1, 1, 1, 2], "{slow:?}");
    assert_eq!(fmtcp.next_symbol(&picture.view(), &BACKLOG()), None, "no room");
    picture.now += Duration::from_millis(15);
    picture.paths[1].limit.cwnd += MTU;
    let later = fmtcp.next_symbol(&picture.view(), &BACKLOG()).expect("the slow path has room");
    assert_eq!(later.path, PathId(1));
    assert!(later.block >= 2, "{later:?}");
}

/// Ten times as slow, and so few blocks that the fast path brings them all sooner: the slow one stays idle.
#[test]
fn a_path_by_which_all_would_be_late_gets_nothing() {
    let order = fill(&mut scheduler(), &mut picture(&[(10, 20), (10, 400)], 2));
    assert_eq!(order, vec![(0, 0); 10]);
}

#[test]
fn without_a_closed_block_nothing_is_sent() {
    let (mut fmtcp, mut picture) = (scheduler(), picture(&[(10, 20)], 0));
    assert_eq!(fmtcp.next_symbol(&picture.view(), &BACKLOG()), None);
    picture.blocks = vec![block(5, 3)];
    picture.blocks[0].closed = false;
    assert_eq!(fmtcp.next_symbol(&picture.view(), &BACKLOG()), None);
    picture.blocks[0].closed = true;
    assert_eq!(fill(&mut fmtcp, &mut picture), vec![(0, 5); 7]);
}

/// Symbols in flight on an inactive path count as lost at once.
#[test]
fn symbols_on_a_dead_path_are_replaced() {
    let (mut fmtcp, mut picture) = (scheduler(), picture(&[(12, 50), (12, 50)], 1));
    let order = fill(&mut fmtcp, &mut picture);
    assert_eq!(order.len(), 20);
    let dead = order.iter().filter(|(path, _)| *path == 1).count();
    assert!(dead > 0);
    picture.paths[1].state = PathState::Inactive;
    picture.paths[0].limit.cwnd = 100 * MTU;
    assert_eq!(fill(&mut fmtcp, &mut picture), vec![(0, 0); dead]);
}

/// Symbol `tsn` of block 0 arrived or was lost; the block has this rank then.
fn over(fmtcp: &mut Fmtcp, picture: &mut Picture, tsn: u32, rank: u16, arrived: bool) {
    let mut chunk = symbol(0, tsn, 0);
    (chunk.transmissions[0].at, chunk.transmissions[0].in_flight) = (picture.now, false);
    let path = &mut picture.paths[0];
    (path.in_flight, path.in_flight_chunks) = (path.in_flight - MTU, path.in_flight_chunks - 1);
    picture.blocks[0].in_flight[0].repairs -= 1;
    picture.blocks[0].rank = rank;
    let (path, cause) = (PathId(0), strandcast_proto::policy::LossCause::Congestion);
    let signal = match arrived {
        true => Signal::Delivered { chunk: &chunk, path: Some(path) },
        false => Signal::Lost { chunk: &chunk, path, cause },
    };
    fmtcp.on_signal(&picture.view(), &signal);
}

#[test]
fn a_lost_symbol_is_made_up_for() {
    let (mut fmtcp, mut picture) = (scheduler(), picture(&[(50, 50)], 1));
    assert_eq!(fill(&mut fmtcp, &mut picture).len(), 20);
    for tsn in 0..5 {
        over(&mut fmtcp, &mut picture, tsn, tsn as u16 + 1, true);
    }
    assert_eq!(fill(&mut fmtcp, &mut picture).len(), 0, "5 arrived, 15 are in flight");
    over(&mut fmtcp, &mut picture, 5, 5, false);
    over(&mut fmtcp, &mut picture, 6, 5, false);
    assert_eq!(fill(&mut fmtcp, &mut picture).len(), 2);
}

/// 2^-e is the probability of failure after k + e symbols: dependent ones are among those, until all are there and the
/// block is not.
#[test]
fn dependent_symbols_count_until_nothing_is_in_flight() {
    let run = |counting| {
        let mut fmtcp = Fmtcp::new(FmtcpConfig { counting, ..FmtcpConfig::default() });
        let mut picture = picture(&[(50, 50)], 1);
        let mut more = vec![fill(&mut fmtcp, &mut picture).len()];
        // Symbol 15 of 20 depends on the others, and so do all after it.
        for tsn in 0..19 {
            over(&mut fmtcp, &mut picture, tsn, (tsn as u16 + 1).min(15), true);
        }
        more.push(fill(&mut fmtcp, &mut picture).len());
        over(&mut fmtcp, &mut picture, 19, 15, true);
        more.push(fill(&mut fmtcp, &mut picture).len());
        more
    };
    assert_eq!(run(Counting::Received), [20, 0, 5], "15 + 5 > 16 + 3.32");
    assert_eq!(run(Counting::Independent), [20, 4, 1]);
}

/// The procedure as it is written, for the path `fs` that has a slot: one symbol at a time, no path before its turn.
fn by_the_book(picture: &Picture, fs: usize, sent: &[Vec<u64>]) -> Option<u32> {
    let view = picture.view();
    let paths: Vec<Expectation> = picture.paths.iter().map(Expectation::of).collect();
    let margin = libm::log2(10.0);
    let mut used = vec![0u64; paths.len()];
    let mut given = vec![0.0; picture.blocks.len()];
    loop {
        let eat = |f: usize| {
            let path = &view.paths[f];
            let slots = path.limit.cwnd.saturating_sub(path.in_flight).div_ceil(MTU);
            let Expectation { edt, rt, rtt, .. } = paths[f];
            if used[f] < slots {
                return edt;
            }
            let (j, len) = ((used[f] - slots) as usize, sent[f].len());
            // Rounded once, as in any scheduler: two paths may be expected at the same instant.
            let left = strandcast_proto::time::Instant::from_millis;
            let since = |ms: u64| picture.now.saturating_since(left(ms)).as_secs_f64();
            let missing = -rtt * (1.0 + j as f64 / len.max(1) as f64);
            edt + (rt - sent[f].get(j).map_or(missing, |ms| since(*ms))).max(0.0)
        };
        let g = (0..paths.len()).min_by(|a, b| eat(*a).total_cmp(&eat(*b)))?;
        let wants = |i: &usize| {
            let block = &picture.blocks[*i];
            let coming = |f: usize| (1.0 - paths[f].loss) * f64::from(block.on(PathId(f as u8)).repairs);
            let k = f64::from(block.rank) + (0..paths.len()).map(coming).sum::<f64>() + given[*i];
            k - f64::from(block.sources) <= margin
        };
        let b = (0..picture.blocks.len()).find(wants)?;
        if g == fs {
            return Some(picture.blocks[b].number);
        }
        given[b] += 1.0 - paths[g].loss;
        used[g] += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The path named is one to which the procedure, asked for it alone, gives that block; if none is named, the
    /// procedure gives no path with a slot anything.
    #[test]
    fn several_paths_at_once_as_one_by_one(
        paths in prop::collection::vec((1..30u64, 5..400u64, 0..30u64, 0..5u8), 1..4),
        blocks in prop::collection::vec((1..20u16, 0..20u16, prop::collection::vec(0..9u32, 3)), 0..12),
        ages in prop::collection::vec(0..300u64, 30),
    ) {
        let (mut fmtcp, mut picture) = (scheduler(), picture(&[], 0));
        picture.paths = Picture::new(paths.len() as u8).paths;
        let mut sent = Vec::new();
        for (i, (window, ms, flight, loss)) in paths.iter().enumerate() {
            let flight = *flight.min(window);
            let path = &mut picture.paths[i];
            (path.limit.cwnd, path.srtt) = (window * MTU, Some(Duration::from_millis(*ms)));
            (path.in_flight, path.in_flight_chunks) = (flight * MTU, flight as u32);
            path.est.loss = Some(f64::from(*loss) / 16.0);
            let mut times: Vec<u64> = ages.iter().take(flight as usize).map(|age| 1000 - age).collect();
            times.sort();
            for (k, ms) in times.iter().enumerate() {
                let mut chunk = chunk((100 * i + k) as u32, &[i as u8]);
                chunk.transmissions[0].at = strandcast_proto::time::Instant::from_millis(*ms);
                fmtcp.on_signal(&picture.view(), &Signal::Sent(&chunk));
            }
            sent.push(times);
        }
        for (number, (sources, rank, in_flight)) in blocks.iter().enumerate() {
            let mut block = block(number as u32, *sources);
            block.rank = (*rank).min(sources - 1);
            let counts = in_flight.iter().take(paths.len());
            block.in_flight = counts.map(|n| strandcast_proto::policy::SymbolsInFlight { sources: 0, repairs: *n }).collect();
            picture.blocks.push(block);
        }
        let open = |f: &usize| picture.paths[*f].has_room();
        match fmtcp.next_symbol(&picture.view(), &BACKLOG()) {
            Some(next) => prop_assert_eq!(by_the_book(&picture, next.path.index(), &sent), Some(next.block)),
            None => {
                let given: Vec<_> = (0..paths.len()).filter(open).filter_map(|f| by_the_book(&picture, f, &sent)).collect();
                prop_assert_eq!(given, Vec::<u32>::new());
            }
        }
    }
}
