//! Loss detection and retransmission of a single-path sender (RFC 9260 §7.2.4, §6.3.3, §6.4.1).

use crate::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy, LossTrigger, MissScope, PathId, PathState, Policy, Reach,
    Retransmit, Signal, View,
};
use crate::wire::serial::Tsn;

/// Loss policy that declares a loss after three miss indications. Miss indications are counted by the Highest TSN Newly
/// Acknowledged algorithm of RFC 9260. Fast retransmissions stay on their path. Data that timed out take the next
/// active alternate path.
///
/// The causes that it returns stand for triggers: [`LossCause::Congestion`] for fast retransmit,
/// [`LossCause::PathFailure`] for a timeout. [`LossPolicy::retransmit`] can thereby distinguish them.
#[derive(Clone, Debug, Default)]
pub struct RfcLoss {
    /// TSN whose acknowledgement ends fast recovery, by path slot.
    recovery: Vec<Option<Tsn>>,
}

impl RfcLoss {
    /// Returns the next usable path after `path`, in the order of slots. Returns `path` itself if there is no other.
    fn alternate(view: &View<'_>, path: PathId) -> Option<PathId> {
        let usable = view.usable();
        let others = || usable.iter().filter(|p| *p != path);
        others().find(|p| *p > path).or_else(|| others().next()).or_else(|| usable.iter().next())
    }

    fn set_recovery(&mut self, path: PathId, until: Option<Tsn>) {
        if self.recovery.len() <= path.index() {
            self.recovery.resize(path.index() + 1, None);
        }
        self.recovery[path.index()] = until;
    }

    fn in_recovery(&self, path: PathId) -> bool {
        self.recovery.get(path.index()).is_some_and(Option::is_some)
    }
}

impl Policy for RfcLoss {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::LossEvent { path, trigger, highest, .. } => match trigger {
                LossTrigger::FastRetransmit if self.in_recovery(*path) => {}
                LossTrigger::FastRetransmit => self.set_recovery(*path, Some(*highest)),
                LossTrigger::Timeout => self.set_recovery(*path, None),
                LossTrigger::HeadOfLine => {}
            },
            Signal::Acked(ack) => {
                for exit in &mut self.recovery {
                    *exit = exit.filter(|exit| ack.cum_tsn.is_before(*exit));
                }
            }
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Closed) =>
            {
                self.set_recovery(*path, None);
            }
            _ => {}
        }
    }
}

impl LossPolicy for RfcLoss {
    fn misses(&mut self, _: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        let Some(sent) = chunk.on(ack.path).filter(|t| t.in_flight) else { return 0 };
        // §7.2.4: a chunk that was retransmitted is not eligible for another fast retransmit. (Copies left together.)
        if sent.at != chunk.transmissions[0].at {
            return 0;
        }
        let newly = ack.highest_newly_acked.is_some_and(|highest| chunk.tsn.is_before(highest));
        // §7.2.4: in fast recovery a SACK that moves the cumulative TSN counts for all TSNs it reports missing.
        let missing =
            self.in_recovery(ack.path) && ack.cum_advanced && chunk.tsn.is_before(ack.highest_reported);
        u8::from(newly || missing)
    }

    fn miss_scope(&self, _: &View<'_>, ack: &AckInfo) -> MissScope {
        let reported = (self.in_recovery(ack.path) && ack.cum_advanced).then_some(ack.highest_reported);
        let end = reported.or(ack.highest_newly_acked);
        MissScope { first: end.map_or(Reach::Nothing, Reach::Before), again: Reach::Nothing }
    }

    fn classify(&mut self, _: &View<'_>, _: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        match trigger {
            LossTrigger::FastRetransmit | LossTrigger::HeadOfLine => LossCause::Congestion,
            LossTrigger::Timeout => LossCause::PathFailure,
        }
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        let last = chunk.path();
        let stay = cause != LossCause::PathFailure && view.usable().contains(last);
        let path = if stay { Some(last) } else { Self::alternate(view, last) };
        path.map_or(Retransmit::Hold, Retransmit::On)
    }
}
