//! Work that symbols cause at a receiver: bytes of rows that its decoders read or write, divided by received bytes and
//! by time.

use std::sync::Arc;

use strandcast_coding::symbol::Header;
use strandcast_proto::association::SendOptions;
use strandcast_proto::coding::{BlockCoding, Code, Coding, CodingStats};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::policy::Importance;
use strandcast_proto::rfc;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Chunk;
use strandcast_testing::endpoints::{CLIENT, SERVER, TestPair, config, ms};
use strandcast_testing::plain;
use strandcast_testing::raw::*;

/// Symbols of one byte of payload that a packet of 1400 bytes holds, and packets per second: 0.68 Mbit/s.
const A_PACKET: u32 = 40;
const A_SECOND: u32 = 60;
const SECONDS: u32 = 10;
/// Work that is earned every second, work that is saved at first, and work of one symbol that is decoded on credit:
/// that symbol may make a window drop everything that it holds.
const EARNED: u64 = 32 << 20;
const FIRST: u64 = 17 << 20;
const ONE: u64 = 64 << 20;

/// An association whose peer announced how it codes.
fn victim(code: u8, (sources, length): (u16, u16), unasked: bool) -> RawPeer {
    let transport = TransportConfig { receive_buffer: 4 << 20, ..TransportConfig::default() };
    let mut l = RawPeer::with(EndpointConfig {
        transport: Arc::new(transport),
        accept: Some(Arc::new(|_| Box::new(rfc::scheme()))),
        decodes_unasked: unasked,
        ..EndpointConfig::default()
    });
    l.shake_hands(coding(code, sources, length));
    l
}

/// The symbols with the highest cost per byte: each is new, and none belongs to a message that arrives.
fn repair(code: u8, sources: u16, n: u32) -> Vec<u8> {
    let mut out = Vec::new();
    match code {
        3 => Header::WindowRepair {
            first: n / (u32::from(sources) - 1) * u32::from(sources),
            sources,
            seed: 15 << 16 | (n & 0xffff),
        },
        // As many as restore a block, and those that may arrive beyond.
        4 | 5 => Header::Repair {
            block: n / (u32::from(sources) + 16),
            sources,
            seed: n % (u32::from(sources) + 16),
        },
        // One less than a block needs, so that no block is decoded.
        _ => {
            let each = u32::from(sources) - 1;
            Header::Repair { block: n / each % 4, sources, seed: n }
        }
    }
    .write(&mut out);
    out.push(n as u8 | 1);
    out
}

/// Runs seconds of repair symbols of one byte. Returns their counters.
fn flood(code: u8, shape: (u16, u16), unasked: bool) -> CodingStats {
    let mut l = victim(code, shape, unasked);
    let (mut n, mut tsn) = (0, OUR_TSN);
    for _ in 0..SECONDS * A_SECOND {
        let chunks: Vec<Chunk> = (0..A_PACKET)
            .map(|i| data_with(tsn + i, 0, &repair(code, shape.0, n + i), |h| h.unordered = true))
            .collect();
        (n, tsn) = (n + A_PACKET, tsn + A_PACKET);
        l.give(&chunks);
        l.run(Duration::from_secs(1) / A_SECOND);
    }
    let stats = l.association().stats().coding;
    println!("code {code}, {shape:?}, unasked {unasked}: {} work of {n} symbols, {stats:?}", stats.work);
    stats
}

const SHAPES: [(u8, (u16, u16)); 6] =
    [(1, (256, 512)), (2, (256, 512)), (3, (340, 512)), (3, (1024, 64)), (4, (256, 512)), (5, (256, 512))];

/// The peer repairs nothing that pays for the work: only the work earned with time is spent.
#[test]
fn repair_symbols_of_one_byte_cost_what_time_pays_for() {
    for (code, shape) in SHAPES {
        let stats = flood(code, shape, true);
        // In blocks of a stream each symbol counts as what may be repaired, by its bytes.
        let came = if code < 3 { 2048 * u64::from(SECONDS * A_SECOND * A_PACKET) * 14 } else { 0 };
        let most = came + u64::from(SECONDS) * EARNED + FIRST + ONE;
        assert!(stats.work <= most, "code {code}, {shape:?}: {} of {most}: {stats:?}", stats.work);
    }
}

/// Before the application reads from an association, even less work is done.
#[test]
fn what_nobody_wants_is_hardly_decoded() {
    for (code, shape) in SHAPES {
        let stats = flood(code, shape, false);
        let most = if code < 3 { FIRST } else { 1 << 20 };
        assert!(stats.work <= most + ONE, "code {code}, {shape:?}: {stats:?}");
        assert!(code < 3 || stats.symbols_shed > 15_000, "{stats:?}");
        assert!(stats.symbols_shed <= stats.symbols_refused);
    }
}

/// Messages among the flood are delivered, regardless of the decoder's state.
#[test]
fn messages_beside_a_flood_arrive() {
    for code in [3, 5] {
        let mut l = victim(code, (256, 512), true);
        let mut tsn = OUR_TSN;
        for n in 0..2000u32 {
            let mut message = Vec::new();
            match code {
                3 => Header::WindowSource { number: n },
                _ => Header::Source { block: n / 256, index: (n % 256) as u16, last: n % 256 == 255 },
            }
            .write(&mut message);
            message.extend_from_slice(&n.to_be_bytes());
            let mut chunks = vec![data_with(tsn, 0, &message, |h| h.unordered = true)];
            for i in 1..A_PACKET {
                let symbol = repair(code, 256, n * A_PACKET + i);
                chunks.push(data_with(tsn + i, 0, &symbol, |h| h.unordered = true));
            }
            tsn += A_PACKET;
            l.give(&chunks);
            l.run(ms(1));
        }
        let sent = |m: &strandcast_proto::rx::Message| m.payload.len() == 4;
        let arrived = l.messages.iter().filter(|m| sent(m)).count();
        assert!(arrived >= 2000, "code {code}: {arrived}");
        let work = l.association().stats().coding.work;
        assert!(work <= 2048 * 2000 * 4 + 2 * EARNED + FIRST + ONE, "code {code}: {work}");
    }
}

/// A stream of coded blocks waits until the application reads, and loses nothing.
#[test]
fn blocks_wait_until_they_are_wanted() {
    let coding = Coding::Blocks(BlockCoding { code: Code::Rlc, sources: 64, flush: ms(10) });
    let factory: SchemeFactory = Arc::new(|_| plain::simple());
    let client = TransportConfig { coding: Some(coding), ..config() };
    let mut pair = TestPair::with(&[10], [client, config()], factory, 1);
    pair.connect_with(plain::symbols(false, 0));
    assert!(pair.run_until(ms(60_000), |p| p.apps[SERVER].id.is_some()), "connected");
    let id = pair.apps[SERVER].id.expect("connected");
    let want = |pair: &mut TestPair, wanted| {
        let wants = |a: &mut strandcast_proto::association::Association| {
            a.want(wanted);
            Ok(())
        };
        pair.ends[SERVER].with(id, wants).expect("it is there");
    };
    want(&mut pair, false);
    let options = SendOptions { importance: Importance::ALL[0], ..SendOptions::default() };
    for n in 0..2000u32 {
        let mut bytes = vec![7; 1200];
        bytes[..4].copy_from_slice(&n.to_be_bytes());
        pair.send(CLIENT, bytes, options);
        pair.run(ms(2));
    }
    let early = pair.apps[SERVER].messages.len();
    assert!((1..1900).contains(&early), "{early} of 2000 before");
    want(&mut pair, true);
    assert!(pair.run_until(ms(60_000), |p| p.apps[SERVER].messages.len() == 2000), "all after");
    let number =
        |m: &strandcast_proto::rx::Message| u32::from_be_bytes(m.payload[..4].try_into().expect("four"));
    assert!(pair.apps[SERVER].messages.iter().map(number).eq(0..2000));
}
