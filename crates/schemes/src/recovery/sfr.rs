//! Split fast retransmit (SFR) with the delayed-acknowledgement count (DAC) of classic concurrent transfer. A gap
//! counts against a chunk only if data arrived that left later on the same path.
//!
//! | source | here |
//! |---|---|
//! | SFR: newly acknowledged TSNs per path, misses below the highest | [`SplitFastRetransmit::misses`] by `newly_acked_range` |
//! | DAC: one SACK stands for the packets it counts | the `dac_count` branch of the same |
//! | retransmission policies | [`Rtx`] |
//! | Xu et al. (2015): network coding hides losses from congestion control | `mask-losses`: [`SplitFastRetransmit::masked`] |
//!
//! `ASSUMED`: for DAC, a cumulatively acknowledged TSN counts as newly acknowledged on its path (`dac-acked=all`). This
//! choice is the more cautious one. In ns-2.35 only TSNs of gap blocks count (`dac-acked=gap`). `mask-losses` hides the loss of a symbol that later
//! packets show. The loss is hidden if the block is complete at the receiver, or if symbols in flight complete it. Each
//! symbol in flight counts as `1 - p`. The cause of a hidden loss is `Wireless`. Windows that depend on the cause then
//! do not change ([`SparedLosses`](strandcast_proto::rfc::SparedLosses)). As long as a loss is hidden, its chunk is not
//! sent again, because coded packets complete the block. Timeouts are not hidden, because a path that fell silent must
//! not get another window of data.

use strandcast_keys::{keys, words};
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy, LossTrigger, MissScope, PathView, Policy, Reach, Retransmit,
    Signal, View,
};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::wire::Tsn;

use super::retransmit::{Chooser, Rtx};
use crate::part::{LossPart, Others};

words! {
    /// Newly acknowledged TSNs that decide whether all packets of a SACK count as misses of a chunk (DAC).
    #[derive(Default)]
    pub enum DacAcked {
        /// TSNs of gap blocks.
        Gap = "gap",
        /// TSNs of gap blocks and those that the SACK acknowledges cumulatively.
        #[default]
        All = "all",
    }
}

keys! {
    /// Keys of split fast retransmit.
    #[derive(Copy, Eq)]
    pub struct SfrConfig {
        /// paths of retransmissions
        rtx: Rtx = Rtx::Cwnd,
        /// count the packets that a SACK stands for as misses
        dac: bool = true,
        /// TSNs that count as newly acknowledged for dac: those of gap blocks, as in ns-2.35, or all
        dac_acked: DacAcked = DacAcked::All,
        /// notice the loss of a retransmission by later packets of its path, not by timeout only
        repeat as "rtx-again": bool = true,
        /// no window shrinks for the loss of a symbol without which its block gets complete (schemes that code)
        mask_losses: bool = false,
    }
}

impl LossPart for SfrConfig {
    fn build(&self, _: &Others, seeds: &Seeds) -> Box<dyn LossPolicy> {
        Box::new(SplitFastRetransmit::new(*self, seeds.stream("scheme/retransmission ties")))
    }
}

/// The loss policy of concurrent transfer.
#[derive(Debug)]
pub struct SplitFastRetransmit {
    config: SfrConfig,
    chooser: Chooser,
}

impl SplitFastRetransmit {
    /// Makes the policy. If several paths are equally good for a retransmission, `random` decides.
    pub fn new(config: SfrConfig, random: Random) -> Self {
        SplitFastRetransmit { config, chooser: Chooser::new(config.rtx, random) }
    }

    /// Returns whether all that counts as newly acknowledged is of this path and left when `next` was the next new TSN,
    /// or later. Only then all packets of the SACK are later ones.
    fn all_later(&self, ack: &AckInfo, next: Tsn) -> bool {
        let (lowest, paths) = match self.config.dac_acked {
            DacAcked::All => (ack.newly_acked_range.map(|(lowest, _)| lowest), ack.paths_newly_acked),
            DacAcked::Gap => (ack.lowest_gap_acked, ack.paths_gap_acked),
        };
        paths <= 1 && lowest.is_some_and(|tsn| !tsn.is_before(next))
    }

    /// Returns whether the loss of `chunk` is hidden from windows.
    fn masked(&self, view: &View<'_>, chunk: &ChunkInfo) -> bool {
        // Without coded blocks, no chunk can be masked.
        let Some(symbol) = chunk.symbol.filter(|_| self.config.mask_losses && !view.blocks.is_empty()) else {
            return false;
        };
        let Some(block) = view.blocks.iter().find(|b| b.number == symbol.block) else { return true };
        let arrives = |path: &PathView| {
            let there = block.on(path.id);
            (1.0 - path.est.loss.unwrap_or(0.0)) * (f64::from(there.sources) + f64::from(there.repairs))
        };
        let coming: f64 = view.usable_paths().map(arrives).sum();
        f64::from(block.rank) + coming >= f64::from(block.sources)
    }
}

impl Policy for SplitFastRetransmit {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.chooser.on_signal(view, signal);
    }
}

impl LossPolicy for SplitFastRetransmit {
    fn misses(&mut self, _: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        let Some((_, highest)) = ack.newly_acked_range else { return 0 };
        let Some(sent) = chunk.on(ack.path).filter(|t| t.in_flight) else { return 0 };
        // Copies of a chunk leave at the same time. A transmission that left later is a retransmission.
        let retransmission = sent.at != chunk.transmissions[0].at;
        if (retransmission && !self.config.repeat) || highest.is_before(sent.next_tsn) {
            return 0;
        }
        if self.config.dac && self.all_later(ack, sent.next_tsn) { ack.dac_count.max(1) } else { 1 }
    }

    fn miss_scope(&self, _: &View<'_>, ack: &AckInfo) -> MissScope {
        let highest = ack.newly_acked_range.map(|(_, highest)| Reach::Before(highest));
        let first = highest.unwrap_or(Reach::Nothing);
        MissScope { first, again: if self.config.repeat { first } else { Reach::Nothing } }
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        match trigger {
            LossTrigger::FastRetransmit if self.masked(view, chunk) => LossCause::Wireless,
            LossTrigger::FastRetransmit | LossTrigger::HeadOfLine => LossCause::Congestion,
            LossTrigger::Timeout => LossCause::PathFailure,
        }
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        if cause == LossCause::Wireless && self.masked(view, chunk) {
            return Retransmit::Hold;
        }
        self.chooser.verdict(view, chunk)
    }
}
