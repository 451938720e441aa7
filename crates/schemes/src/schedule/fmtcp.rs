//! Symbols of a fountain by the time at which they are expected (Y. Cui, L. Wang, X. Wang, H. Wang, Y. Wang, "FMTCP: A
//! Fountain Code-Based Multipath Transmission Control Protocol", ICDCS 2012 and IEEE/ACM Transactions on Networking
//! 23(2), 2015): fast paths carry the blocks that are due, slow paths later ones, so that all arrive when they are
//! wanted.
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
//! The fourth column follows the third where the paper's own text was not at hand; only its abstract and introduction
//! were.
//!
//! `ASSUMED`:
//! - k̄ counts symbols as they arrive, also dependent ones, since 2^-e is the probability of failure after k + e of
//!   them. Once no symbol of a block is in flight, only the independent ones are counted, and the block gets more
//!   symbols. With `fmtcp-count=independent` dependent symbols are never counted: then each of them costs one more
//!   symbol at once;
//! - all paths with room are asked at once: of the symbols that the procedure hands out, the first that falls to a path
//!   with
//!   room leaves. Asked path by path the outcome is the same;
//! - symbols in flight on a path that data may not take count as lost;
//! - a path whose pacing or Max.Burst forbids a packet for the moment has its place in the order all the same, and the
//!   symbol
//!   that falls to it waits;
//! - age of the j-th oldest packet where fewer are in flight: -RTT (1 + j/in flight);
//! - a path without a round-trip time: EDT 0.5 s, RTT a third of the timeout.
//!
//! Towards peers that can't decode: the path with the lowest round-trip time.

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
    /// Symbols beyond k that are wanted: log2 (1/δ̂).
    margin: f64,
    flights: Flights,
    counted: Counted,
    /// Kept for its memory.
    plan: Plan,
}

impl Fmtcp {
    /// A scheduler that has seen nothing yet.
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
