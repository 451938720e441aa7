//! FMTCP's procedure. The procedure assigns each symbol to the path on which the symbol would arrive first. The
//! procedure ends when a symbol is assigned to a path that has room.
//!
//! If a path gets several consecutive symbols, it gets them in one step. A decision takes at most one step per window,
//! packet in flight and block. The number of symbols is not limited, for example to the windows of all paths. A limit
//! would leave slow paths idle: a path that is ten times as fast takes ten of its windows before a slow path has its
//! turn.

use smallvec::SmallVec;
use strandcast_proto::policy::{BlockView, PathId, View};

use super::Counted;
use crate::schedule::expectation::Expectation;
use crate::schedule::flights::Flights;

/// Paths with their planned symbols.
#[derive(Default, Debug)]
pub(super) struct Plan {
    paths: SmallVec<[Virtual; 8]>,
}

/// State of a path in the plan.
#[derive(Clone, Debug)]
struct Virtual {
    id: PathId,
    expected: Expectation,
    /// True if a packet may leave now.
    open: bool,
    /// Number of packets for which the path's window has room, less the planned packets.
    slots: u64,
    /// Number of packets in flight.
    in_flight: u64,
    /// Number of planned symbols beyond the room of the window.
    beyond: u64,
    /// Index of the packet in flight whose place the next planned symbol takes.
    place: usize,
    /// EAT of the path's next symbol in seconds.
    eat: f64,
}

/// Symbols that blocks still need.
struct Demand<'a, B> {
    blocks: B,
    margin: f64,
    /// First block that is not complete.
    block: &'a BlockView,
    /// k + log2 (1/δ̂) - k̃ of that block. The block is complete if the value is below 0.
    missing: f64,
}

impl Plan {
    /// Begins a plan with the present state of the paths. Symbols have `len` bytes.
    pub fn begin(&mut self, view: &View<'_>, flights: &Flights, len: u64) {
        self.paths.clear();
        for path in view.usable_paths() {
            let mut path = Virtual {
                id: path.id,
                expected: Expectation::of(path),
                open: path.has_room(),
                slots: path.limit.cwnd.saturating_sub(path.in_flight).div_ceil(len.max(1)),
                in_flight: u64::from(path.in_flight_chunks.max(1)),
                beyond: 0,
                place: 0,
                eat: 0.0,
            };
            path.expect(view, flights);
            self.paths.push(path);
        }
    }

    /// Returns the path of the next symbol, and the number of its block. `None` means that all blocks are complete, or
    /// that a path without room has the earliest arrival.
    pub fn next(
        &mut self,
        view: &View<'_>,
        flights: &Flights,
        margin: f64,
        counted: &mut Counted,
    ) -> Option<(PathId, u32)> {
        if !self.paths.iter().any(|p| p.open) {
            return None;
        }
        let blocks = view.blocks.iter().filter(|b| b.closed);
        let mut demand = self.demand(blocks, margin, counted)?;
        loop {
            let (first, until) = self.first()?;
            let path = &mut self.paths[first];
            if path.open && path.slots > 0 {
                return Some((path.id, demand.block.number));
            }
            let (arrives, mut symbols) = (1.0 - path.expected.loss, path.run(until));
            path.give(symbols);
            path.expect(view, flights);
            while symbols > 0 {
                let wanted = (demand.missing / arrives) as u64 + 1;
                let given = symbols.min(wanted);
                symbols -= given;
                demand.missing -= arrives * given as f64;
                if demand.missing < 0.0 {
                    demand = self.demand(demand.blocks, demand.margin, counted)?;
                }
            }
        }
    }

    /// Returns the path with the earliest EAT, and the earliest EAT of the other paths. If several paths have the
    /// earliest EAT, the first of them is returned.
    fn first(&self) -> Option<(usize, f64)> {
        let (mut best, mut eat, mut until) = (None, f64::INFINITY, f64::INFINITY);
        for (i, path) in self.paths.iter().enumerate() {
            if path.eat < eat || best.is_none() {
                (best, until, eat) = (Some(i), eat, path.eat);
            } else {
                until = until.min(path.eat);
            }
        }
        Some((best?, until))
    }

    /// Returns the next of `blocks` that is not complete.
    fn demand<'a, B: Iterator<Item = &'a BlockView>>(
        &self,
        mut blocks: B,
        margin: f64,
        counted: &mut Counted,
    ) -> Option<Demand<'a, B>> {
        loop {
            let block = blocks.next()?;
            let coming: f64 = self.paths.iter().map(|p| p.expected.arriving(block.on(p.id))).sum();
            let missing = f64::from(block.sources) + margin - counted.of(block) - coming;
            if missing >= 0.0 {
                return Some(Demand { blocks, margin, block, missing });
            }
        }
    }
}

impl Virtual {
    /// Number of consecutive symbols for the path. `until` is the earliest EAT of the other paths. The number is at
    /// least one.
    fn run(&self, until: f64) -> u64 {
        if self.slots > 0 {
            return self.slots;
        }
        if self.place != usize::MAX {
            return 1;
        }
        // After the packets in flight, each further symbol increases EAT by RTT/in flight. One symbol is subtracted, so
        // that rounding decides nothing.
        let rises = self.expected.rtt / self.in_flight as f64;
        let last = ((until - self.eat) / rises).min(1e9) as u64;
        last.saturating_sub(1).max(1)
    }

    /// Assigns `symbols` to the path in the plan, without sending them.
    fn give(&mut self, symbols: u64) {
        if self.slots > 0 {
            self.slots -= symbols;
        } else {
            self.beyond += symbols;
            self.place = self.place.saturating_add(1);
        }
    }

    /// Returns the EAT of the next symbol. If the path has room, it is EDT. If the path has no room, it is EDT after
    /// the acknowledgement of the packet whose place the symbol takes.
    fn expect(&mut self, view: &View<'_>, flights: &Flights) {
        let Expectation { edt, rt, rtt, .. } = self.expected;
        if self.slots > 0 {
            self.eat = edt;
            return;
        }
        let oldest = flights.from(self.id, self.place);
        self.place = oldest.map_or(usize::MAX, |(place, _)| place);
        let age = match oldest {
            Some((_, at)) => view.now.saturating_since(at).as_secs_f64(),
            None => -rtt * (1.0 + self.beyond as f64 / self.in_flight as f64),
        };
        self.eat = edt + (rt - age).max(0.0);
    }
}
