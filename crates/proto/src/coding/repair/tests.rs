//! Repaired messages, times of repair, and their cost: one source by itself, with constructed views.

use std::collections::BTreeSet;

use proptest::prelude::*;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, BlockReceiver, Order};
use strandcast_coding::windows::{WindowConfig, WindowReceiver};

use super::*;
use crate::coding::RepairCode;
use crate::policy::fixture::Picture;

const CODES: [RepairCode; 3] = [RepairCode::Rlc, RepairCode::RaptorQ, RepairCode::ReedSolomon];
const SHAPE: RepairShape = RepairShape { sources: 64, symbol_length: 1024, blocks: 4 };
const MS: Duration = Duration::from_millis(1);

fn config(code: RepairCode, when: RepairWhen, redundancy: f64) -> RepairCoding {
    RepairCoding { code, redundancy, when, window: SHAPE.sources }
}

/// A sender of one message per millisecond by path 0, and the symbols that left.
struct Bench {
    picture: Picture,
    source: RepairSource,
    lifetime: Duration,
    length: usize,
    next: u32,
    headers: Vec<Header>,
    wire: Vec<Vec<u8>>,
    repairs: Vec<Written>,
}

impl Bench {
    /// Two paths of `rtt` ms; path 0 has 20 chunks in flight.
    fn new(config: RepairCoding, rtt: u32, lifetime: u32) -> Self {
        let mut picture = Picture::new(2);
        for p in &mut picture.paths {
            (p.srtt, p.rttvar, p.in_flight_chunks) = (Some(rtt * MS), Duration::ZERO, 20);
        }
        Bench {
            picture,
            source: RepairSource::new(&config, SHAPE),
            lifetime: lifetime * MS,
            length: 994,
            next: 0,
            headers: Vec::new(),
            wire: Vec::new(),
            repairs: Vec::new(),
        }
    }

    fn payload(number: u32, length: usize) -> Vec<u8> {
        (0..length as u32).map(|i| (i * 7 + number * 13 + number / 256) as u8).collect()
    }

    fn send(&mut self) {
        let now = self.picture.now;
        let payload = Self::payload(self.next, self.length);
        let expires = now + self.lifetime;
        let (stream, ppid) = (StreamId(self.next as u16 % 3), Ppid(self.next));
        let payload = Bytes::from(payload);
        let leaving = Leaving {
            stream,
            ppid,
            unordered: true,
            begin: true,
            end: true,
            expires: Some(expires),
            payload: &payload,
            path: PathId(0),
        };
        let (header, symbol) = self.source.on_source_sent(now, &leaving).expect("a header");
        symbol.expect("it is covered");
        let mut wire = Vec::new();
        header.write(&mut wire);
        wire.extend_from_slice(&payload);
        self.wire.push(wire);
        self.headers.push(header);
        self.next += 1;
    }

    fn due(&mut self) -> Option<RepairOffer> {
        self.source.due(&self.picture.view())
    }

    /// Sends all due repair symbols. Returns their number.
    fn repair(&mut self) -> usize {
        let before = self.repairs.len();
        while let Some(offer) = self.due() {
            let repair = self.source.write().expect("it is due");
            let len = (repair.header.length() + repair.payload.len() + 16) as u64;
            assert!(len <= offer.len && len + 64 > offer.len, "{len}, offered {}", offer.len);
            self.repairs.push(repair);
            self.source.assert_consistent();
        }
        self.repairs.len() - before
    }

    /// Sends `count` messages, one per millisecond, and the repair symbols that are due between them.
    fn run(&mut self, count: usize) -> usize {
        let mut repairs = 0;
        for _ in 0..count {
            self.send();
            repairs += self.repair();
            self.picture.now += MS;
        }
        repairs
    }

    fn settle(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            self.source.delivered(&self.headers[number], None);
        }
    }

    fn lose(&mut self, number: usize) {
        self.source.lost(&self.headers[number], PathId(0));
    }
}

/// Messages of 994 bytes are 1000 with their header. A repair symbol is 994 + 6 + 2 + 10 = 1012: one after 21 at 5 %.
#[test]
fn always_means_as_soon_as_the_cap_allows() {
    let mut bench = Bench::new(config(RepairCode::Rlc, RepairWhen::Always, 0.05), 20, 10_000);
    assert_eq!((bench.run(20), bench.run(1)), (0, 1));
    assert_eq!(bench.repairs[0].header, Header::WindowRepair { first: 0, sources: 21, seed: 15 << 16 });
    // 1012 / 1000 / .05 = 20.24 sources each: 49 repair symbols need 991.76 sources.
    assert_eq!((bench.run(1000 - 21 - 9), bench.run(1), bench.repairs.len()), (47, 1, 49));
}

#[test]
fn nothing_is_due_once_everything_arrived() {
    for code in CODES {
        let mut bench = Bench::new(config(code, RepairWhen::Always, 0.05), 20, 10_000);
        bench.run(15);
        bench.settle(0..15);
        for _ in 15..200 {
            bench.send();
            bench.settle([bench.headers.len() - 1]);
            assert_eq!(bench.due(), None, "{code:?}");
        }
    }
}

/// RTT 100 ms with 20 chunks in flight: a loss is noticed after 115 ms, and a retransmission takes 50 ms more.
#[test]
fn late_repairs_only_what_could_not_be_sent_again() {
    for code in CODES {
        let repairs = |lifetime| {
            let mut bench = Bench::new(config(code, RepairWhen::Late, 0.05), 100, lifetime);
            bench.run(400);
            bench.repairs.len()
        };
        assert_eq!(repairs(165), 0, "{code:?}: in time to the millisecond");
        // 400 sources pay for 19, the last of which may wait for its block to be closed.
        assert!((16..=19).contains(&repairs(164)), "{code:?}: {}", repairs(164));
        assert_eq!(repairs(50), 0, "{code:?}: nothing comes in time, nor does a repair symbol");
    }
}

/// The window begins at the first source that is missing and can arrive in time.
#[test]
fn the_window_covers_what_may_be_missing_and_is_of_use() {
    let mut bench = Bench::new(config(RepairCode::Rlc, RepairWhen::Always, 0.05), 20, 40);
    bench.run(20);
    bench.settle([0, 1, 2, 4]);
    bench.send();
    let offer = bench.due().expect("21 were sent");
    assert_eq!((offer.first, offer.sources, offer.sent_on(PathId(0)), offer.len), (3, 18, 17, 1012 + 16));
    // At 41 ms, sources that left before 11 ms + 1 have less than the transit time of 10 ms left.
    bench.picture.now += 21 * MS;
    let offer = bench.due().expect("the same");
    assert_eq!((offer.first, offer.sources), (12, 9));
    assert_eq!(offer.expires, Some((Instant::from_millis(1052), Instant::from_millis(1060))));
    bench.picture.now += 9 * MS;
    assert_eq!(bench.due(), None, "all is too late");
}

#[test]
fn a_window_covers_no_more_than_agreed() {
    let mut bench = Bench::new(config(RepairCode::Rlc, RepairWhen::Always, 0.01), 20, 10_000);
    bench.run(101);
    bench.send();
    let offer = bench.due().expect("102 sources of 1000 bytes pay for one of 1012 at 1 %");
    assert_eq!((offer.first, offer.sources), (102 - 64, 64));
}

/// RTT 100 ms, latency 250 ms: a source lost at 120 ms is sent again then, and would be late if it were lost again.
#[test]
fn a_lost_source_that_cannot_be_lost_again_gets_a_repair_symbol_of_its_own() {
    for code in CODES {
        let mut bench = Bench::new(config(code, RepairWhen::Late, 0.05), 100, 250);
        assert_eq!(bench.run(120), 0, "{code:?}");
        bench.settle((0..120).filter(|n| *n != 118 && *n != 119));
        bench.lose(119);
        assert_eq!(bench.repair(), 0, "{code:?}: it has 249 ms");
        bench.picture.now += 90 * MS;
        bench.lose(119);
        assert_eq!(bench.repair(), 1, "{code:?}: it has 159 ms, and needs 165");
        bench.lose(119);
        bench.settle([119]);
        assert_eq!(bench.repair(), 0, "{code:?}: it came");
        bench.picture.now += 110 * MS;
        bench.lose(118);
        assert_eq!(bench.repair(), 0, "{code:?}: it has 48 ms, and the way takes 50");
    }
}

#[test]
fn what_was_saved_is_spent_on_a_burst() {
    let mut bench = Bench::new(config(RepairCode::Rlc, RepairWhen::Late, 0.05), 100, 250);
    bench.run(1000);
    bench.settle(0..980);
    bench.picture.now += 90 * MS;
    (980..1000).for_each(|n| bench.lose(n));
    // A quarter of the window of 64 is 16 symbols of the agreed length: 16 · 1034 bytes.
    assert_eq!(bench.repair(), 16);
}

#[test]
fn exposed_sources_spend_less_the_less_is_saved() {
    let mut bench = Bench::new(config(RepairCode::Rlc, RepairWhen::Late, 0.05), 100, 10_000);
    bench.run(1000);
    bench.settle(0..1000);
    bench.lifetime = 160 * MS;
    let each: Vec<usize> = (0..10).map(|_| bench.run(100)).collect();
    assert!(each[0] > 12 && each[0] < 25, "{each:?}");
    assert!(each[5..].iter().all(|n| (4..=6).contains(n)), "{each:?}");
}

#[test]
fn a_block_is_closed_when_its_first_source_has_waited_for_three_quarters_of_its_time() {
    for code in [RepairCode::RaptorQ, RepairCode::ReedSolomon] {
        let mut bench = Bench::new(config(code, RepairWhen::Always, 0.05), 20, 50);
        // (50 - 10) · 3/4 = 30 ms.
        assert_eq!(bench.run(30), 0, "{code:?}");
        assert_eq!(bench.source.timeout(), Some(Instant::from_millis(1030)), "{code:?}");
        assert_eq!(bench.repair(), 1, "{code:?}: nothing else leaves");
        let Header::Repair { block: 0, sources: 30, .. } = bench.repairs[0].header else {
            panic!("{code:?}")
        };
        bench.send();
        let Header::Source { block: 1, .. } = bench.headers[30] else { panic!("{code:?}: a new block") };
    }
}

#[test]
fn a_full_block_gets_what_was_saved_for_it() {
    for code in [RepairCode::RaptorQ, RepairCode::ReedSolomon] {
        let mut bench = Bench::new(config(code, RepairWhen::Always, 0.05), 20, 10_000);
        let repairs: Vec<usize> = (0..4).map(|_| bench.run(64)).collect();
        // 64 · 50 bytes pay for 3 symbols of 1012, or for 3 of 1034: 4 blocks for 12 of either.
        assert_eq!(repairs, [3, 3, 3, 3], "{code:?}");
        let blocks: Vec<u32> = bench.repairs.iter().map(|r| r.symbol.block).collect();
        assert_eq!(blocks, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3], "{code:?}");
    }
}

/// Returns the messages that the receivers of the coding crate deliver unchanged if `lost` are lost.
fn recovered(bench: &Bench, code: RepairCode, lost: &BTreeSet<usize>) -> BTreeSet<usize> {
    let length = usize::from(SHAPE.symbol_length);
    let sources = usize::from(SHAPE.sources);
    let mut back = BTreeSet::new();
    let mut take = |bytes: &[u8]| {
        let (stream, ppid, payload) = covered::read(bytes).expect("a message");
        assert_eq!(stream.0, ppid.0 as u16 % 3);
        assert_eq!(payload, Bench::payload(ppid.0, payload.len()));
        back.insert(ppid.0 as usize);
    };
    let mut symbols = Vec::new();
    for (number, wire) in bench.wire.iter().enumerate().filter(|(n, _)| !lost.contains(n)) {
        let (header, payload) = Header::read(wire).expect("a symbol");
        let mut symbol = Vec::new();
        header.write(&mut symbol);
        let mut entry = Vec::new();
        covered::write(StreamId(number as u16 % 3), Ppid(number as u32), payload, &mut entry);
        symbol.extend_from_slice(&entry);
        symbols.push(symbol);
    }
    for repair in &bench.repairs {
        let mut symbol = Vec::new();
        repair.header.write(&mut symbol);
        symbol.extend_from_slice(&repair.payload);
        symbols.push(symbol);
    }
    match code {
        RepairCode::Rlc => {
            let config = WindowConfig { sources, held: 1000, length, density: 15 };
            let mut receiver = WindowReceiver::new(config);
            for symbol in &symbols {
                receiver.receive(symbol).expect("an honest symbol");
                while let Some(message) = receiver.poll() {
                    take(message.bytes);
                }
            }
        }
        RepairCode::RaptorQ | RepairCode::ReedSolomon => {
            let block = if code == RepairCode::RaptorQ {
                Code::RaptorQ
            } else {
                Code::ReedSolomon { repairs: covered::reed_solomon_repairs(SHAPE.sources) }
            };
            let config = BlockConfig { code: block, sources, length, blocks: 32, order: Order::AsKnown };
            let mut receiver = BlockReceiver::new(config);
            for symbol in &symbols {
                receiver.receive(symbol).expect("an honest symbol");
                while let Some(message) = receiver.poll() {
                    take(message.bytes);
                }
            }
        }
    }
    back
}

/// Each 67th of 400 messages is lost, at most one per block. A block of messages of one byte pays for a repair symbol
/// of 64.
#[test]
fn single_losses_come_back_bit_for_bit() {
    for code in CODES {
        for length in [994, 300, 1] {
            let mut bench = Bench::new(config(code, RepairWhen::Always, 0.2), 20, 10_000);
            bench.length = length;
            let lost: BTreeSet<usize> = (0..400).filter(|n| n % 67 == 17).collect();
            bench.run(400);
            let back = recovered(&bench, code, &lost);
            // The last block may be open.
            let sure = if code == RepairCode::Rlc { 400 } else { 384 };
            let missing: Vec<_> = (0..sure).filter(|n| !back.contains(n)).collect();
            assert!(missing.is_empty(), "{code:?}, {length} bytes: {missing:?}");
        }
    }
}

#[test]
fn symbols_of_old_or_foreign_blocks_change_nothing() {
    for code in CODES {
        let mut bench = Bench::new(config(code, RepairWhen::Late, 0.05), 20, 15);
        bench.run(600);
        bench.settle([0, 0, 1]);
        for block in [0, 1, 500, u32::MAX] {
            for header in [
                Header::Plain,
                Header::WindowSource { number: block },
                Header::WindowRepair { first: block, sources: 3, seed: 1 },
                Header::Source { block, index: 9, last: false },
                Header::Source { block, index: u16::MAX, last: true },
                Header::Repair { block, sources: 3, seed: 1 },
            ] {
                bench.source.delivered(&header, None);
                bench.source.lost(&header, PathId(7));
                bench.source.abandoned(&header);
                bench.source.assert_consistent();
            }
        }
        bench.run(100);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any sequence of sends, arrivals, losses and questions, the cap holds, the counts agree, and memory is
    /// bounded.
    #[test]
    fn any_sequence_keeps_the_cap_and_the_counts(
        code in 0..3usize,
        late in any::<bool>(),
        redundancy in 0.0..0.5f64,
        rtt in 1..400u32,
        lifetime in 1..600u32,
        steps in prop::collection::vec((0..8u8, 0..400usize, 1..990usize), 1..300),
    ) {
        let when = if late { RepairWhen::Late } else { RepairWhen::Always };
        let mut bench = Bench::new(config(CODES[code], when, redundancy), rtt, lifetime);
        for (step, number, length) in steps {
            match step {
                0..=3 => {
                    bench.length = length;
                    bench.send();
                }
                4 if number < bench.headers.len() => bench.settle([number]),
                5 if number < bench.headers.len() => bench.lose(number),
                6 => bench.picture.now += number as u32 * MS / 8,
                _ => {
                    bench.repair();
                }
            }
            bench.source.assert_consistent();
        }
    }
}
