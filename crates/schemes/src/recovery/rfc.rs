//! Loss detection over all paths, as in RFC 9260 §7.2.4: `rfc::RfcLoss` of the core.
//!
//! | source | here |
//! |---|---|
//! | RFC 9260 §7.2.4: a fast retransmission leaves by the same path | `fast-rtx=same` |
//! | RFC 4960 §6.4.1: an endpoint "SHOULD try to retransmit a chunk that timed out" to another address | both |
//! | ns-2.35, `Agent/SCTP`, `rtxToAlt_ 1`: each retransmission takes the alternate, fast ones too | `fast-rtx=alternate` |

use strandcast_keys::{keys, words};
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy, LossTrigger, MissScope, Policy, Retransmit, Signal, View,
};
use strandcast_proto::rfc::RfcLoss;
use strandcast_proto::seeds::Seeds;

use super::chosen_path::followed;
use crate::part::{LossPart, Others};

words! {
    /// Paths of fast retransmissions. Data that timed out leave by the next active path with either choice.
    pub enum FastRtx {
        /// The path that lost the data.
        Same = "same",
        /// The next active path.
        Alternate = "alternate",
    }
}

keys! {
    /// Keys of [`RfcLoss`].
    #[derive(Copy, Eq)]
    pub struct RfcLossConfig {
        /// paths of fast retransmissions
        fast_rtx: FastRtx = FastRtx::Same,
    }
}

impl LossPart for RfcLossConfig {
    fn build(&self, others: &Others, _: &Seeds) -> Box<dyn LossPolicy> {
        match self.fast_rtx {
            FastRtx::Same => followed(others, RfcLoss::default()),
            FastRtx::Alternate => followed(others, ToAlternate::default()),
        }
    }
}

/// [`RfcLoss`] whose fast retransmissions take the same path as data that timed out.
#[derive(Clone, Debug, Default)]
struct ToAlternate(RfcLoss);

impl Policy for ToAlternate {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.0.on_signal(view, signal);
    }
}

impl LossPolicy for ToAlternate {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.0.misses(view, ack, chunk)
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.0.miss_scope(view, ack)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.0.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, _: LossCause) -> Retransmit {
        self.0.retransmit(view, chunk, LossCause::PathFailure)
    }
}
