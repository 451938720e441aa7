//! Lost chunks take the path that the receiver chose (Algorithm 1, line 12, of Cao et al. 2016). After a switch, the
//! old path carries only HEARTBEATs.
//!
//! `ASSUMED`: once the receiver has chosen a path, all retransmissions take this path, including retransmissions after
//! a timeout. The alternate path of RFC 9260 may be a dead path that data have already left. Before the first choice,
//! and while the chosen path is not usable, the underlying loss policy decides.

use strandcast_proto::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy, LossTrigger, MissScope, PathId, Policy, Retransmit, Signal,
    View,
};
use strandcast_proto::time::Instant;

use crate::part::{Others, Paths};
use crate::schedule::ReceiverChoice;

/// Loss policy whose retransmissions take the path that the receiver chose.
#[derive(Debug)]
pub struct OnChosenPath {
    inner: Box<dyn LossPolicy>,
    choice: ReceiverChoice,
}

impl OnChosenPath {
    /// Makes the policy. `inner` decides which chunks are lost. While the receiver has chosen no path, `inner` also
    /// chooses the paths of lost chunks.
    pub fn new(inner: Box<dyn LossPolicy>) -> Self {
        OnChosenPath { inner, choice: ReceiverChoice::default() }
    }
}

/// Returns `inner`. If the receiver chooses paths, the result also follows the receiver's choice.
pub(super) fn followed(others: &Others, inner: impl LossPolicy + 'static) -> Box<dyn LossPolicy> {
    match others.paths {
        Paths::Chosen => Box::new(OnChosenPath::new(Box::new(inner))),
        Paths::All | Paths::Primary => Box::new(inner),
    }
}

impl Policy for OnChosenPath {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.choice.on_signal(view, signal);
        self.inner.on_signal(view, signal);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.inner.poll_timeout()
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        self.inner.counters(out);
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        self.inner.diagnostics(view, out);
    }
}

impl LossPolicy for OnChosenPath {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.inner.misses(view, ack, chunk)
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.inner.miss_scope(view, ack)
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.inner.threshold(path)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.inner.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        match self.choice.chosen(view) {
            Some(path) => Retransmit::On(path),
            None => self.inner.retransmit(view, chunk, cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::PathState;
    use strandcast_proto::policy::fixture::{Picture, chunk};
    use strandcast_proto::rfc::RfcLoss;

    use super::*;
    use crate::feedback::rounds::Notice;
    use crate::recovery::RetransmissionAware;

    /// Returns two paths on which a lost chunk of this path is retransmitted: after three misses, and after a timeout.
    fn goes(loss: &mut OnChosenPath, picture: &Picture, path: u8) -> [Retransmit; 2] {
        [LossCause::Congestion, LossCause::PathFailure]
            .map(|cause| loss.retransmit(&picture.view(), &chunk(5, &[path]), cause))
    }

    #[test]
    fn losses_of_the_old_path_go_to_the_new_one() {
        let on = |path| Retransmit::On(PathId(path));
        let inner: [Box<dyn LossPolicy>; 2] =
            [Box::new(RfcLoss::default()), Box::new(RetransmissionAware::new(20))];
        for inner in inner {
            let (mut loss, mut picture) = (OnChosenPath::new(inner), Picture::new(3));
            assert_eq!(goes(&mut loss, &picture, 0), [on(0), on(1)], "RFC 9260 before the first order");
            let order = Notice::Switch { rate: Some(1000), serial: 1 }.report(Some(PathId(2)));
            loss.on_signal(&picture.view(), &Signal::Peer(&order));
            assert_eq!(goes(&mut loss, &picture, 0), [on(2); 2]);
            assert_eq!(goes(&mut loss, &picture, 2), [on(2); 2], "path 0 may be dead");
            picture.paths[2].state = PathState::Inactive;
            loss.on_signal(&picture.view(), &Signal::PathChanged(PathId(2)));
            assert_eq!(goes(&mut loss, &picture, 0), [on(0), on(1)]);
        }
    }
}
