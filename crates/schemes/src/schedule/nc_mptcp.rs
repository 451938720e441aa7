//! Some paths carry original data, and the other paths carry coded packets. This is a reconstruction of NC-MPTCP (Li
//! M., Lukyanenko A., Cui Y., "Network Coding Based Multipath TCP", IEEE INFOCOM Workshops 2012). Only its abstract is
//! available. **This scheduler is a reconstruction**, and not the authors' own.
//!
//! | public | here |
//! |---|---|
//! | some but not all subflows are NC subflows; there is a guideline for choosing them | [`Classes`] |
//! | regular subflows carry original data | [`NcMptcp::original`], the regular path with the lowest round-trip time first |
//! | NC subflows carry linear combinations of original data | [`NcMptcp::coded`]; random linear code over GF(256) (`Code::Rlc`) |
//! | redundancy makes up for originals that are lost or late, so that the receive buffer does not fill | [`Batch::redundancy`], and what is missing when the packet arrives |
//! | redundancy estimation, packet scheduling | the same |
//! | in the worst case about one regular TCP | a single path carries originals alone |
//!
//! Everything here is `ASSUMED`:
//!
//! * A batch is a block of `block` source symbols. Coded packets are made only of closed batches. In such a batch,
//!   either all originals were sent or none.
//! * A lost original is retransmitted by its subflow (`rtx=same` in the preset). A lost coded packet is not
//!   retransmitted.
//! * At time t, an NC path j serves the oldest batch b that needs a packet. There are two reasons for this need. First,
//!   the batch will be incomplete at t + EDT_j. The condition is k > rank + O + C. O is the sum of 1 - p over the
//!   originals in flight that are due by then (sent + EDT ≤ t + EDT_j). C is the sum of 1 - p over the coded packets in
//!   flight. Second, the batch got fewer than ρ_b coded packets, with ρ_b = ⌈r_b/(1 - p_j)⌉ and r_b = Σ n p + √(Σ n p
//!   (1 - p)). These sums cover the paths that carried n originals of the batch.
//! * If no batch needs a packet, the first batch without a sent original gets coded packets until k are expected. They
//!   replace originals. A batch gets originals only while fewer than k packets of either kind have arrived or are
//!   expected. The expected number is Σ (1 - p) over the packets in flight. The sender therefore stops the originals of
//!   a batch as soon as enough packets are in flight. If the sender instead waited for acknowledgements, it would stop
//!   the originals a round trip later. It would then send nearly all originals of such a batch in vain.
//! * If data may not take a path, symbols in flight on it count as lost.
//! * EDT and p are as in `fmtcp`.
//!
//! If the peer cannot decode, data take the path with the lowest round-trip time.

mod batch;
mod classes;
#[cfg(test)]
mod tests;

use batch::Batch;
use classes::Classes;
use smallvec::SmallVec;
use strandcast_keys::keys;
use strandcast_proto::coding::{BlockCoding, Code, Coding};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Assignment, Backlog, BlockView, ChunkInfo, PathId, PathView, Policy, Scheduler, Signal, SymbolAssignment,
    SymbolChoice, SymbolKind, View,
};
use strandcast_proto::time::Duration;

use super::expectation::Expectation;
use super::lowest_rtt::LowestRtt;
use super::per_block::PerBlock;
use crate::estimate::LossShare;
use crate::part::{Estimators, SchedulerPart};

keys! {
    /// The keys of [`NcMptcp`].
    #[derive(Copy)]
    pub struct NcMptcpConfig {
        /// source symbols per block, 0: 16, or 8 towards receive buffers of less than 128 KiB
        block: u32 [0, 256, "symbols"] = 0,
        /// time for which the first byte of a block that is not full waits, with no other data, before the block is
        /// closed
        flush: Duration [0, 10_000, "ms"] = Duration::from_millis(20),
        /// round trips between two comparisons that decide which paths carry coded packets
        nc_every: u32 [1, 1000, "round trips"] = 10,
        /// looks in a row that must agree before a path carries something else
        nc_hold: u32 [1, 100] = 2,
    }
}

impl SchedulerPart for NcMptcpConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(NcMptcp::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        let (code, sources) = (Code::Rlc, self.block as u16);
        config.coding = Some(Coding::Blocks(BlockCoding { code, sources, flush: self.flush }));
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.add(LossShare::default());
    }
}

/// The scheduler of NC-MPTCP as reconstructed here.
#[derive(Debug)]
pub struct NcMptcp {
    classes: Classes,
    batches: PerBlock<Batch>,
}

/// Paths in use and their expected arrivals.
type Expected = SmallVec<[(PathId, Expectation); 8]>;

fn expected(view: &View<'_>) -> Expected {
    view.usable_paths().map(|p| (p.id, Expectation::of(p))).collect()
}

impl NcMptcp {
    /// Makes the scheduler in its initial state.
    pub fn new(config: NcMptcpConfig) -> Self {
        NcMptcp { classes: Classes::new(config.nc_every, config.nc_hold), batches: PerBlock::default() }
    }

    /// Returns the original that leaves next, if a regular path has room.
    fn original(&self, view: &View<'_>) -> Option<SymbolAssignment> {
        let all = expected(view);
        let block =
            view.blocks.iter().find(|b| b.sources_sent < b.sources && to_come(b, &all) < b.sources.into())?;
        let regular = view.usable_paths().filter(|p| p.has_room() && self.classes.regular(view, p.id));
        let path = regular.min_by_key(|p| (p.srtt.unwrap_or(Duration::MAX), p.id))?.id;
        Some(SymbolAssignment { path, block: block.number, what: SymbolChoice::Source })
    }

    /// Returns the coded packet that leaves next. Returns `None` if no NC path has room, or if no batch needs a packet.
    fn coded(&mut self, view: &View<'_>) -> Option<SymbolAssignment> {
        let open = |p: &&PathView| p.has_room() && !self.classes.regular(view, p.id);
        let mut paths: Expected =
            view.usable_paths().filter(open).map(|p| (p.id, Expectation::of(p))).collect();
        if paths.is_empty() {
            return None;
        }
        let all = expected(view);
        paths.sort_by(|a, b| a.1.edt.total_cmp(&b.1.edt));
        for (path, own) in paths {
            if let Some(block) = self.wanting(view, &all, &own) {
                return Some(SymbolAssignment { path, block, what: SymbolChoice::Repair });
            }
        }
        None
    }

    /// Returns the batch for the coded packet of an NC path. `own` is the expectation of that path.
    fn wanting(&mut self, view: &View<'_>, all: &Expected, own: &Expectation) -> Option<u32> {
        let mut next = None;
        for block in view.blocks.iter().filter(|b| b.closed) {
            let (complete, fresh) = (block.sources_sent == block.sources, block.sources_sent == 0);
            if !complete && (!fresh || next.is_some()) {
                continue;
            }
            let Some(batch) = self.batches.of(block.number) else { continue };
            let due = batch.due(view.now, own.edt, all);
            let have = f64::from(block.rank) + due + coded_in_flight(block, all);
            let lacks = have < f64::from(block.sources);
            if complete && (lacks || f64::from(block.repairs_sent) < batch.redundancy(own.loss, all)) {
                return Some(block.number);
            }
            if fresh && lacks {
                next = Some(block.number);
            }
        }
        next
    }

    /// Returns the batch of the source symbol that `chunk` carries. The result also has the place of the symbol in the
    /// batch.
    fn batch(&mut self, chunk: &ChunkInfo) -> Option<(&mut Batch, u16)> {
        let symbol = chunk.symbol?;
        let SymbolKind::Source(place) = symbol.kind else { return None };
        Some((self.batches.of(symbol.block)?, place))
    }
}

/// Number of packets of `block` that have arrived, plus the number in flight that is expected to arrive.
fn to_come(block: &BlockView, all: &Expected) -> f64 {
    let in_flight = |path: &PathId| {
        let on = block.on(*path);
        f64::from(on.sources) + f64::from(on.repairs)
    };
    f64::from(block.rank) + all.iter().map(|(path, of)| (1.0 - of.loss) * in_flight(path)).sum::<f64>()
}

/// Expected number of coded packets in flight of `block` that will arrive.
fn coded_in_flight(block: &BlockView, all: &Expected) -> f64 {
    all.iter().map(|(path, of)| (1.0 - of.loss) * f64::from(block.on(*path).repairs)).sum()
}

impl Policy for NcMptcp {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.batches.follow(view.blocks);
        match signal {
            Signal::Sent(chunk) => {
                if let Some((batch, place)) = self.batch(chunk) {
                    batch.sent(place, chunk);
                }
            }
            Signal::Delivered { chunk, .. } | Signal::Lost { chunk, .. } => {
                if let Some((batch, place)) = self.batch(chunk) {
                    batch.settle(place, chunk);
                }
            }
            Signal::Abandoned(chunk) => {
                if let Some((batch, place)) = self.batch(chunk) {
                    batch.forget(place);
                }
            }
            Signal::Acked(_) => self.classes.look(view),
            Signal::PathChanged(path) => self.classes.changed(view, *path),
            _ => {}
        }
    }

    fn hears_deliveries(&self) -> bool {
        true
    }
}

impl Scheduler for NcMptcp {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        LowestRtt.next(view, backlog)
    }

    fn next_symbol(&mut self, view: &View<'_>, _: &Backlog) -> Option<SymbolAssignment> {
        self.batches.follow(view.blocks);
        self.original(view).or_else(|| self.coded(view))
    }
}
