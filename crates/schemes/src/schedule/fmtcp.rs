//! Scheduler for symbols of a fountain code, by their expected arrival times (Cui Y., Wang L., Wang X., Wang H., Wang
//! Y., "FMTCP: A Fountain Code-Based Multipath Transmission Control Protocol", ICDCS 2012 and IEEE/ACM Transactions on
//! Networking 23(2), 2015). Fast paths carry the blocks that are due, and slow paths carry later blocks. All blocks
//! thus arrive when they are needed.
//!
//! | idea | Cui et al. | their public ns-2 code | here |
//! |---|---|---|---|
//! | code | fountain; k + e symbols fail with at most 2^-e | none, symbols are counted | random linear over GF(2), decoded, no source symbol sent (`Code::Fountain`) |
//! | block | | 32 packets of 1024 bytes, 32 blocks | `block`, as many blocks as the peer's buffer holds |
//! | received k̄ | of each block, from acknowledgements | symbols counted | [`Counted`] by SACKs: `fmtcp-count` |
//! | expected k̃ = k̄ + Σ (1 - p) in flight | the same | sent less lost, without p | the same, [`Plan`] |
//! | complete | 2^-(k̃ - k) < δ̂ | k and `append_pkts_` symbols | δ̂ = `fmtcp-delta`; 0.1: k̃ > k + 3.32 |
//! | EDT, RT | | (RTT/2)(1 + p)/(1 - p), (1 - p) RTT + p RTO | `Expectation` |
//! | EAT | | EDT, without room + max {0, RT - age of the oldest packet}; for the j-th further symbol of the j-th | [`Plan`] |
//! | p | | losses by duplicate acknowledgements since the flow began by packets sent | `estimate::LossShare` |
//! | windows | Reno per subflow | Reno per subflow | the preset's choice |
//! | lost symbol | not sent again, counts no more | the same | the same, by the core |
//!
//! Only the abstract and the introduction of the paper were available. The fourth column is therefore derived from the
//! third column.
//!
//! `ASSUMED`:
//! * k̄ counts all symbols that arrive, including dependent ones, because 2^-e is the probability of failure after
//!   k + e symbols. Once no symbol of a block is in flight, only the independent symbols count. The block then gets
//!   more symbols. With `fmtcp-count=independent`, dependent symbols never count. Each of them costs one more symbol at
//!   once.
//! * One run of the procedure serves all paths that have room. The first symbol that it assigns to a path with room is
//!   sent. The result is the same as if the procedure ran for each path separately.
//! * If data may not take a path, symbols in flight on it count as lost.
//! * If pacing or Max.Burst forbids a packet on a path for the moment, the path keeps its place in the order. Its
//!   symbol waits.
//! * If fewer than j packets are in flight, the age of the j-th oldest packet is -RTT (1 + j/in flight).
//! * A path without a round-trip time has an EDT of 0.5 s. Its RTT is a third of the timeout.
//!
//! If the peer cannot decode, data take the path with the lowest round-trip time.

mod counted;
mod plan;
#[cfg(test)]
mod tests;

use counted::Counted;
use plan::Plan;
use strandcast_keys::{keys, words};
use strandcast_proto::coding::{BlockCoding, Code, Coding};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Assignment, Backlog, PathState, Policy, Scheduler, Signal, SymbolAssignment, SymbolChoice, View,
};
use strandcast_proto::time::Duration;

use super::flights::Flights;
use super::lowest_rtt::LowestRtt;
use crate::estimate::LossShare;
use crate::part::{Estimators, SchedulerPart};

words! {
    /// Arrived symbols that count.
    #[derive(Default)]
    pub enum Counting {
        /// All, until nothing of the block is in flight.
        #[default]
        Received = "received",
        /// Symbols that were independent of the others.
        Independent = "independent",
    }
}

keys! {
    /// The keys of [`Fmtcp`].
    #[derive(Copy)]
    pub struct FmtcpConfig {
        /// source symbols per block, 0: 16, or 8 towards receive buffers of less than 128 KiB
        block: u32 [0, 256, "symbols"] = 0,
        /// time for which the first byte of a block that is not full waits, with no other data, before the block is
        /// closed
        flush: Duration [0, 10_000, "ms"] = Duration::from_millis(20),
        /// δ̂: a block gets symbols until it fails to be decoded with a lower probability
        delta as "fmtcp-delta": f64 [0.000_001, 0.9] = 0.1,
        /// arrived symbols that count for that: all, or independent ones
        counting as "fmtcp-count": Counting = Counting::Received,
    }
}

impl SchedulerPart for FmtcpConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Fmtcp::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        let (code, sources) = (Code::Fountain, self.block as u16);
        config.coding = Some(Coding::Blocks(BlockCoding { code, sources, flush: self.flush }));
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.add(LossShare::default());
    }
}

/// The scheduler of FMTCP.
#[derive(Debug)]
pub struct Fmtcp {
    /// log2 (1/δ̂): number of symbols beyond k that a block needs.
    margin: f64,
    flights: Flights,
    counted: Counted,
    /// Plan of the scheduler. The plan is kept, so that its memory is used again.
    plan: Plan,
}

impl Fmtcp {
    /// Makes the scheduler in its initial state.
    pub fn new(config: FmtcpConfig) -> Self {
        Fmtcp {
            margin: -libm::log2(config.delta),
            flights: Flights::default(),
            counted: Counted::new(config.counting),
            plan: Plan::default(),
        }
    }
}

impl Policy for Fmtcp {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => self.flights.sent(chunk),
            Signal::Delivered { chunk, .. } => {
                if self.flights.settle(chunk)
                    && let Some(symbol) = chunk.symbol
                {
                    self.counted.arrived(symbol.block);
                }
            }
            Signal::Lost { chunk, .. } => {
                self.flights.settle(chunk);
            }
            Signal::Abandoned(chunk) => self.flights.forget(chunk),
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed) =>
            {
                self.flights.close(*path);
            }
            _ => {}
        }
    }

    fn hears_deliveries(&self) -> bool {
        true
    }
}

impl Scheduler for Fmtcp {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        LowestRtt.next(view, backlog)
    }

    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        self.counted.follow(view.blocks);
        self.plan.begin(view, &self.flights, backlog.next_len);
        let (path, block) = self.plan.next(view, &self.flights, self.margin, &mut self.counted)?;
        Some(SymbolAssignment { path, block, what: SymbolChoice::Repair })
    }
}
