//! Garbage makes a receiver use no more memory than it states, and is otherwise only dropped and counted.

use allocation_counter::measure;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, BlockReceiver, Order};
use strandcast_coding::symbol::Header;
use strandcast_coding::windows::{WindowConfig, WindowReceiver};
use strandcast_proto::seeds::{Random, Seeds};

const CODES: [Code; 4] = [Code::Rlc, Code::Fountain, Code::RaptorQ, Code::ReedSolomon { repairs: 16 }];
const LENGTH: usize = 1202;
/// A minute of symbols at 10 Mbit/s.
const MINUTE: usize = 62_500;

/// Writes garbage: from random bytes to symbols with only a random payload, near `at` and far from it.
fn garbage(random: &mut Random, at: u32, out: &mut Vec<u8>) {
    out.clear();
    let near = at.wrapping_add(random.below(20) as u32).wrapping_sub(4);
    let number = if random.chance(0.9) { near } else { random.u64() as u32 };
    let small = 1 + random.below(33) as u16;
    let seed = if random.chance(0.7) { random.below(32) as u32 } else { random.u64() as u32 };
    match random.below(10) {
        0 => {}
        1..=3 => Header::Source { block: number, index: small - 1, last: random.chance(0.1) }.write(out),
        4..=6 => Header::Repair { block: number, sources: small.max(32), seed }.write(out),
        7 => Header::WindowSource { number }.write(out),
        8 => Header::WindowRepair { first: number, sources: small, seed: seed & 0xf_ffff }.write(out),
        _ => out.extend((0..random.below(12)).map(|_| random.u64() as u8)),
    }
    let start = out.len();
    let most = [LENGTH, LENGTH - 2, LENGTH + 1, 20][random.below(4) as usize];
    out.resize(start + random.below(most as u64 + 1) as usize, 0);
    random.fill(&mut out[start..]);
}

/// Builds tables that the crates of codecs share between all codecs of a process.
fn make_tables(code: Code) {
    let (mut encoder, mut decoder) = (code.encoder(2, 2), code.decoder(2, 2));
    (0..2).for_each(|_| encoder.push(&[1, 2]));
    let mut symbol = Vec::new();
    encoder.repair(0, &mut symbol).expect("a symbol");
    decoder.source(0, &[1, 2]);
    decoder.repair(0..2, 0, &symbol);
}

fn blocks(code: Code, order: Order) {
    make_tables(code);
    let mut random = Seeds::new(3, 0).stream("garbage");
    let config = BlockConfig { code, sources: 32, length: LENGTH, blocks: 8, order };
    let mut symbol = Vec::with_capacity(2 * LENGTH);
    let mut bound = 0;
    let heap = measure(|| {
        let mut receiver = BlockReceiver::new(config);
        bound = receiver.bound();
        for given in 1..=MINUTE as u64 {
            garbage(&mut random, receiver.first(), &mut symbol);
            let _ = receiver.receive(&symbol);
            while receiver.poll().is_some() {}
            let counted = receiver.statistics();
            assert_eq!(counted.innovative + counted.redundant + counted.refused(), given);
        }
        let counted = receiver.statistics();
        // The garbage is hostile enough to be accepted as symbols, and to be refused for each reason.
        assert!(counted.innovative > 100 && counted.malformed > 100 && counted.stale > 100, "{counted:?}");
        assert!(counted.contradictory > 100 && counted.ahead > 100, "{code}: {counted:?}");
    });
    println!("{code}, {order:?}: {} bytes of {bound}", heap.bytes_max);
    assert!(heap.bytes_max as usize <= bound, "{code}: {heap:?}, {bound}");
}

/// A block recovered by repair symbols alone: the most work for its size.
#[test]
fn decoding_a_block_stays_within_the_bound() {
    for code in [Code::Rlc, Code::Fountain, Code::RaptorQ, Code::ReedSolomon { repairs: 600 }] {
        make_tables(code);
        for (sources, length) in [(1, 1202), (10, 1202), (100, 200), (100, 1202), (500, 2), (500, 1202)] {
            let mut encoder = code.encoder(sources, length);
            (0..sources).for_each(|i| encoder.push(&[i as u8; 2]));
            let mut symbols = Vec::new();
            for seed in 0..sources as u32 + 20 {
                let mut symbol = Vec::new();
                encoder.repair(seed, &mut symbol).expect("a symbol");
                symbols.push(symbol);
            }
            let mut bound = 0;
            let heap = measure(|| {
                let mut decoder = code.decoder(sources, length);
                bound = decoder.bound();
                for (seed, symbol) in symbols.iter().enumerate() {
                    decoder.repair(0..sources, seed as u32, symbol);
                }
                assert_eq!(decoder.rank(), sources);
                assert!(decoder.known(sources - 1).is_some());
            });
            let most = heap.bytes_max as usize;
            println!("{code}, {sources} of {length}: {most} of {bound}");
            assert!(most <= bound, "{code}, {sources} of {length}: {most} of {bound}");
        }
    }
}

#[test]
fn a_minute_of_garbage_stays_within_the_bound_of_blocks_in_order() {
    CODES.into_iter().for_each(|code| blocks(code, Order::InOrder));
}

#[test]
fn a_minute_of_garbage_stays_within_the_bound_of_blocks_as_known() {
    CODES.into_iter().for_each(|code| blocks(code, Order::AsKnown));
}

#[test]
fn a_minute_of_garbage_stays_within_the_bound_of_a_window() {
    let mut random = Seeds::new(3, 0).stream("garbage");
    let mut symbol = Vec::with_capacity(2 * LENGTH);
    let mut bound = 0;
    let heap = measure(|| {
        let mut receiver =
            WindowReceiver::new(WindowConfig { sources: 32, held: 64, length: LENGTH, density: 15 });
        bound = receiver.bound();
        for given in 1..=MINUTE as u64 {
            garbage(&mut random, receiver.first().wrapping_add(48), &mut symbol);
            let _ = receiver.receive(&symbol);
            while receiver.poll().is_some() {}
            let counted = receiver.statistics();
            assert_eq!(counted.innovative + counted.redundant + counted.refused(), given);
        }
        let counted = receiver.statistics();
        assert!(counted.innovative > 100 && counted.malformed > 100 && counted.stale > 100, "{counted:?}");
    });
    println!("window: {} bytes of {bound}", heap.bytes_max);
    assert!(heap.bytes_max as usize <= bound, "{heap:?}, {bound}");
}

fn written(header: Header, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    header.write(&mut out);
    out.extend_from_slice(payload);
    out
}

/// A forged repair symbol gives a source symbol without a message: it is counted, not delivered.
#[test]
fn a_forged_repair_symbol_is_a_counted_loss() {
    let config = BlockConfig { code: Code::Rlc, sources: 2, length: 10, blocks: 2, order: Order::InOrder };
    let mut receiver = BlockReceiver::new(config);
    receiver.receive(&written(Header::Source { block: 0, index: 0, last: false }, b"one")).expect("taken");
    receiver.receive(&written(Header::Repair { block: 0, sources: 2, seed: 1 }, &[255; 10])).expect("taken");
    assert_eq!(receiver.poll().map(|m| m.bytes.to_vec()), Some(b"one".to_vec()));
    assert_eq!(receiver.poll(), None);
    assert_eq!((receiver.statistics().damaged, receiver.first()), (1, 1));
}

/// Symbols must agree about the length of their block, in any order.
#[test]
fn symbols_that_disagree_about_their_block_are_refused() {
    let config = BlockConfig { code: Code::Rlc, sources: 8, length: 10, blocks: 2, order: Order::InOrder };
    let source = |index, last| written(Header::Source { block: 0, index, last }, b"x");
    let repair = |sources| written(Header::Repair { block: 0, sources, seed: 1 }, &[]);
    for (first, second) in [
        (source(5, true), repair(5)),
        (source(5, false), source(4, true)),
        (source(5, false), repair(5)),
        (repair(5), source(5, false)),
        (repair(5), source(3, true)),
        (repair(5), repair(6)),
    ] {
        let mut receiver = BlockReceiver::new(config);
        assert!(receiver.receive(&first).is_ok());
        assert!(receiver.receive(&second).is_err(), "{second:?} after {first:?}");
        assert_eq!(receiver.statistics().contradictory, 1);
    }
    // More symbols than the block has, beyond the open blocks, and of another stream.
    let mut receiver = BlockReceiver::new(config);
    assert!(receiver.receive(&repair(9)).is_err());
    assert!(receiver.receive(&written(Header::Source { block: 2, index: 0, last: false }, b"x")).is_err());
    assert!(receiver.receive(&written(Header::WindowSource { number: 0 }, b"x")).is_err());
    assert!(receiver.receive(&written(Header::Source { block: 0, index: 0, last: false }, &[0; 9])).is_err());
    let counted = receiver.statistics();
    assert_eq!((counted.contradictory, counted.ahead, counted.malformed), (1, 1, 2));
}
