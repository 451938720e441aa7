//! Memory that garbage makes a receiver of symbols hold: heap, counted by allocation, over a minute at 10 Mbit/s.

use allocation_counter::measure;
use strandcast_coding::Code;
use strandcast_coding::symbol::Header;
use strandcast_proto::association::Event;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Chunk;
use strandcast_testing::raw::*;

const GRANTED: u32 = 512 << 10;
const LENGTH: u16 = 1200;
/// Chunks of 1200 bytes of user data in a minute at 10 Mbit/s, and the time between them.
const MINUTE: u32 = 62_500;
const EACH: Duration = Duration::from_nanos(960_000);

/// Announcements of the peer: (code, source symbols).
const ANNOUNCED: [(u8, u16); 5] = [(1, 16), (2, 32), (3, 128), (4, 64), (5, 32)];

fn victim(code: u8, sources: u16) -> RawPeer {
    let transport = TransportConfig { receive_buffer: GRANTED, ..TransportConfig::default() };
    let mut l = RawPeer::accepted(transport, coding(code, sources, LENGTH));
    // This is the call of a driver whose own buffers are used up.
    l.end.copy_kept(true);
    l
}

/// docs/models/coding.md: twice the receive buffer and 640 KiB for chunks; the same without those for decoded data, in
/// addition tables (512 bytes per source symbol and 8 KiB per block, the memory with which RaptorQ solves one), one
/// message, and 8 KiB of numbers.
fn bound(sources: u16) -> u64 {
    let (granted, k, length) = (u64::from(GRANTED), u64::from(sources), u64::from(LENGTH));
    let chunks = 2 * granted + (640 << 10);
    let blocks = (granted / (k * length)).max(32);
    let tables = blocks * (k * 512 + (8 << 10));
    let solving = 5 * (k + 16) * (length + 160) + 4 * (k + 144) * (k + 144) + (64 << 10);
    chunks + 2 * granted + tables + solving + 2 * granted + (8 << 10)
}

/// User data: from random bytes to symbols with a random payload alone, near the held data and far from them, in turn
/// with changed ones of an honest sender. `first`: whether some may be the first symbol of a stream.
fn garbage(random: &mut Random, at: u32, sources: u16, first: bool) -> Vec<u8> {
    let near = at.wrapping_add(random.below(12) as u32).wrapping_sub(4);
    let mut number = if random.chance(0.9) { near } else { random.u32() };
    if !first && number == 0 {
        number = 1;
    }
    let place = random.below(u64::from(sources) + 2) as u16;
    let seed = if random.chance(0.7) { random.below(32) as u32 } else { random.u32() };
    let mut out = Vec::new();
    match random.below(12) {
        0 => {}
        1..=3 => Header::Source { block: number, index: place, last: random.chance(0.1) }.write(&mut out),
        4..=6 => {
            let sources = if random.chance(0.8) { sources } else { place.max(1) };
            Header::Repair { block: number, sources, seed }.write(&mut out);
        }
        7 | 8 => Header::WindowSource { number: near.wrapping_mul(3) | u32::from(!first) }.write(&mut out),
        9 | 10 => {
            let seed = seed & 0xf_ffff;
            Header::WindowRepair {
                first: near.wrapping_mul(3) | u32::from(!first),
                sources: place.max(1),
                seed,
            }
            .write(&mut out);
        }
        _ => Header::Plain.write(&mut out),
    }
    let start = out.len();
    let most = [1200, 1198, 1201, 20][random.below(4) as usize];
    out.resize(start + 1 + random.below(most) as usize, 0);
    // Symbols of an honest sender have zeros at the end.
    let random_part = if random.chance(0.3) { (start + 12).min(out.len()) } else { out.len() };
    random.fill(&mut out[start..random_part]);
    if random.chance(0.1) {
        let bit = random.below(8 * out.len().min(if first { 10 } else { 2 }) as u64) as usize;
        out[bit / 8] ^= 1 << (bit % 8);
    }
    out
}

/// Tables that the crates of codecs share between all codecs of a process.
fn make_tables() {
    for code in [Code::Rlc, Code::RaptorQ, Code::ReedSolomon { repairs: 8 }] {
        let (mut encoder, mut decoder) = (code.encoder(2, 2), code.decoder(2, 2));
        (0..2).for_each(|_| encoder.push(&[1, 2]));
        let mut symbol = Vec::new();
        encoder.repair(0, &mut symbol).expect("a symbol");
        decoder.source(0, &[1, 2]);
        decoder.repair(0..2, 0, &symbol);
    }
}

/// Runs a minute of garbage. Returns how often the association ended and a new one began.
fn minute(code: u8, sources: u16, first: bool, lazy: bool) -> u32 {
    let mut random = Seeds::new(u64::from(code), 0).stream("garbage");
    make_tables();
    let (mut ended, mut refused, mut taken) = (0, 0, 0);
    let heap = measure(|| {
        let mut l = victim(code, sources);
        let mut tsn = OUR_TSN;
        for n in 0..MINUTE {
            l.lazy = lazy && n % 500 != 0;
            // Blocks of a stream stay open until the first is decoded.
            let at = if code <= 2 { 3 } else { (tsn - OUR_TSN) / 40 };
            let payload = garbage(&mut random, at, sources, first);
            let chunk: Chunk = data_with(tsn, 0, &payload, |h| h.unordered = true);
            l.give(&[chunk]);
            l.run(EACH);
            tsn += 1;
            l.messages.clear();
            if n % 1000 == 0 {
                l.association().assert_consistent();
            }
            let closed = l.events.drain(..).any(|e| matches!(e, Event::Closed(_)));
            if closed || n + 1 == MINUTE {
                ended += u32::from(n + 1 < MINUTE);
                let coding = l.association().stats().coding;
                refused += coding.symbols_refused;
                taken += coding.sources_received + coding.repairs_received;
                (l, tsn) = (victim(code, sources), OUR_TSN);
            }
        }
    });
    let bound = bound(sources);
    println!(
        "code {code}: {} bytes of {bound}; {taken} taken, {refused} refused, {ended} ended",
        heap.bytes_max
    );
    assert!(heap.bytes_max <= bound, "code {code}: {} of {bound}", heap.bytes_max);
    // The garbage is hostile enough to be accepted as symbols, and to be refused.
    assert!(taken > 100 && refused > 100, "code {code}: {taken} taken, {refused} refused");
    ended
}

#[test]
fn a_minute_of_garbage_that_is_read() {
    for (code, sources) in ANNOUNCED {
        let ended = minute(code, sources, false, false);
        // Nothing is decoded of a stream whose first symbol is missing, and messages by themselves can be any bytes.
        assert_eq!(ended, 0, "code {code}");
    }
}

/// Garbage that is the first symbol of a stream of records ends it.
#[test]
fn a_minute_of_garbage_from_the_first_symbol_on() {
    for (code, sources) in ANNOUNCED {
        let ended = minute(code, sources, true, false);
        assert_eq!(ended > 0, code <= 2, "code {code}: {ended}");
    }
}

#[test]
fn a_minute_of_garbage_that_is_seldom_read() {
    for (code, sources) in ANNOUNCED {
        minute(code, sources, true, true);
    }
}

/// The memory of decoders is counted: the association does not report less than it holds.
#[test]
fn what_is_held_is_counted() {
    for (code, sources) in ANNOUNCED {
        make_tables();
        let mut random = Seeds::new(9, 0).stream("garbage");
        let mut l = victim(code, sources);
        assert!(l.association().heap() < 64 << 10, "nothing is taken before the first symbol");
        let held = measure(|| {
            for n in 0..3000 {
                let at = if code <= 2 { 3 } else { n / 40 };
                let payload = garbage(&mut random, at, sources, false);
                l.give(&[data_with(OUR_TSN + n, 0, &payload, |h| h.unordered = true)]);
                (l.messages, l.events) = Default::default();
            }
        });
        let (held, heap) = (held.bytes_current, l.association().heap());
        println!("code {code}: {held} bytes held, {heap} stated");
        assert!(held <= heap as i64 + (32 << 10), "code {code}: {held} bytes held, {heap} stated");
    }
}
