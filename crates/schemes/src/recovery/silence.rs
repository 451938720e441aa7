//! Split fast retransmit with one addition. Data in flight on a path that has fallen silent are declared lost at once
//! ([`Verdict::Silent`]). They leave by other paths without waiting for the timer of the silent path.
//!
//! These losses are attributed to a failure of the path. Windows and loss shares do not change, because silence does
//! not show the length of a queue. While no other path is live, no data are declared lost in this way.
//!
//! *The last moment*: a path is stalled for the time [`RESEND`] before it counts as silent. A chunk in flight on the
//! stalled path may be too late after that time, even by the quickest live path. Such a chunk is copied to the quickest
//! live path at once. It is a copy and not a retransmission, because the stalled path may still deliver the chunk. The
//! core limits the bytes of copies.
//!
//! If the peer reports no arrivals, this policy is the same as `loss=sfr`.

use strandcast_keys::keys;
use strandcast_proto::policy::{
    AckInfo, Act, ChunkInfo, Flight, LossCause, LossPolicy, LossTrigger, MissScope, PathId, PathSet, Policy,
    Retransmit, Signal, View,
};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use super::sfr::{SfrConfig, SplitFastRetransmit};
use crate::estimate::{RESEND, Verdict};
use crate::part::{Estimators, LossPart, Others};

/// Time before the last moment at which a copy may leave. The time equals the interval of reports.
const MARGIN: Duration = Duration::from_millis(25);

keys! {
    /// The keys of [`GivesUpSilent`].
    #[derive(Copy, Eq)]
    pub struct SilenceConfig {
        with sfr: SfrConfig,
        /// a chunk in flight on a stalled path is copied when waiting for the verdict would make it late
        last_moment: bool = true,
    }
}

impl LossPart for SilenceConfig {
    fn build(&self, _: &Others, seeds: &Seeds) -> Box<dyn LossPolicy> {
        let random = seeds.stream("scheme/retransmission ties");
        Box::new(GivesUpSilent::new(SplitFastRetransmit::new(self.sfr, random), self.last_moment))
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.silence();
    }
}

/// Loss policy that declares data in flight on silent paths lost.
#[derive(Debug)]
pub struct GivesUpSilent {
    sfr: SplitFastRetransmit,
    /// Silent paths whose data in flight were declared lost.
    given_up: PathSet,
    last_moment: bool,
    /// Stalled path from which chunks were last copied, and the last chunk that was copied.
    copied: Option<(PathId, Tsn)>,
}

impl GivesUpSilent {
    /// Makes the policy. `sfr` decides on everything except silent paths. `last_moment` switches copies at the last
    /// moment on.
    pub fn new(sfr: SplitFastRetransmit, last_moment: bool) -> Self {
        GivesUpSilent { sfr, given_up: PathSet::default(), last_moment, copied: None }
    }

    fn lose(&mut self, view: &View<'_>) -> Option<Act> {
        let silent = view.paths.iter().filter(|p| Verdict::of(p) >= Verdict::Silent).map(|p| p.id);
        let silent: PathSet = silent.collect();
        self.given_up = self.given_up.iter().filter(|p| silent.contains(*p)).collect();
        if silent.is_empty() || !view.usable_paths().any(|p| Verdict::of(p) == Verdict::Live) {
            return None;
        }
        let path = silent.iter().find(|p| !self.given_up.contains(*p))?;
        self.given_up.insert(path);
        Some(Act::Lose { path, sent_before: view.now, cause: LossCause::PathFailure })
    }

    /// Copies the next chunk of a stalled path that cannot wait for a verdict.
    fn copy(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        let stalled = view.paths.iter().find(|p| Verdict::of(p) == Verdict::Stalled && p.in_flight > 0)?;
        let live = view.usable_paths().filter(|p| Verdict::of(p) == Verdict::Live);
        let (way, to) = live.filter_map(|p| Some((p.srtt? / 2 + p.rttvar, p.id))).min()?;
        let after = self.copied.filter(|c| c.0 == stalled.id).map(|c| c.1);
        let new = |c: &&ChunkInfo| c.sent_once() && after.is_none_or(|tsn| tsn.is_before(c.tsn));
        let next = flight.on(stalled.id).find(new)?;
        let left = next.expires?.saturating_since(view.now);
        if left > way + RESEND + MARGIN {
            return None;
        }
        self.copied = Some((stalled.id, next.tsn));
        Some(Act::Copy { tsn: next.tsn, to })
    }
}

impl Policy for GivesUpSilent {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.sfr.on_signal(view, signal);
    }

    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        // This function is called after each signal, and mostly has nothing to do.
        if !view.paths.iter().any(Verdict::suspects) {
            self.given_up = PathSet::default();
            return None;
        }
        let lost = self.lose(view);
        if lost.is_some() || !self.last_moment { lost } else { self.copy(view, flight) }
    }
}

impl LossPolicy for GivesUpSilent {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.sfr.misses(view, ack, chunk)
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.sfr.miss_scope(view, ack)
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.sfr.threshold(path)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.sfr.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.sfr.retransmit(view, chunk, cause)
    }
}

#[cfg(test)]
mod tests;
