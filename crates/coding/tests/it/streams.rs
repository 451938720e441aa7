//! Senders and receivers of blocks and windows, symbol by symbol.

use strandcast_coding::blocks::{
    BlockConfig, BlockReceiver, BlockSender, CannotPush, CannotWrite, Order, SourceId,
};
use strandcast_coding::codec::CannotRepair;
use strandcast_coding::symbol::{Header, REPAIR_HEADER, SOURCE_HEADER};
use strandcast_coding::windows::{WindowConfig, WindowReceiver, WindowSender};
use strandcast_coding::{Code, Refusal};

const BLOCKS: BlockConfig =
    BlockConfig { code: Code::Rlc, sources: 4, length: 12, blocks: 2, order: Order::InOrder };
const WINDOW: WindowConfig = WindowConfig { sources: 4, held: 8, length: 12, density: 15 };

fn source(sender: &BlockSender, block: u32, index: u16) -> Vec<u8> {
    let mut out = Vec::new();
    sender.write_source(SourceId { block, index }, &mut out).expect("held");
    out
}

fn repair(sender: &mut BlockSender, block: u32) -> Vec<u8> {
    let mut out = Vec::new();
    sender.write_repair(block, &mut out).expect("closed");
    out
}

/// Takes all messages of a receiver: block, place, message, whether recovered.
fn polled(receiver: &mut BlockReceiver) -> Vec<(u32, u16, String, bool)> {
    let mut all = Vec::new();
    while let Some(m) = receiver.poll() {
        all.push((m.id.block, m.id.index, String::from_utf8(m.bytes.to_vec()).expect("text"), m.recovered));
    }
    all
}

fn of(block: u32, index: u16, text: &str, recovered: bool) -> (u32, u16, String, bool) {
    (block, index, text.to_owned(), recovered)
}

fn filled(config: BlockConfig, texts: &[&str]) -> BlockSender {
    let mut sender = BlockSender::new(config, 1);
    for text in texts {
        sender.push(text.as_bytes()).expect("room");
    }
    sender.close();
    sender
}

#[test]
fn in_order_a_message_waits_for_those_before_it() {
    let mut sender = filled(BLOCKS, &["a", "b", "c", "d", "e"]);
    let mut receiver = BlockReceiver::new(BLOCKS);
    for (block, index) in [(1, 0), (0, 3), (0, 0), (0, 2)] {
        let taken = receiver.receive(&source(&sender, block, index)).expect("taken");
        assert!(taken.innovative && taken.block == block);
    }
    assert_eq!(polled(&mut receiver), [of(0, 0, "a", false)]);
    assert_eq!((receiver.rank(0), receiver.first()), (3, 0));
    receiver.receive(&repair(&mut sender, 0)).expect("taken");
    let rest = [of(0, 1, "b", true), of(0, 2, "c", false), of(0, 3, "d", false), of(1, 0, "e", false)];
    assert_eq!(polled(&mut receiver), rest);
    // The last symbol of the short block marks its end.
    assert_eq!(receiver.first(), 2);
    assert_eq!(receiver.receive(&source(&sender, 1, 0)), Err(Refusal::Stale));
}

#[test]
fn as_known_a_message_waits_for_nothing_and_a_newer_block_closes_the_oldest() {
    let config = BlockConfig { order: Order::AsKnown, ..BLOCKS };
    let sender = filled(BlockConfig { blocks: 3, ..config }, &["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    let mut receiver = BlockReceiver::new(config);
    receiver.receive(&source(&sender, 0, 2)).expect("taken");
    assert_eq!(polled(&mut receiver), [of(0, 2, "c", false)]);
    receiver.receive(&source(&sender, 1, 1)).expect("taken");
    assert_eq!(polled(&mut receiver), [of(1, 1, "f", false)]);
    // Block 2 opens, block 0 closes.
    receiver.receive(&source(&sender, 2, 0)).expect("taken");
    assert_eq!(polled(&mut receiver), [of(2, 0, "i", false)]);
    assert_eq!(receiver.receive(&source(&sender, 0, 0)), Err(Refusal::Stale));
    assert_eq!((receiver.first(), receiver.rank(1)), (1, 1));
    // A received message is not delivered again.
    assert!(!receiver.receive(&source(&sender, 1, 1)).expect("taken").innovative);
    assert_eq!(polled(&mut receiver), []);
}

/// Two lost messages become known once two equations contain no other unknown.
#[test]
fn a_window_gives_back_what_its_equations_determine() {
    let mut sender = WindowSender::new(WINDOW, 1);
    let mut receiver = WindowReceiver::new(WINDOW);
    let mut symbol = Vec::new();
    for text in ["a", "bb"] {
        sender.push(text.as_bytes()).expect("it fits");
    }
    for _ in 0..2 {
        symbol.clear();
        sender.write_repair(&mut symbol).expect("not empty");
        assert!(receiver.receive(&symbol).expect("taken").innovative);
    }
    let mut found = Vec::new();
    while let Some(m) = receiver.poll() {
        found.push((m.number, m.bytes.to_vec(), m.recovered));
    }
    assert_eq!(found, [(0, b"a".to_vec(), true), (1, b"bb".to_vec(), true)]);
    // Their own symbols arrive late and add no information.
    symbol.clear();
    sender.write_source(1, &mut symbol).expect("held");
    assert!(!receiver.receive(&symbol).expect("taken").innovative);
    assert_eq!(receiver.poll(), None);
}

/// Repair key 1 gives the coefficients 37 and 225, the first bytes of RFC 8682's numbers with seed 1. Both
/// messages are [1], framed as 0, 1, 1: the sum is 37 + 225 = 0x25 ^ 0xe1 = 0xc4 for the ones. Zeros after
/// the longest message are left out.
#[test]
fn a_repair_symbol_is_the_sum_by_hand() {
    let mut sender = WindowSender::new(WINDOW, 1);
    sender.push(&[1]).expect("it fits");
    sender.push(&[1]).expect("it fits");
    let mut symbol = Vec::new();
    assert_eq!(sender.write_repair(&mut symbol), Ok(1));
    assert_eq!(symbol, [0x60, 2, 0, 0, 0, 0, 0, 15, 0, 1, 0, 0xc4, 0xc4]);
    assert_eq!(symbol.len(), REPAIR_HEADER + 3);
}

#[test]
fn a_window_slides_and_forgets() {
    let mut sender = WindowSender::new(WINDOW, 1);
    for number in 0..6u32 {
        assert_eq!(sender.push(&[number as u8]), Ok(number));
    }
    assert_eq!((sender.first(), sender.held()), (2, 4));
    let mut out = Vec::new();
    assert_eq!(sender.write_source(1, &mut out), Err(CannotWrite::NotHeld));
    sender.forget(4);
    sender.forget(3);
    assert_eq!((sender.first(), sender.held()), (4, 2));
    sender.forget(9);
    assert_eq!(sender.write_repair(&mut out), Err(CannotWrite::Code(CannotRepair::Empty)));
    assert!(out.is_empty());
    assert_eq!(sender.push(&[0; 11]), Err(CannotPush::TooLong { length: 11, most: 10 }));
}

#[test]
fn a_sender_of_blocks_says_what_it_cannot_do() {
    let config = BlockConfig { code: Code::ReedSolomon { repairs: 2 }, ..BLOCKS };
    let mut sender = BlockSender::new(config, 1);
    assert_eq!(sender.push(&[0; 11]), Err(CannotPush::TooLong { length: 11, most: 10 }));
    assert_eq!(sender.close(), None);
    let mut out = Vec::new();
    for index in 0..3 {
        assert_eq!(sender.push(b"x"), Ok(SourceId { block: 0, index }));
        assert_eq!(sender.write_repair(0, &mut out), Err(CannotWrite::Open));
    }
    sender.push(b"x").expect("room");
    for _ in 0..4 {
        sender.push(b"y").expect("room");
    }
    assert_eq!(sender.push(b"z"), Err(CannotPush::Full));
    assert_eq!(sender.blocks().collect::<Vec<_>>(), [(0, 4, true), (1, 4, true)]);
    assert_eq!((repair(&mut sender, 0).len(), repair(&mut sender, 0).len()), (22, 22));
    let none = Err(CannotWrite::Code(CannotRepair::Seed(2)));
    assert_eq!((sender.write_repair(0, &mut out), sender.repairs(0)), (none, Some(2)));
    assert_eq!(sender.write_repair(2, &mut out), Err(CannotWrite::NotHeld));
    assert_eq!(sender.write_source(SourceId { block: 0, index: 4 }, &mut out), Err(CannotWrite::NotHeld));
    assert!(out.is_empty());
    sender.release(1);
    assert_eq!(sender.write_source(SourceId { block: 0, index: 0 }, &mut out), Err(CannotWrite::NotHeld));
    assert_eq!(sender.push(b"z"), Ok(SourceId { block: 2, index: 0 }));
}

/// Seeds are never used again: no two blocks have the same coefficients.
#[test]
fn blocks_have_seeds_of_their_own() {
    let mut sender = filled(BLOCKS, &["a", "b", "c", "d", "e"]);
    let mut out = Vec::new();
    let seeds: Vec<_> = [0, 1, 0].map(|block| sender.write_repair(block, &mut out).expect("closed")).to_vec();
    assert_eq!(seeds, [1, 2, 3]);
}

/// 6 bytes of header with a message, 10 with a sum; nothing else without payloads.
#[test]
fn coefficients_alone_cost_headers_alone() {
    let config = BlockConfig { length: 0, ..BLOCKS };
    let mut sender = filled(config, &["any", "length", "is", "taken here"]);
    let mut receiver = BlockReceiver::new(config);
    for index in [0, 2, 3] {
        let symbol = source(&sender, 0, index);
        assert_eq!(symbol.len(), SOURCE_HEADER);
        receiver.receive(&symbol).expect("taken");
    }
    let symbol = repair(&mut sender, 0);
    assert_eq!(symbol.len(), REPAIR_HEADER);
    assert_eq!(receiver.receive(&symbol).map(|taken| taken.rank), Ok(4));
    let all = [of(0, 0, "", false), of(0, 1, "", true), of(0, 2, "", false), of(0, 3, "", false)];
    assert_eq!(polled(&mut receiver), all);
}

/// Numbers wrap after 2^32 - 1: 65 536 jumps of 65 536 make one full circle.
#[test]
fn numbers_wrap() {
    let mut window = WindowReceiver::new(WINDOW);
    let mut blocks = BlockReceiver::new(BlockConfig { order: Order::AsKnown, ..BLOCKS });
    let mut symbol = Vec::new();
    for jump in 1..=65_537u32 {
        let number = jump.wrapping_mul(1 << 16);
        symbol.clear();
        Header::WindowSource { number }.write(&mut symbol);
        symbol.push(b'x');
        assert!(window.receive(&symbol).expect("taken").innovative);
        assert_eq!(window.poll().map(|m| (m.number, m.recovered)), Some((number, false)));
        symbol.clear();
        Header::Source { block: number, index: 1, last: false }.write(&mut symbol);
        assert!(blocks.receive(&symbol).expect("taken").innovative);
        assert_eq!(blocks.poll().map(|m| m.id.block), Some(number));
    }
    assert_eq!((window.first(), blocks.first()), (65_536 - 7, 65_536 - 1));
    // Too old, and farther ahead than one jump.
    symbol.clear();
    Header::WindowSource { number: u32::MAX }.write(&mut symbol);
    assert_eq!(window.receive(&symbol), Err(Refusal::Stale));
    symbol.clear();
    Header::WindowSource { number: 65_536 + 65_537 }.write(&mut symbol);
    assert_eq!(window.receive(&symbol), Err(Refusal::Ahead));
}
