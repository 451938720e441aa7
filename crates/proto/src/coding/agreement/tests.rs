//! The parameter's layout and bounds are those of docs/models/coding.md.

use super::*;
use crate::coding::{BlockCoding, RepairWhen};
use crate::time::Duration;

const FLUSH: Duration = Duration::from_millis(10);

fn blocks(code: Code, sources: u16) -> Coding {
    Coding::Blocks(BlockCoding { code, sources, flush: FLUSH })
}

fn repair(code: RepairCode, redundancy: f64, window: u16) -> Coding {
    Coding::Repair(RepairCoding { code, redundancy, when: RepairWhen::Late, window })
}

/// 1400 bytes of packet, less 28 of IP and UDP and 12 of common header. DATA takes 16 of the rest, and the repair
/// symbol 10.
const CHUNKS: usize = 1400 - 28 - 12;
const LENGTH_OF_1400: u16 = 1334;

fn announced(coding: Coding) -> Announced {
    Announced::new(Some(&coding), CHUNKS)
}

fn shape(mode: Mode, code: Code, sources: u16, symbol_length: u16) -> Announced {
    Announced(Some(Shape { mode, code, sources, symbol_length }))
}

#[test]
fn the_parameter_is_laid_out_as_documented() {
    for (coding, value) in [
        (blocks(Code::Rlc, 16), [1, 1, 0, 16, 5, 0x36]),
        (blocks(Code::Fountain, 0), [1, 2, 0, 0, 5, 0x36]),
        (repair(RepairCode::Rlc, 0.05, 300), [1, 3, 1, 44, 5, 0x36]),
        (repair(RepairCode::RaptorQ, 0.05, 128), [1, 4, 0, 128, 5, 0x36]),
        (repair(RepairCode::ReedSolomon, 0.1, 10), [1, 5, 0, 10, 5, 0x36]),
    ] {
        let announced = announced(coding);
        assert_eq!(announced.write()[..], value, "{coding:?}");
        assert_eq!(Announced::read(&value), Some(announced));
    }
    assert_eq!(LENGTH_OF_1400, 0x0536);
    assert_eq!(Announced(None).write()[..], [1, 0, 0, 0, 0, 0]);
    assert_eq!(Announced::read(&[1, 0, 0, 0, 0, 0]), Some(Announced(None)));
}

#[test]
fn other_versions_codes_and_lengths_are_as_if_nothing_had_been_said() {
    for value in [
        &[0, 0, 0, 0, 0, 0][..],
        &[2, 1, 0, 16, 5, 0x36],
        &[1, 6, 0, 16, 5, 0x36],
        &[1, 255, 0, 16, 5, 0x36],
        &[1, 1, 0, 16, 5],
        &[1, 1, 0, 16, 5, 0x36, 0],
        &[],
    ] {
        assert_eq!(Announced::read(value), None, "{value:?}");
    }
}

/// Codes for windows make no blocks of a stream. A block of repair is no larger than both ends accept.
#[test]
fn what_no_side_sends_is_not_announced() {
    for code in [Code::Sliding, Code::RaptorQ, Code::ReedSolomon { repairs: 4 }] {
        assert_eq!(announced(blocks(code, 16)), Announced(None));
    }
    assert_eq!(Announced::new(None, CHUNKS), Announced(None));
    for (window, sources) in [(0, 1), (256, 256), (9000, 256)] {
        let raptor = announced(repair(RepairCode::RaptorQ, 0.05, window));
        assert_eq!(raptor, shape(Mode::Repair, Code::RaptorQ, sources, LENGTH_OF_1400));
    }
}

/// W = floor(a_rwnd / (k · symbol length)), at least 2.
#[test]
fn as_many_blocks_are_open_as_the_receive_buffer_holds() {
    for (a_rwnd, sources, k, w) in [
        (256 << 10, 0, 16, 12),
        (64 << 10, 0, 8, 6),
        (131_071, 0, 8, 12),
        (131_072, 0, 16, 6),
        (1 << 20, 16, 16, 49),
        (100_000, 32, 32, 2),
        (1 << 30, 16, 16, 256),
    ] {
        for code in [Code::Rlc, Code::Fountain] {
            let agreed = announced(blocks(code, sources)).agreed(a_rwnd).expect("within the bounds");
            let expected =
                Agreed { mode: Mode::Blocks, code, sources: k, symbol_length: LENGTH_OF_1400, blocks: w };
            assert_eq!(agreed, expected, "{a_rwnd}");
            assert_eq!(agreed.blocks().order, Order::InOrder);
        }
    }
}

#[test]
fn what_is_out_of_bounds_is_not_agreed() {
    let agreed = |mode, code, sources, length| shape(mode, code, sources, length).agreed(1 << 24);
    for code in [Code::Rlc, Code::Fountain] {
        assert!(agreed(Mode::Blocks, code, 256, 1334).is_some());
        assert_eq!(agreed(Mode::Blocks, code, 257, 1334), None);
        assert_eq!(agreed(Mode::Blocks, code, u16::MAX, 1334), None);
    }
    assert_eq!(agreed(Mode::Repair, Code::Sliding, 0, 1334), None);
    assert!(agreed(Mode::Repair, Code::Sliding, 1024, 1334).is_some());
    assert_eq!(agreed(Mode::Repair, Code::Sliding, 1025, 1334), None);
    assert_eq!(agreed(Mode::Repair, Code::RaptorQ, 257, 1334), None);
    for (length, good) in [(0, false), (62, false), (64, true), (65, false), (9000, true), (9002, false)] {
        assert_eq!(agreed(Mode::Blocks, Code::Rlc, 16, length).is_some(), good, "{length}");
        assert_eq!(agreed(Mode::Repair, Code::Sliding, 16, length).is_some(), good, "{length}");
    }
}

/// Two blocks that need more than twice the receive buffer are refused; repair works with less.
#[test]
fn memory_follows_the_receive_buffer() {
    let large = shape(Mode::Blocks, Code::Rlc, 256, 1334);
    assert_eq!(large.agreed(256 << 10), None);
    assert!(large.agreed(512 << 10).is_some());
    let sources = |coding, a_rwnd| announced(coding).agreed(a_rwnd).map(|a| a.sources);
    // A window of 128, of which the receiver holds two: 257 rows of 256 + 1344 bytes.
    let window = repair(RepairCode::Rlc, 0.05, 128);
    assert_eq!(sources(window, 257 * 1600 / 2), Some(128));
    assert_eq!(sources(window, 257 * 1600 / 2 - 1), Some(64));
    assert_eq!(sources(window, 64 << 10), Some(32));
    assert_eq!(sources(window, 2000), None);
    let agreed =
        announced(repair(RepairCode::ReedSolomon, 0.05, 128)).agreed(1 << 16).expect("smaller blocks");
    // Two decoders of 12 symbols of 1334 bytes and 32 of 1344; only one decoder of 24 and 64 would fit.
    assert_eq!((agreed.sources, agreed.blocks), (8, 2));
    assert_eq!(agreed.code, Code::ReedSolomon { repairs: 4 });
}

/// The shared rule is close to the memory that receivers count.
#[test]
fn receivers_of_what_is_agreed_stay_near_twice_the_receive_buffer() {
    use strandcast_coding::blocks::BlockReceiver;
    use strandcast_coding::windows::WindowReceiver;
    let codings = [
        blocks(Code::Rlc, 0),
        blocks(Code::Fountain, 64),
        blocks(Code::Rlc, 256),
        repair(RepairCode::Rlc, 0.05, 128),
        repair(RepairCode::Rlc, 0.05, 1024),
        repair(RepairCode::RaptorQ, 0.05, 128),
        repair(RepairCode::RaptorQ, 0.01, 256),
        repair(RepairCode::ReedSolomon, 0.05, 128),
        repair(RepairCode::ReedSolomon, 0.01, 256),
    ];
    let mut agreements = 0;
    for coding in codings {
        for chunks in [500, CHUNKS, 8900] {
            for a_rwnd in [3000, 1 << 16, 1 << 18, 1 << 20, 1 << 24] {
                let Some(agreed) = Announced::new(Some(&coding), chunks).agreed(a_rwnd) else { continue };
                agreements += 1;
                let bound = if agreed.code.slides() {
                    WindowReceiver::new(agreed.window()).bound()
                } else {
                    BlockReceiver::new(agreed.blocks()).bound()
                };
                let most = most_memory(&agreed, a_rwnd as usize);
                assert!(bound <= most, "{agreed:?}, {a_rwnd}: {bound} of {most}");
            }
        }
    }
    assert!(agreements > 60, "{agreements}");
}

/// Twice the receive buffer and tables: less than 512 bytes for each source symbol and 8 KiB for each block, and the
/// memory with which RaptorQ solves one block.
fn most_memory(agreed: &Agreed, a_rwnd: usize) -> usize {
    let (k, length) = (usize::from(agreed.sources), usize::from(agreed.symbol_length));
    let solving = 5 * (k + 16) * (length + 160) + 4 * (k + 144) * (k + 144) + (64 << 10);
    let solving = if agreed.code == Code::RaptorQ { solving } else { 0 };
    2 * a_rwnd + usize::from(agreed.blocks) * (k * 512 + (8 << 10)) + solving
}
