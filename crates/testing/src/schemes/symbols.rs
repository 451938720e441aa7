//! A transfer in coded blocks, as its scheduler sees it. The paths have full windows and fixed round-trip times. There
//! are no losses, and every symbol is independent.

use std::collections::VecDeque;

use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{
    Backlog, BlockView, ChunkInfo, PathId, PathSet, Scheduler, Signal, Symbol, SymbolAssignment,
    SymbolChoice, SymbolKind, SymbolsInFlight,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_schemes::schedule::{Fmtcp, FmtcpConfig, NcMptcp, NcMptcpConfig};

/// Number of source symbols of a block.
const SOURCES: u16 = 16;

/// Returns a new scheduler of symbols.
pub fn scheduler(name: &str) -> Box<dyn Scheduler> {
    match name {
        "fmtcp" => Box::new(Fmtcp::new(FmtcpConfig::default())),
        "nc-mptcp" => Box::new(NcMptcp::new(NcMptcpConfig::default())),
        _ => panic!("no scheduler of symbols is called {name}"),
    }
}

/// Names of the schedulers of symbols.
pub const SCHEDULERS: [&str; 2] = ["fmtcp", "nc-mptcp"];

/// A transfer that never ends.
pub struct Transfer {
    picture: Picture,
    /// Schedulers. The first one decides, and the others receive the same signals and questions.
    schedulers: Vec<Box<dyn Scheduler>>,
    /// Symbols in flight on each path, with the times of their acknowledgements.
    flying: Vec<VecDeque<(Instant, ChunkInfo)>>,
    tsn: u32,
    pub sent: u64,
}

impl Transfer {
    /// Creates a transfer over `paths` paths with windows of `window` packets. Path n has a round-trip time of 20 ms ·
    /// n. There are `blocks` open blocks and `shadows` further schedulers.
    pub fn new(name: &str, paths: u8, window: u64, blocks: u32, shadows: usize) -> Self {
        let mut picture = Picture::new(paths);
        for (path, n) in picture.paths.iter_mut().zip(1..) {
            (path.limit.cwnd, path.srtt) = (window * MTU, Some(Duration::from_millis(20 * n)));
            path.est.loss = Some(0.01);
        }
        picture.blocks = (0..blocks).map(block).collect();
        Transfer {
            picture,
            schedulers: (0..=shadows).map(|_| scheduler(name)).collect(),
            flying: (0..paths).map(|_| VecDeque::new()).collect(),
            tsn: 0,
            sent: 0,
        }
    }

    /// Returns the number of symbols in flight on each path.
    pub fn in_flight(&self) -> Vec<usize> {
        self.flying.iter().map(VecDeque::len).collect()
    }

    fn signal(&mut self, signal: &Signal<'_>) {
        let view = self.picture.view();
        self.schedulers.iter_mut().for_each(|s| s.on_signal(&view, signal));
    }

    /// Fills the windows, and then acknowledges one symbol.
    pub fn step(&mut self) {
        while let Some(next) = self.ask() {
            self.send(next);
        }
        let of = |path: &VecDeque<(Instant, ChunkInfo)>| path.front().map(|(at, _)| *at);
        let first = (0..self.flying.len()).filter_map(|i| Some((of(&self.flying[i])?, i))).min();
        let (at, path) = first.expect("something is in flight");
        let (_, mut chunk) = self.flying[path].pop_front().expect("it is the first");
        self.picture.now = at;
        self.arrive(PathId(path as u8), &mut chunk);
    }

    fn ask(&mut self) -> Option<SymbolAssignment> {
        let backlog = Backlog {
            bytes: 1 << 20,
            messages: 1,
            next_len: MTU,
            next_expires: None,
            retransmission: false,
            tried: PathSet::default(),
            ..Backlog::default()
        };
        let view = self.picture.view();
        let mut answers = self.schedulers.iter_mut().map(|s| s.next_symbol(&view, &backlog));
        let answer = answers.next().expect("one decides");
        answers.for_each(|other| assert_eq!(other, answer));
        answer
    }

    fn block(&mut self, number: u32) -> Option<&mut BlockView> {
        self.picture.blocks.iter_mut().find(|b| b.number == number)
    }

    fn send(&mut self, next: SymbolAssignment) {
        let block = self.block(next.block).expect("it is open");
        let kind = match next.what {
            SymbolChoice::Source => {
                block.sources_sent += 1;
                SymbolKind::Source(block.sources_sent - 1)
            }
            SymbolChoice::Repair => {
                block.repairs_sent += 1;
                SymbolKind::Repair
            }
        };
        count(block, next.path, kind, 1);
        let symbol = Some(Symbol { block: next.block, sources: SOURCES, kind });
        let mut chunk = ChunkInfo { symbol, ..chunk(self.tsn, &[next.path.0]) };
        chunk.transmissions[0].at = self.picture.now;
        let path = &mut self.picture.paths[next.path.index()];
        (path.in_flight, path.in_flight_chunks) = (path.in_flight + MTU, path.in_flight_chunks + 1);
        let at = self.picture.now + path.srtt.expect("it is measured");
        (self.tsn, self.sent) = (self.tsn.wrapping_add(1), self.sent + 1);
        self.signal(&Signal::Sent(&chunk));
        self.flying[next.path.index()].push_back((at, chunk));
    }

    fn arrive(&mut self, path: PathId, chunk: &mut ChunkInfo) {
        chunk.transmissions[0].in_flight = false;
        let view = &mut self.picture.paths[path.index()];
        (view.in_flight, view.in_flight_chunks) = (view.in_flight - MTU, view.in_flight_chunks - 1);
        let symbol = chunk.symbol.expect("all are symbols");
        if let Some(block) = self.block(symbol.block) {
            count(block, path, symbol.kind, -1);
        }
        self.signal(&Signal::Delivered { chunk, path: Some(path) });
        if let Some(block) = self.block(symbol.block) {
            block.rank += 1;
        }
        let newest = self.picture.blocks.last().expect("some are open").number;
        if let Some(done) = self.picture.blocks.iter().position(|b| b.rank == b.sources) {
            self.picture.blocks.remove(done);
            self.picture.blocks.push(block(newest.wrapping_add(1)));
        }
        self.signal(&Signal::Acked(&ack(path.0, chunk.tsn.0, (chunk.tsn.0, chunk.tsn.0), MTU)));
    }
}

/// Returns a full block of which no symbol was sent.
fn block(number: u32) -> BlockView {
    BlockView {
        number,
        sources: SOURCES,
        closed: true,
        rank: 0,
        sources_sent: 0,
        repairs_sent: 0,
        in_flight: Default::default(),
    }
}

fn count(block: &mut BlockView, path: PathId, kind: SymbolKind, by: i32) {
    if block.in_flight.len() <= path.index() {
        block.in_flight.resize(path.index() + 1, SymbolsInFlight::default());
    }
    let there = &mut block.in_flight[path.index()];
    let number = if kind == SymbolKind::Repair { &mut there.repairs } else { &mut there.sources };
    *number = number.saturating_add_signed(by);
}
