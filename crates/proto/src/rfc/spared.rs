//! Losses for which a window does not have to shrink.

use crate::policy::{LossCause, LossTrigger, PathId, Signal};
use crate::wire::serial::Tsn;

/// Selects the losses for which windows shrink. A loss with the cause [`LossCause::Wireless`] does not shrink a window,
/// unless the path fell silent. The loss policy decides on the cause.
///
/// A [`Signal::LossEvent`] has the cause of its window's first loss. If that first loss was spared, the first loss with
/// another cause in this window takes its place.
#[derive(Clone, Debug, Default)]
pub struct SparedLosses {
    /// Highest TSN that was in flight at the spared loss event, by path slot.
    paths: Vec<Option<Tsn>>,
}

impl SparedLosses {
    /// Returns the loss in `signal`, if a window has to shrink for it. The result has the path of the loss, its
    /// trigger, and the highest TSN in flight on the path at that time.
    pub fn counts(&mut self, signal: &Signal<'_>) -> Option<(PathId, LossTrigger, Tsn)> {
        match *signal {
            Signal::LossEvent { path, trigger, highest, cause } => {
                let spared = trigger == LossTrigger::FastRetransmit && cause == LossCause::Wireless;
                if spared && self.paths.len() <= path.index() {
                    self.paths.resize(path.index() + 1, None);
                }
                if let Some(slot) = self.paths.get_mut(path.index())
                    && trigger != LossTrigger::HeadOfLine
                {
                    *slot = spared.then_some(highest);
                }
                (!spared).then_some((path, trigger, highest))
            }
            Signal::Lost { chunk, path, cause: LossCause::Congestion } => {
                let slot = self.paths.get_mut(path.index())?;
                let highest = slot.take_if(|highest| !chunk.tsn.is_after(*highest))?;
                Some((path, LossTrigger::FastRetransmit, highest))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ChunkInfo;
    use crate::policy::fixture::chunk;

    const P1: PathId = PathId(1);

    fn event(trigger: LossTrigger, cause: LossCause) -> Signal<'static> {
        Signal::LossEvent { path: P1, trigger, highest: Tsn(20), cause }
    }

    fn lost(chunk: &ChunkInfo, cause: LossCause) -> Signal<'_> {
        Signal::Lost { chunk, path: P1, cause }
    }

    #[test]
    fn only_wireless_losses_are_spared_and_no_timeout() {
        use LossCause::{Congestion, PathFailure, Wireless};
        use LossTrigger::{FastRetransmit, HeadOfLine, Timeout};
        let mut spared = SparedLosses::default();
        for (trigger, cause, counts) in [
            (FastRetransmit, Congestion, true),
            (FastRetransmit, Wireless, false),
            (FastRetransmit, PathFailure, true),
            (Timeout, Wireless, true),
            (HeadOfLine, Wireless, true),
        ] {
            let told = spared.counts(&event(trigger, cause));
            assert_eq!(told, counts.then_some((P1, trigger, Tsn(20))), "{trigger:?} {cause:?}");
        }
    }

    #[test]
    fn the_first_other_loss_of_a_spared_window_counts_once() {
        let (inside, beyond) = (chunk(20, &[1]), chunk(21, &[1]));
        let mut spared = SparedLosses::default();
        assert_eq!(spared.counts(&lost(&inside, LossCause::Congestion)), None, "its event follows");
        spared.counts(&event(LossTrigger::FastRetransmit, LossCause::Wireless));
        assert_eq!(spared.counts(&lost(&inside, LossCause::Wireless)), None);
        assert_eq!(spared.counts(&lost(&beyond, LossCause::Congestion)), None, "it has an event of its own");
        let told = Some((P1, LossTrigger::FastRetransmit, Tsn(20)));
        assert_eq!(spared.counts(&lost(&inside, LossCause::Congestion)), told);
        assert_eq!(spared.counts(&lost(&inside, LossCause::Congestion)), None, "once a window");
        spared.counts(&event(LossTrigger::FastRetransmit, LossCause::Wireless));
        spared.counts(&event(LossTrigger::Timeout, LossCause::PathFailure));
        assert_eq!(spared.counts(&lost(&inside, LossCause::Congestion)), None, "the timeout did it");
    }
}
