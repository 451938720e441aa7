//! Messages through symbols made by hand. Blocks and windows of `strandcast_coding` have their own tests.

use bytes::Bytes;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockSender, SourceId};
use strandcast_coding::symbol::{Header, REPAIR_HEADER, SOURCE_HEADER};
use strandcast_coding::windows::WindowSender;

use super::*;
use crate::coding::covered;
use crate::coding::record::testing::records;
use crate::seeds::{Random, Seeds};
use crate::time::Instant;
use crate::wire::{Ppid, Ssn, StreamId, Tsn};

const STREAMS: u16 = 8;
const LONGEST: usize = 100_000;
const LENGTH: u16 = 100;

fn agreed(mode: Mode, code: Code, sources: u16, blocks: u16) -> Agreed {
    Agreed { mode, code, sources, symbol_length: LENGTH, blocks }
}

fn decoding(agreed: Agreed) -> Decoding {
    Decoding::new(agreed, STREAMS, LONGEST, true)
}

/// Returns the message of a chunk with these user data.
fn chunk(tsn: u32, stream: u16, ppid: u32, payload: Vec<u8>) -> Message {
    Message {
        stream: StreamId(stream),
        ssn: Ssn(0),
        ppid: Ppid(ppid),
        unordered: true,
        payload: payload.into(),
        first_tsn: Tsn(tsn),
        arrived: Instant::from_millis(u64::from(tsn)),
    }
}

/// Passes a chunk to the decoder and reads, as an association does. Returns stream, identifier and payload of each
/// message.
fn read(d: &mut Decoding, stats: &mut CodingStats, chunk: Message) -> Vec<(u16, u32, Vec<u8>)> {
    let mut messages: Vec<Message> = d.take(chunk, stats).into_iter().collect();
    while let Some(message) = d.pop(stats).expect("an honest sender") {
        messages.push(message);
    }
    assert!(d.heap() <= d.bound().expect("memory was taken"));
    messages.into_iter().map(|m| (m.stream.0, m.ppid.0, m.payload.to_vec())).collect()
}

fn written(header: Header, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    header.write(&mut out);
    out.extend_from_slice(payload);
    out
}

/// Returns messages of 1 to `most` bytes on any stream.
fn messages(random: &mut Random, count: usize, most: u64) -> Vec<(u16, u32, Vec<u8>)> {
    let one = |random: &mut Random| {
        let mut payload = vec![0; 1 + random.below(most) as usize];
        random.fill(&mut payload);
        let label = if random.chance(0.5) { (0, 0) } else { (random.below(8) as u16, random.u32()) };
        (label.0, label.1, payload)
    };
    (0..count).map(|_| one(random)).collect()
}

mod blocks {
    use super::*;

    /// Returns the symbols of `bytes`, which fill them, and `repairs` repair symbols of each block.
    pub fn symbols(agreed: &Agreed, bytes: &[u8], repairs: usize) -> Vec<(u32, Vec<u8>)> {
        let config = strandcast_coding::blocks::BlockConfig { blocks: 10_000, ..agreed.blocks() };
        let mut sender = BlockSender::new(config, 1);
        let ids: Vec<SourceId> =
            bytes.chunks(usize::from(LENGTH) - 2).map(|piece| sender.push(piece).expect("room")).collect();
        sender.close();
        let mut out = Vec::new();
        for id in &ids {
            let mut symbol = Vec::new();
            sender.write_source(*id, &mut symbol).expect("held");
            out.push((id.block, symbol));
        }
        for block in 0..=ids.last().expect("bytes").block {
            for _ in 0..repairs {
                let mut symbol = Vec::new();
                sender.write_repair(block, &mut symbol).expect("closed");
                out.push((block, symbol));
            }
        }
        out.sort_by_key(|(block, _)| *block);
        out
    }

    /// If each block loses at most as many symbols as it has repair symbols, messages arrive unchanged and in order,
    /// whatever the order of symbols within the open blocks, and everything is counted once.
    #[test]
    fn messages_arrive_in_order_whatever_is_lost() {
        for (seed, code) in (0..6).flat_map(|seed| [(seed, Code::Rlc), (seed, Code::Fountain)]) {
            let mut random = Seeds::new(seed, 0).stream("blocks");
            let agreed = agreed(Mode::Blocks, code, 8, 4);
            let sent = messages(&mut random, 300, 400);
            let bytes = records(sent.iter().map(|(s, p, m)| (*s, *p, &m[..])));
            let all = symbols(&agreed, &bytes, 30);
            let (mut d, mut stats) = (decoding(agreed), CodingStats::default());
            let mut found = Vec::new();
            let mut given = 0;
            // Two blocks at a time: all symbols of both, in any order, a quarter of them lost.
            let last = all.last().expect("symbols").0;
            for pair in 0..=last / 2 {
                let mut these: Vec<_> = all.iter().filter(|(block, _)| block / 2 == pair).collect();
                for i in (1..these.len()).rev() {
                    these.swap(i, random.below(i as u64 + 1) as usize);
                }
                for (_, symbol) in these {
                    if !random.chance(0.25) {
                        given += 1;
                        found.extend(read(&mut d, &mut stats, chunk(given, 0, 0, symbol.clone())));
                    }
                }
            }
            assert_eq!(found, sent, "seed {seed}, {code}");
            assert_eq!(stats.sources_received + stats.repairs_received, u64::from(given));
            // Each source symbol was known by itself or was computed.
            let sources = bytes.len().div_ceil(usize::from(LENGTH) - 2) as u64;
            assert_eq!(stats.sources_received - stats.sources_late + stats.recovered, sources);
            assert!(
                stats.recovered > 20 && stats.sources_late > 20 && stats.repairs_unused > 20,
                "{stats:?}"
            );
            assert_eq!((stats.symbols_refused, stats.damaged), (0, 0));
        }
    }

    /// Messages are numbered within their streams, and have the time of the symbol that completed them.
    #[test]
    fn a_message_says_its_place_in_its_stream_and_when_it_came() {
        let agreed = agreed(Mode::Blocks, Code::Rlc, 2, 2);
        let bytes = records([(1, 0, &b"a"[..]), (2, 5, b"b"), (1, 0, b"c"), (1, 0, &[7; 90])]);
        let symbols = symbols(&agreed, &bytes, 0);
        let (mut d, mut stats) = (decoding(agreed), CodingStats::default());
        assert_eq!(read(&mut d, &mut stats, chunk(8, 0, 0, symbols[1].1.clone())), []);
        d.take(chunk(9, 0, 0, symbols[0].1.clone()), &mut stats);
        let mut found = Vec::new();
        while let Some(m) = d.pop(&mut stats).expect("honest") {
            assert_eq!((m.first_tsn, m.arrived, m.unordered), (Tsn(9), Instant::from_millis(9), false));
            found.push((m.stream.0, m.ssn.0));
        }
        assert_eq!(found, [(1, 0), (2, 0), (1, 1), (1, 2)]);
    }

    fn refused(d: &mut Decoding, stats: &mut CodingStats, payload: Vec<u8>) {
        let before = stats.symbols_refused;
        assert_eq!(read(d, stats, chunk(1, 0, 0, payload)), []);
        assert_eq!(stats.symbols_refused, before + 1);
    }

    #[test]
    fn what_is_no_symbol_of_a_block_that_is_open_is_refused() {
        let (mut d, mut stats) = (decoding(agreed(Mode::Blocks, Code::Rlc, 4, 2)), CodingStats::default());
        for payload in [
            b"garbage".to_vec(),
            vec![0x10],
            written(Header::Plain, b"plain"),
            written(Header::WindowSource { number: 0 }, b"x"),
            written(Header::Source { block: 2, index: 0, last: false }, b"ahead"),
            written(Header::Source { block: 0, index: 4, last: false }, b"no such place"),
            written(Header::Source { block: 0, index: 0, last: false }, &[0; LENGTH as usize - 1]),
            written(Header::Repair { block: 0, sources: 5, seed: 1 }, b"x"),
            written(Header::Repair { block: 0, sources: 4, seed: 1 }, &[0; LENGTH as usize + 1]),
        ] {
            refused(&mut d, &mut stats, payload);
        }
        assert_eq!(stats, CodingStats { symbols_refused: 9, ..CodingStats::default() });
    }

    fn broken_by(symbols: &[Vec<u8>], sources: u16) -> Undecodable {
        let (mut d, mut stats) =
            (decoding(agreed(Mode::Blocks, Code::Rlc, sources, 2)), CodingStats::default());
        for symbol in symbols {
            assert_eq!(d.take(chunk(1, 0, 0, symbol.clone()), &mut stats), None);
        }
        loop {
            match d.pop(&mut stats) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("nothing wrong with {symbols:?}"),
                Err(why) => {
                    // Nothing more arrives, and nothing is kept.
                    assert_eq!(d.take(chunk(2, 0, 0, symbols[0].clone()), &mut stats), None);
                    assert_eq!((d.pop(&mut stats), d.heap()), (Ok(None), 0));
                    return why;
                }
            }
        }
    }

    #[test]
    fn what_is_no_stream_of_messages_ends_it() {
        let first = |payload: &[u8]| written(Header::Source { block: 0, index: 0, last: false }, payload);
        assert_eq!(broken_by(&[first(&[0, 0, 0, 0])], 4), Undecodable::Record(BadRecord::Header));
        let long = (LONGEST as u32 + 1).to_be_bytes();
        assert_eq!(broken_by(&[first(&long)], 4), Undecodable::Record(BadRecord::TooLong(LONGEST + 1)));
        let stream = records([(STREAMS, 0, &b"x"[..])]);
        assert_eq!(broken_by(&[first(&stream)], 4), Undecodable::Stream(STREAMS));
        // A forged repair symbol: the other source symbol is invalid.
        let forged = written(Header::Repair { block: 0, sources: 2, seed: 1 }, &[0xff; LENGTH as usize]);
        assert_eq!(broken_by(&[first(&records([(0, 0, &b"x"[..])])), forged], 2), Undecodable::Damaged);
    }

    /// A message as long as the receive buffer needs several blocks.
    #[test]
    fn a_message_may_be_as_long_as_the_receive_buffer() {
        let agreed = agreed(Mode::Blocks, Code::Rlc, 8, 2);
        let long = vec![3; LONGEST];
        let (mut d, mut stats) = (decoding(agreed), CodingStats::default());
        let mut found = Vec::new();
        for (_, symbol) in symbols(&agreed, &records([(3, 4, &long[..])]), 0) {
            found.extend(read(&mut d, &mut stats, chunk(1, 0, 0, symbol)));
        }
        assert_eq!(found, [(3, 4, long)]);
    }
}

/// Once memory is allocated, symbols allocate none, except for messages that were computed or joined.
#[test]
fn symbols_cost_no_allocation() {
    let sent: Vec<(u16, u32, Vec<u8>)> = (0..3200u32).map(|n| (1, n, vec![n as u8; 80])).collect();
    let sliding = agreed(Mode::Repair, Code::Sliding, 16, 1);
    let mut stats = CodingStats::default();
    let mut run = |d: &mut Decoding, chunks: Vec<Message>| {
        let heap = allocation_counter::measure(|| {
            for one in chunks {
                let taken = d.take(one, &mut stats);
                drop(taken);
                while d.pop(&mut stats).expect("an honest sender").is_some() {}
            }
        });
        heap.count_total
    };
    let with_headers = |all: &[repair::Chunk]| -> Vec<Message> {
        all.iter().map(|(bytes, i)| chunk(1, 1, i.map_or(0, |i| i as u32), bytes.clone())).collect()
    };
    let all = repair::chunks(&sliding, &sent, 2);
    let mut d = decoding(sliding);
    run(&mut d, with_headers(&all[..400]));
    assert_eq!(run(&mut d, with_headers(&all[400..])), 0, "repair beside messages");
    let in_blocks = agreed(Mode::Blocks, Code::Rlc, 8, 4);
    let bytes = records(sent.iter().map(|(s, p, m)| (*s, *p, &m[..])));
    let symbols = blocks::symbols(&in_blocks, &bytes, 2);
    let chunks: Vec<Message> = symbols.iter().map(|(_, symbol)| chunk(1, 0, 0, symbol.clone())).collect();
    let (first, rest) = chunks.split_at(400);
    let mut d = decoding(in_blocks);
    run(&mut d, first.to_vec());
    // 320 symbols, 400 with their repair symbols, held the first messages.
    let allocated = run(&mut d, rest.to_vec());
    assert!(allocated <= 3200, "blocks: {allocated} for no more than 3200 messages");
}

mod repair {
    use super::*;

    /// Content of a chunk, and its message, if it is a source symbol.
    pub type Chunk = (Vec<u8>, Option<usize>);

    const SOURCES: u16 = 16;

    fn repair_agreed(code: Code) -> Agreed {
        agreed(Mode::Repair, code, SOURCES, if code.slides() { 1 } else { 4 })
    }

    const CODES: [Code; 3] = [Code::Sliding, Code::RaptorQ, Code::ReedSolomon { repairs: 8 }];

    /// Source symbols of all messages in order, and `often` repair symbols after each sixteenth.
    pub fn chunks(agreed: &Agreed, sent: &[(u16, u32, Vec<u8>)], often: usize) -> Vec<Chunk> {
        let mut out = Vec::new();
        let mut window = WindowSender::new(agreed.window(), 1);
        let mut covered = Vec::new();
        if agreed.code.slides() {
            for (i, (stream, ppid, payload)) in sent.iter().enumerate() {
                covered::write(StreamId(*stream), Ppid(*ppid), payload, &mut covered);
                let number = window.push(&covered).expect("it fits");
                out.push((written(Header::WindowSource { number }, payload), Some(i)));
                for _ in 0..if (i + 1) % usize::from(SOURCES) == 0 { often } else { 0 } {
                    let mut symbol = Vec::new();
                    window.write_repair(&mut symbol).expect("not empty");
                    out.push((symbol, None));
                }
            }
            return out;
        }
        let mut blocks = BlockSender::new(agreed.blocks(), 1);
        for (i, (stream, ppid, payload)) in sent.iter().enumerate() {
            covered::write(StreamId(*stream), Ppid(*ppid), payload, &mut covered);
            let SourceId { block, index } = blocks.push(&covered).expect("room");
            let last = index + 1 == SOURCES;
            out.push((written(Header::Source { block, index, last }, payload), Some(i)));
            if last {
                for _ in 0..often {
                    let mut symbol = Vec::new();
                    blocks.write_repair(block, &mut symbol).expect("closed");
                    out.push((symbol, None));
                }
                blocks.release(block.wrapping_add(1));
            }
        }
        out
    }

    /// Each message arrives once and unchanged: at once if its chunk arrives, else from repair symbols.
    #[test]
    fn messages_arrive_once_each() {
        for (seed, code) in (0..5).flat_map(|seed| CODES.map(|code| (seed, code))) {
            let mut random = Seeds::new(seed, 0).stream("repair");
            let agreed = repair_agreed(code);
            let sent = messages(&mut random, 1600, u64::from(LENGTH) - 8);
            let (mut d, mut stats) = (decoding(agreed), CodingStats::default());
            let mut arrived = vec![0; sent.len()];
            let (mut lost, mut repairs) = (Vec::new(), 0);
            let mut find = |messages: &[(u16, u32, Vec<u8>)]| {
                for message in messages {
                    let i = sent.iter().position(|one| one == message).expect("a message that was sent");
                    arrived[i] += 1;
                }
            };
            for (tsn, (payload, source)) in chunks(&agreed, &sent, 7).into_iter().enumerate() {
                if random.chance(0.1) {
                    lost.extend(source.map(|i| (tsn, payload, i)));
                    continue;
                }
                repairs += u64::from(source.is_none());
                let label = source.map_or((0, 0), |i| (sent[i].0, sent[i].1));
                let found = read(&mut d, &mut stats, chunk(tsn as u32, label.0, label.1, payload));
                if let Some(i) = source {
                    assert_eq!(found.first(), Some(&sent[i]), "at once");
                }
                find(&found);
            }
            assert_eq!(stats.recovered, lost.len() as u64, "seed {seed}, {code}: {stats:?}");
            // Lost chunks arrive after all.
            for (tsn, payload, i) in lost {
                let found = read(&mut d, &mut stats, chunk(tsn as u32, sent[i].0, sent[i].1, payload));
                assert_eq!(found, []);
            }
            assert!(arrived.iter().all(|&times| times == 1), "seed {seed}, {code}");
            assert_eq!((stats.sources_received, stats.sources_late), (1600, stats.recovered));
            assert_eq!(stats.repairs_received, repairs);
            assert!(stats.repairs_unused > 0 && stats.recovered > 100);
            assert_eq!((stats.symbols_refused, stats.damaged), (0, 0));
        }
    }

    /// Computed by hand: two messages, the second of which is lost, and the value of each counter.
    #[test]
    fn what_is_counted() {
        for code in CODES {
            let agreed = Agreed { sources: 2, ..repair_agreed(code) };
            let sent = [(3, 7, b"one".to_vec()), (4, 8, b"two".to_vec())];
            let (mut d, mut stats) = (decoding(agreed), CodingStats::default());
            let covered: Vec<Vec<u8>> = sent
                .iter()
                .map(|(s, p, m)| {
                    let mut out = Vec::new();
                    covered::write(StreamId(*s), Ppid(*p), m, &mut out);
                    out
                })
                .collect();
            let header = |i: u16| match code {
                Code::Sliding => Header::WindowSource { number: i.into() },
                _ => Header::Source { block: 0, index: i, last: i == 1 },
            };
            let mut window = WindowSender::new(agreed.window(), 1);
            let mut blocks = BlockSender::new(agreed.blocks(), 1);
            for one in &covered {
                window.push(one).expect("it fits");
                blocks.push(one).expect("it fits");
            }
            let mut repair = || {
                let mut out = Vec::new();
                if code.slides() {
                    window.write_repair(&mut out).expect("not empty");
                } else {
                    blocks.write_repair(0, &mut out).expect("closed");
                }
                out
            };
            assert_eq!(read(&mut d, &mut stats, chunk(1, 3, 7, written(header(0), b"one"))), sent[..1]);
            assert_eq!(read(&mut d, &mut stats, chunk(2, 0, 0, repair())), sent[1..]);
            let recovered = CodingStats { sources_received: 1, repairs_received: 1, recovered: 1, ..stats };
            assert_eq!(stats, recovered);
            assert_eq!(read(&mut d, &mut stats, chunk(3, 0, 0, repair())), []);
            assert_eq!(
                stats,
                CodingStats { repairs_received: 2, repairs_unused: 1, work: stats.work, ..recovered }
            );
            assert_eq!(read(&mut d, &mut stats, chunk(4, 4, 8, written(header(1), b"two"))), []);
            let late = CodingStats {
                sources_received: 2,
                sources_late: 1,
                repairs_received: 2,
                repairs_unused: 1,
                work: stats.work,
                ..recovered
            };
            assert_eq!(stats, late, "{code}");
        }
    }

    #[test]
    fn a_message_that_came_by_repair_says_so_by_its_fields() {
        let agreed = repair_agreed(Code::Sliding);
        let sent = messages(&mut Seeds::new(1, 0).stream("repair"), 16, 50);
        let (mut d, mut stats) = (decoding(agreed), CodingStats::default());
        let mut all = chunks(&agreed, &sent, 1);
        all.remove(3);
        for (tsn, (payload, source)) in all.into_iter().enumerate() {
            let label = source.map_or((0, 0), |i| (sent[i].0, sent[i].1));
            let message = d.take(chunk(tsn as u32, label.0, label.1, payload), &mut stats);
            assert_eq!(message.is_some(), source.is_some());
        }
        let m = d.pop(&mut stats).expect("honest").expect("recovered");
        let (came, label) = ((m.first_tsn, m.arrived), (m.stream.0, m.ppid.0));
        assert_eq!(came, (Tsn(15), Instant::from_millis(15)), "with the repair symbol");
        assert_eq!((label, &m.payload[..], m.unordered), ((sent[3].0, sent[3].1), &sent[3].2[..], true));
    }

    #[test]
    fn plain_messages_pass_through() {
        let (mut d, mut stats) = (decoding(repair_agreed(Code::Sliding)), CodingStats::default());
        let ordered =
            Message { ssn: Ssn(9), unordered: false, ..chunk(1, 2, 3, written(Header::Plain, &[5; 5000])) };
        let expected = Message { payload: Bytes::from(vec![5; 5000]), ..ordered.clone() };
        assert_eq!(d.take(ordered, &mut stats), Some(expected));
        assert_eq!(stats, CodingStats::default());
    }

    #[test]
    fn what_is_no_symbol_is_refused() {
        for code in CODES {
            let (mut d, mut stats) = (decoding(repair_agreed(code)), CodingStats::default());
            let window = code.slides();
            let source = |payload: &[u8]| match code {
                Code::Sliding => written(Header::WindowSource { number: 0 }, payload),
                _ => written(Header::Source { block: 0, index: 0, last: false }, payload),
            };
            let other = if window {
                Header::Source { block: 0, index: 0, last: false }
            } else {
                Header::WindowSource { number: 0 }
            };
            let wide = if window {
                Header::WindowRepair { first: 0, sources: SOURCES + 1, seed: 1 }
            } else {
                Header::Repair { block: 0, sources: SOURCES + 1, seed: 1 }
            };
            for payload in [
                Vec::new(),
                vec![0x70],
                b"garbage".to_vec(),
                written(Header::Plain, b""),
                source(b""),
                source(&[0; LENGTH as usize - 7]),
                written(other, b"another kind of stream"),
                written(wide, b"x"),
            ] {
                let before = stats.symbols_refused;
                assert_eq!(read(&mut d, &mut stats, chunk(1, 0, 0, payload.clone())), [], "{payload:?}");
                assert_eq!(stats.symbols_refused, before + 1, "{code}: {payload:?}");
            }
            assert_eq!(stats, CodingStats { symbols_refused: 8, ..CodingStats::default() });
            assert_eq!(read(&mut d, &mut stats, chunk(1, 0, 0, source(&[0; LENGTH as usize - 8]))).len(), 1);
        }
        assert_eq!((SOURCE_HEADER, REPAIR_HEADER), (6, 10));
    }

    /// The result of a forged repair symbol is not a message, or is for a stream that does not exist. It is counted.
    #[test]
    fn a_forged_repair_symbol_gives_nothing() {
        let (mut d, mut stats) = (decoding(repair_agreed(Code::Sliding)), CodingStats::default());
        let forged = Header::WindowRepair { first: 0, sources: 1, seed: 15 << 16 | 1 };
        assert_eq!(read(&mut d, &mut stats, chunk(1, 0, 0, written(forged, &[0xff; 40]))), []);
        assert_eq!((stats.damaged, stats.recovered), (1, 0));
        // A valid message, except for its stream: 37 · (0, 8, 0, 8, 0, 0, 0, 0, 1, 2) by the first coefficient of key
        // 1.
        let mut sender = WindowSender::new(repair_agreed(Code::Sliding).window(), 1);
        sender.push(&[0, STREAMS as u8, 0, 0, 0, 0, 1, 2]).expect("it fits");
        let mut symbol = Vec::new();
        sender.write_repair(&mut symbol).expect("not empty");
        let mut d = decoding(repair_agreed(Code::Sliding));
        assert_eq!(read(&mut d, &mut stats, chunk(1, 0, 0, symbol)), []);
        assert_eq!((stats.damaged, stats.recovered), (1, 0));
    }
}
