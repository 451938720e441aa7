//! A toy sender of coded blocks. The scheduler chooses symbols, which arrive or are lost until the receiver has all
//! blocks.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};
use strandcast_proto::policy::fixture;
use strandcast_proto::policy::{
    AckInfo, Backlog, BlockView, ChunkInfo, Importance, LossTrigger, PathId, PathState, RepairOffer, Scheme,
    Signal, Symbol, SymbolAssignment, SymbolChoice, SymbolKind, Transmission,
};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::serial::{StreamId, Tsn};

use super::harness::SchemeHarness;
use super::model::MAX_MUTE;

/// Number of blocks in one case; `OPEN` is the number of open blocks, and `SOURCES` that of source symbols in the
/// longest block.
const BLOCKS: u32 = 20;
const OPEN: usize = 4;
const SOURCES: u64 = 8;
/// Number of the first blocks, whose symbols may be lost.
const STORM: u32 = 12;
/// Time within which all blocks must arrive.
const LIMIT: Duration = Duration::from_secs(300);

/// A symbol in transit.
#[derive(Clone, Debug)]
struct Flying {
    chunk: ChunkInfo,
    lost: bool,
}

struct Toy {
    random: Random,
    now: Instant,
    end: SchemeHarness,
    delays: Vec<Duration>,
    next_block: u32,
    next_tsn: u32,
    /// Symbols in flight, by the time at which the sender gets their acknowledgement or loss.
    flying: BTreeMap<(Instant, u32), Flying>,
    mute_since: Option<Instant>,
}

/// Runs one case. Returns a hash over all decisions.
pub(super) fn run(seed: u64, scheme: Box<dyn Scheme>) -> u64 {
    let mut random = Seeds::new(seed, 0).stream("policy contract: symbols");
    let paths = 1 + random.below(3) as u8;
    let delays = (0..paths).map(|_| Duration::from_millis(10 + random.below(200))).collect();
    let mut end = SchemeHarness::new(scheme);
    let now = Instant::from_millis(5000);
    for path in 0..paths {
        end.views.put(fixture::path(path));
        end.signal(now, &Signal::PathChanged(PathId(path)));
    }
    let flying = BTreeMap::new();
    let mut toy = Toy { random, now, end, delays, next_block: 0, next_tsn: 1, flying, mute_since: None };
    while toy.next_block < BLOCKS || !toy.end.views.blocks().is_empty() {
        toy.open_blocks();
        toy.send();
        toy.offer_repair();
        toy.advance();
        assert!(toy.now - now < LIMIT, "blocks without end: {:?}", toy.end.views.blocks());
    }
    toy.end.trace
}

impl Toy {
    /// Adds source symbols to blocks, closes blocks, and begins new ones.
    fn open_blocks(&mut self) {
        let views = self.end.views.blocks_mut();
        let before: usize = views.iter().map(|b| usize::from(b.sources) + usize::from(b.closed)).sum();
        if let Some(last) = views.last_mut().filter(|b| !b.closed) {
            last.sources += 1;
            last.closed = u64::from(last.sources) == SOURCES || self.random.chance(0.2);
        }
        while views.len() < OPEN && self.next_block < BLOCKS && views.last().is_none_or(|b| b.closed) {
            let sources = 1 + self.random.below(SOURCES);
            views.push(BlockView {
                number: self.next_block,
                sources: sources as u16,
                closed: sources == SOURCES || self.random.chance(0.5),
                rank: 0,
                sources_sent: 0,
                repairs_sent: 0,
                in_flight: SmallVec::new(),
            });
            self.next_block += 1;
        }
        let after: usize = views.iter().map(|b| usize::from(b.sources) + usize::from(b.closed)).sum();
        if after != before {
            self.end.signal(self.now, &Signal::Queued);
        }
    }

    fn send(&mut self) {
        for _ in 0..1000 {
            let room = self.end.views.paths().iter().any(|p| p.has_room());
            if self.end.driver.held() || !room || self.end.views.blocks().is_empty() {
                break;
            }
            let unsent: u16 = self.end.views.blocks().iter().map(|b| b.sources - b.sources_sent).sum();
            let backlog = Backlog {
                bytes: u64::from(unsent) * 900,
                messages: usize::from(unsent),
                next_len: 916,
                ..Backlog::default()
            };
            let Some(chosen) = self.end.next_symbol(self.now, &backlog) else { break };
            if !self.end.view(chosen.path).has_room() {
                self.end.driver.hold();
                break;
            }
            self.send_symbol(chosen);
        }
        let waits = !self.end.views.blocks().is_empty() && self.end.views.in_flight() == 0;
        self.mute_since = if waits { self.mute_since.or(Some(self.now)) } else { None };
    }

    fn send_symbol(&mut self, chosen: SymbolAssignment) {
        let views = self.end.views.blocks_mut();
        let block = views.iter_mut().find(|b| b.number == chosen.block).expect("checked");
        let kind = match chosen.what {
            SymbolChoice::Source => {
                block.sources_sent += 1;
                SymbolKind::Source(block.sources_sent - 1)
            }
            SymbolChoice::Repair => {
                block.repairs_sent += 1;
                SymbolKind::Repair
            }
        };
        let symbol = Symbol { block: chosen.block, sources: block.sources, kind };
        let chunk = ChunkInfo {
            tsn: Tsn(self.next_tsn),
            len: 916,
            stream: StreamId(0),
            expires: None,
            importance: Importance::Normal,
            group: None,
            transmissions: smallvec![],
            losses: 0,
            symbol: Some(symbol),
        };
        self.next_tsn += 1;
        self.transmit(chunk, chosen.path);
    }

    fn transmit(&mut self, mut chunk: ChunkInfo, path: PathId) {
        let (at, next_tsn) = (self.now, Tsn(self.next_tsn));
        chunk.transmissions.push(Transmission::new(path, at, next_tsn));
        self.end.views.enter(path, chunk.len, chunk.symbol);
        self.end.view_mut(path).last_sent = Some(at);
        self.end.sent(at, &chunk);
        let lost = chunk.symbol.is_some_and(|s| s.block < STORM) && self.random.chance(0.2);
        let delay = self.delays[path.index()] * if lost { 4 } else { 2 };
        self.flying.insert((at + delay, chunk.tsn.0), Flying { chunk, lost });
    }

    /// Offers a repair symbol for messages. A repair symbol for messages is independent of the blocks.
    fn offer_repair(&mut self) {
        let offer = RepairOffer {
            len: 916,
            first: self.next_tsn,
            sources: 1 + self.random.below(20) as u16,
            sent_on: self.delays.iter().map(|_| self.random.below(10) as u32).collect(),
            expires: Some((self.now + Duration::from_millis(100), self.now + Duration::from_millis(300))),
        };
        self.end.next_repair(self.now, &offer);
    }

    /// Advances the time to the next event.
    fn advance(&mut self) {
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let tick = self.end.driver.scheme().poll_timeout().map(|at| at.max(self.now));
        let idle = self.now + Duration::from_millis(50);
        self.now = arrival.into_iter().chain(tick).chain([idle]).min().unwrap_or(idle);
        if let Some(since) = self.mute_since {
            let blocks = self.end.views.blocks();
            assert!(
                self.now - since <= MAX_MUTE,
                "nothing in flight, nothing sent since {since:?}: {blocks:?}"
            );
        }
        if let Some(e) = self.flying.first_entry().filter(|e| e.key().0 <= self.now) {
            let flying = e.remove();
            if flying.lost { self.lose(flying.chunk) } else { self.land(flying.chunk) }
        }
        self.end.maybe_tick(self.now);
    }

    fn lose(&mut self, mut chunk: ChunkInfo) {
        let path = chunk.path();
        self.end.views.leave(path, chunk.len, chunk.symbol);
        chunk.transmissions.last_mut().expect("it was sent").in_flight = false;
        chunk.losses += 1;
        let trigger = LossTrigger::FastRetransmit;
        let cause = self.end.classify(self.now, &chunk, trigger);
        self.end.signal(self.now, &Signal::Lost { chunk: &chunk, path, cause });
        let highest = Tsn(self.next_tsn - 1);
        self.end.signal(self.now, &Signal::LossEvent { path, trigger, highest, cause });
        match chunk.symbol.map(|s| s.kind) {
            Some(SymbolKind::Source(_)) => self.transmit(chunk, path),
            _ => self.end.signal(self.now, &Signal::Abandoned(&chunk)),
        }
    }

    fn land(&mut self, mut chunk: ChunkInfo) {
        let (path, symbol) = (chunk.path(), chunk.symbol.expect("a symbol"));
        let flight_before = self.end.view(path).in_flight;
        self.end.views.leave(path, chunk.len, chunk.symbol);
        chunk.transmissions.last_mut().expect("it was sent").in_flight = false;
        let innovative = matches!(symbol.kind, SymbolKind::Source(_)) || self.random.chance(0.8);
        let views = self.end.views.blocks_mut();
        if let Some(at) = views.iter().position(|b| b.number == symbol.block) {
            views[at].rank += u16::from(innovative && views[at].rank < views[at].sources);
            if views[at].closed && views[at].rank == views[at].sources {
                views.remove(at);
            }
        }
        if self.end.driver.hears_deliveries() {
            self.end.signal(self.now, &Signal::Delivered { chunk: &chunk, path: Some(path) });
        }
        let all_acked = self.end.view(path).in_flight == 0;
        let outstanding = self.flying.values().map(|f| f.chunk.tsn.0).min();
        let ack = AckInfo {
            cum_advanced: outstanding.is_none_or(|lowest| lowest > chunk.tsn.0),
            newly_acked: chunk.len,
            proven: chunk.len,
            flight_before,
            all_acked,
            rtt: chunk.sent_once().then(|| self.now - chunk.transmissions[0].at),
            newest_sent: chunk.transmissions.last().map(|t| t.at),
            earliest_outstanding: outstanding.map(Tsn),
            ..fixture::ack(path.0, outstanding.unwrap_or(self.next_tsn) - 1, (chunk.tsn.0, chunk.tsn.0), 0)
        };
        debug_assert_eq!(self.end.view(path).state, PathState::Active);
        self.end.signal(self.now, &Signal::Acked(&ack));
    }
}
