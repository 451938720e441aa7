//! Blocks without an association: the coding crate's receiver returns the messages that were put in.

use proptest::prelude::*;
use strandcast_coding::Refusal;
use strandcast_coding::blocks::BlockReceiver;

use super::*;
use crate::policy::PathId;
use crate::wire::{Ppid, StreamId};

const LENGTH: usize = 102;
const FLUSH: Duration = Duration::from_millis(20);

fn shape(code: Code, sources: usize, blocks: usize) -> BlockShape {
    BlockShape { code, sources, symbol_length: LENGTH, blocks, flush: FLUSH }
}

fn message(stream: u16, ppid: u32, payload: &[u8]) -> QueuedMessage {
    QueuedMessage {
        id: 0,
        stream: StreamId(stream),
        ssn: None,
        ppid: Ppid(ppid),
        unordered: false,
        expires: None,
        importance: Default::default(),
        group: None,
        payload: Bytes::copy_from_slice(payload),
        sent: 0,
    }
}

fn bytes(from: usize, len: usize) -> Vec<u8> {
    (from..from + len).map(|i| (i * 131 + (i >> 8) * 7) as u8).collect()
}

/// A source, the messages that wait for it, and the receiver of the symbols that arrive.
struct Bench {
    source: BlockSource,
    views: Vec<BlockView>,
    queue: VecDeque<QueuedMessage>,
    receiver: BlockReceiver,
    received: Vec<u8>,
    now: Instant,
}

impl Bench {
    fn new(shape: BlockShape) -> Self {
        let BlockShape { code, sources, symbol_length: length, blocks, .. } = shape;
        let config = BlockConfig { code, sources, length, blocks, order: Order::InOrder };
        Bench {
            source: BlockSource::new(shape, 7),
            views: Vec::new(),
            queue: VecDeque::new(),
            receiver: BlockReceiver::new(config),
            received: Vec::new(),
            now: Instant::from_millis(1000),
        }
    }

    fn hand_in(&mut self, m: QueuedMessage) {
        self.queue.push_back(m);
        self.fill();
    }

    fn fill(&mut self) -> bool {
        self.source.fill(self.now, LENGTH, || self.queue.pop_front(), &mut self.views)
    }

    fn write(&mut self, block: u32, what: SymbolChoice) -> Option<Written> {
        self.source.write(&mut self.views, block, what)
    }

    /// Delivers the symbol, and lets the receiver's application read.
    fn arrive(&mut self, w: &Written) {
        let mut symbol = Vec::new();
        w.header.write(&mut symbol);
        symbol.extend_from_slice(&w.payload);
        match self.receiver.receive(&symbol) {
            Ok(_) | Err(Refusal::Stale) => {}
            Err(why) => panic!("what the sender writes is taken, or came when its block was done: {why}"),
        }
        while let Some(m) = self.receiver.poll() {
            self.received.extend_from_slice(m.bytes);
        }
    }

    /// Acknowledges the symbol to the sender.
    fn acknowledge(&mut self, w: &Written) -> Released {
        self.source.delivered(&w.header, &mut self.views);
        self.source.let_go()
    }

    /// Sends all source symbols of the open blocks, and acknowledges them.
    fn carry_sources(&mut self) {
        while let Some(block) = self.views.iter().find(|b| b.sources_sent < b.sources).map(|b| b.number) {
            let written = self.write(block, SymbolChoice::Source).expect("it is there");
            self.arrive(&written);
            self.acknowledge(&written);
            self.fill();
        }
    }

    fn assert_consistent(&self) {
        let unsent = |kept: &Kept, view: &BlockView| {
            kept.lengths[view.sources_sent.into()..].iter().map(|l| usize::from(*l)).sum::<usize>()
        };
        let mut sum = self.source.piece.len() + self.source.record.as_ref().map_or(0, Record::left);
        let mut bytes = self.source.piece_holds.bytes + self.source.record.as_ref().map_or(0, Record::left);
        for (i, kept) in self.source.kept.iter().enumerate() {
            let number = self.source.first.wrapping_add(i as u32);
            let view = self.views.iter().find(|b| b.number == number);
            assert_eq!(view.is_none(), kept.done, "block {number} is shown unless it is done");
            bytes += kept.holds.bytes;
            let Some(view) = view else { continue };
            let rank = kept.rank.rank();
            assert_eq!((usize::from(view.rank), usize::from(view.sources)), (rank, kept.lengths.len()));
            assert_eq!(view.closed, kept.closed);
            sum += unsent(kept, view);
        }
        assert_eq!(self.source.unsent(), sum, "bytes that were not sent");
        assert_eq!(self.source.bytes(), bytes, "bytes of messages held");
        assert!(self.source.kept.len() <= self.source.shape.blocks);
    }
}

/// The stream is as in the module's documentation, however it is cut.
#[test]
fn messages_are_records_of_one_stream() {
    let mut bench = Bench::new(shape(Code::Rlc, 4, 3));
    bench.hand_in(message(0, 0, b"abc"));
    bench.hand_in(message(5, 0x0102_0304, &bytes(0, 500)));
    bench.hand_in(message(0, 9, b"x"));
    bench.source.flush(&mut bench.views);
    bench.carry_sources();
    let mut expected = vec![0, 0, 0, 3, b'a', b'b', b'c', 0x80, 0, 1, 0xf4, 0, 5, 1, 2, 3, 4];
    expected.extend(bytes(0, 500));
    expected.extend([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 9, b'x']);
    assert_eq!(bench.received, expected);
    assert!(bench.source.is_empty() && bench.source.bytes() == 0 && bench.views.is_empty());
}

/// A message a little longer than a symbol does not become two symbols, the second nearly empty.
#[test]
fn symbols_are_filled_across_messages() {
    let (count, long) = (100, LENGTH + 50);
    let mut bench = Bench::new(shape(Code::Rlc, 16, 100));
    for i in 0..count {
        bench.hand_in(message(0, 0, &bytes(i, long)));
    }
    bench.source.flush(&mut bench.views);
    let symbols: usize = bench.views.iter().map(|b| usize::from(b.sources)).sum();
    assert_eq!(symbols, (count * (long + 4)).div_ceil(LENGTH - FRAMING));
}

/// At most the agreed number of blocks is open. Other data wait, and continue when the oldest block is done.
#[test]
fn blocks_beyond_the_window_wait_for_the_oldest() {
    let mut bench = Bench::new(shape(Code::Rlc, 4, 2));
    bench.hand_in(message(0, 0, &bytes(0, 4000)));
    assert_eq!(
        bench.views.iter().map(|b| (b.number, b.sources, b.closed)).collect::<Vec<_>>(),
        [(0, 4, true), (1, 4, true)]
    );
    assert!(!bench.fill(), "nothing more fits");
    let block_1: Vec<_> = (0..4).filter_map(|_| bench.write(1, SymbolChoice::Source)).collect();
    for w in &block_1 {
        assert_eq!(bench.acknowledge(w), Released::default(), "block 0 is older");
    }
    assert_eq!(bench.views.iter().map(|b| b.number).collect::<Vec<_>>(), [0], "the receiver has block 1");
    assert!(!bench.fill(), "the receiver holds two blocks open, and block 0 is one of them");
    bench.assert_consistent();
    let block_0: Vec<_> = (0..4).filter_map(|_| bench.write(0, SymbolChoice::Source)).collect();
    let released: usize = block_0.iter().map(|w| bench.acknowledge(w).bytes).sum();
    assert_eq!(released, 8 * (LENGTH - FRAMING) - 4, "what both hold of the message");
    assert!(bench.fill());
    assert_eq!(bench.views.iter().map(|b| b.number).collect::<Vec<_>>(), [2, 3]);
    bench.assert_consistent();
}

/// A block can be filled by repair symbols alone, but only if it is closed.
#[test]
fn repair_symbols_are_of_closed_blocks() {
    let mut bench = Bench::new(shape(Code::Rlc, 8, 2));
    bench.hand_in(message(0, 0, &bytes(0, 300)));
    assert!(!bench.views[0].closed);
    assert_eq!(bench.write(0, SymbolChoice::Repair), None);
    assert!(bench.source.flush(&mut bench.views));
    assert_eq!((bench.views[0].sources, bench.views[0].closed), (4, true));
    while !bench.views.is_empty() {
        let w = bench.write(0, SymbolChoice::Repair).expect("closed");
        assert_eq!(w.symbol, Symbol { block: 0, sources: 4, kind: SymbolKind::Repair });
        bench.arrive(&w);
        bench.acknowledge(&w);
        bench.assert_consistent();
    }
    assert_eq!(bench.received[4..], bytes(0, 300));
    assert_eq!(bench.write(0, SymbolChoice::Repair), None, "the receiver has it");
}

/// A block that is not full is closed when its first byte has waited for `flush`, and not later because of later bytes.
#[test]
fn a_short_block_is_closed_in_time() {
    let mut bench = Bench::new(shape(Code::Rlc, 4, 2));
    assert_eq!(bench.source.timeout(), None);
    let first = bench.now;
    bench.hand_in(message(0, 0, b"a"));
    assert_eq!(bench.source.timeout(), Some(first + FLUSH));
    bench.now += FLUSH / 2;
    bench.hand_in(message(0, 0, b"b"));
    assert_eq!(bench.source.timeout(), Some(first + FLUSH));
    assert!(bench.views.is_empty(), "a symbol is filled before it is one");
    bench.source.flush(&mut bench.views);
    assert_eq!((bench.views[0].sources, bench.views[0].closed, bench.source.timeout()), (1, true, None));
    // The next block has its own time.
    bench.hand_in(message(0, 0, b"c"));
    assert_eq!(bench.source.timeout(), Some(bench.now + FLUSH));
    bench.source.flush(&mut bench.views);
    bench.carry_sources();
    assert_eq!(bench.received, [0, 0, 0, 1, b'a', 0, 0, 0, 1, b'b', 0, 0, 0, 1, b'c']);
}

/// The fourth symbol, although it is short, makes the block full: there is something to send.
#[test]
fn a_flush_that_fills_the_block_has_brought_symbols() {
    let mut bench = Bench::new(shape(Code::Fountain, 4, 2));
    bench.hand_in(message(0, 0, &bytes(0, 4 * (LENGTH - FRAMING) - 4 - 1)));
    assert_eq!((bench.views[0].sources, bench.views[0].closed), (3, false));
    assert!(bench.source.flush(&mut bench.views));
    assert_eq!((bench.views[0].sources, bench.views[0].closed), (4, true));
}

/// The last source symbol that was sent did not say that it is the last one: the block continues when more data are
/// submitted. All acknowledged data count as delivered meanwhile.
#[test]
fn a_block_whose_source_symbols_were_all_sent_stays_open() {
    let mut bench = Bench::new(shape(Code::Rlc, 4, 2));
    bench.hand_in(message(0, 0, &bytes(0, 2 * (LENGTH - FRAMING) - 4)));
    bench.carry_sources();
    assert!(!bench.source.flush(&mut bench.views), "nothing to repair");
    assert_eq!((bench.source.timeout(), bench.views[0].closed), (None, false));
    assert!(bench.source.is_empty() && bench.source.bytes() == 0);
    bench.hand_in(message(0, 0, b"more"));
    assert!(!bench.source.is_empty());
    bench.source.flush(&mut bench.views);
    bench.carry_sources();
    assert_eq!((bench.views.len(), bench.source.is_empty()), (0, true));
    assert_eq!(bench.received[bench.received.len() - 4..], *b"more");
}

/// While all blocks are held, nothing can be closed, and no timer runs.
#[test]
fn no_timer_runs_for_what_has_no_block() {
    let mut bench = Bench::new(shape(Code::Rlc, 2, 2));
    bench.hand_in(message(0, 0, &bytes(0, 4 * (LENGTH - FRAMING))));
    assert_eq!(bench.views.len(), 2);
    assert!(!bench.source.piece.is_empty(), "four bytes wait");
    assert_eq!(bench.source.timeout(), None);
    bench.carry_sources();
    assert!(bench.source.timeout().is_some());
}

/// Symbols are shorter than the agreed length if packets have less room.
#[test]
fn symbols_fit_the_packets_there_are() {
    let mut bench = Bench::new(shape(Code::Rlc, 4, 4));
    bench.queue.push_back(message(0, 0, &bytes(0, 150)));
    bench.source.fill(bench.now, 60, || bench.queue.pop_front(), &mut bench.views);
    bench.source.flush(&mut bench.views);
    let w = bench.write(0, SymbolChoice::Repair).expect("closed");
    assert_eq!(w.payload.len(), 60, "a sum of symbols of 58 bytes and their lengths");
    let w = bench.write(0, SymbolChoice::Source).expect("closed");
    assert_eq!(w.payload.len(), 58);
}

/// A source symbol is needed until its block is done.
#[test]
fn lost_symbols_are_needed_until_their_block_is_done() {
    let mut bench = Bench::new(shape(Code::Rlc, 2, 2));
    bench.hand_in(message(0, 0, &bytes(0, 300)));
    let lost = bench.write(0, SymbolChoice::Source).expect("there");
    let other = bench.write(0, SymbolChoice::Source).expect("there");
    bench.acknowledge(&other);
    assert!(bench.source.needs(&lost.header));
    let repair = bench.write(0, SymbolChoice::Repair).expect("closed");
    bench.acknowledge(&repair);
    assert!(!bench.source.needs(&lost.header));
    bench.acknowledge(&lost);
    bench.assert_consistent();
}

/// In steady state a symbol allocates no memory except a piece that many payloads share.
#[test]
fn many_symbols_share_one_allocation() {
    let mut bench = Bench::new(shape(Code::Rlc, 8, 4));
    let payload = Bytes::from(bytes(0, 8 * (LENGTH - FRAMING) - 4));
    let round = |bench: &mut Bench| {
        let m = QueuedMessage { payload: payload.clone(), ..message(0, 0, b"") };
        bench.queue.push_back(m);
        bench.fill();
        let block = bench.views[0].number;
        for i in 0..10 {
            let what = if i < 7 { SymbolChoice::Source } else { SymbolChoice::Repair };
            let Some(w) = bench.write(block, what) else { break };
            bench.acknowledge(&w);
        }
        assert!(bench.views.is_empty());
    };
    (0..10).for_each(|_| round(&mut bench));
    let rounds = 1000;
    let counted = allocation_counter::measure(|| (0..rounds).for_each(|_| round(&mut bench)));
    let symbols = rounds * 8;
    let pieces = symbols * LENGTH as u64 / crate::coding::written::ARENA as u64 + 1;
    assert!(counted.count_total <= 2 * pieces, "{} allocations for {symbols} symbols", counted.count_total);
}

#[derive(Clone, Debug)]
enum Step {
    HandIn(usize, u16),
    Source(u8),
    Repair(u8),
    Arrive(u8),
    Lose(u8),
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1usize..400, 0u16..3).prop_map(|(len, stream)| Step::HandIn(len, stream)),
        4 => any::<u8>().prop_map(Step::Source),
        4 => any::<u8>().prop_map(Step::Repair),
        6 => any::<u8>().prop_map(Step::Arrive),
        1 => any::<u8>().prop_map(Step::Lose),
        1 => Just(Step::Flush),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// For any order of sending, losses and acknowledgements: the counts agree at each step, the sender's rank equals
    /// the receiver's, and in the end all messages arrive.
    #[test]
    fn ranks_and_books_agree(fountain: bool, blocks in 2usize..5, steps in prop::collection::vec(step(), 1..200)) {
        let code = if fountain { Code::Fountain } else { Code::Rlc };
        let mut bench = Bench::new(shape(code, 5, blocks));
        let (mut flying, mut handed_in, mut expected): (Vec<Written>, usize, Vec<u8>) = Default::default();
        for step in steps {
            let pick = |n: u8, views: &[BlockView]| (!views.is_empty()).then(|| views[usize::from(n) % views.len()].number);
            match step {
                Step::HandIn(len, stream) => {
                    let m = message(stream, 0, &bytes(handed_in, len));
                    let record = Record::new(message(stream, 0, &bytes(handed_in, len)));
                    expected.extend_from_slice(&record.head);
                    expected.extend_from_slice(&record.payload);
                    handed_in += len;
                    bench.hand_in(m);
                }
                Step::Source(n) | Step::Repair(n) => {
                    let source = matches!(step, Step::Source(_));
                    let what = if source { SymbolChoice::Source } else { SymbolChoice::Repair };
                    let written = pick(n, &bench.views).and_then(|block| bench.write(block, what));
                    flying.extend(written);
                }
                Step::Arrive(n) if !flying.is_empty() => {
                    let w = flying.swap_remove(usize::from(n) % flying.len());
                    bench.arrive(&w);
                    bench.acknowledge(&w);
                    bench.fill();
                }
                Step::Lose(n) if !flying.is_empty() => {
                    let w = flying.swap_remove(usize::from(n) % flying.len());
                    // A source symbol is sent again.
                    if matches!(w.symbol.kind, SymbolKind::Source(_)) {
                        flying.push(w);
                    }
                }
                Step::Arrive(_) | Step::Lose(_) => {}
                Step::Flush => {
                    bench.source.flush(&mut bench.views);
                }
            }
            bench.assert_consistent();
            for view in &bench.views {
                prop_assert_eq!(usize::from(view.rank), bench.receiver.rank(view.number), "block {}", view.number);
            }
        }
        for w in std::mem::take(&mut flying) {
            bench.arrive(&w);
            bench.acknowledge(&w);
        }
        bench.fill();
        while !bench.source.is_empty() {
            bench.source.flush(&mut bench.views);
            bench.carry_sources();
        }
        prop_assert_eq!(&bench.received, &expected);
        prop_assert_eq!((bench.source.bytes(), bench.source.unsent()), (0, 0));
    }
}

/// The caller counts the data in flight. Views without such counts have nothing in flight.
#[test]
fn new_blocks_have_nothing_in_flight() {
    let mut bench = Bench::new(shape(Code::Fountain, 4, 2));
    bench.hand_in(message(0, 0, &bytes(0, 100)));
    assert_eq!(bench.views[0].on(PathId(3)), Default::default());
}
