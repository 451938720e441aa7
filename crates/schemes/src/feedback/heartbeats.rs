//! Delayed acknowledgement (DAC), and heartbeats on paths that are suspected ([`Verdict`]): at once, after [`FIRST`], and then
//! at twice the distance each time, up to [`LAST`]. An answer ends the suspicion, or counts for the return of a dead path.
//! SACKs come back by the two quickest live paths in turn, so that a dead way back shows.

use smallvec::SmallVec;

use strandcast_keys::keys;
use strandcast_proto::policy::{
    AckDecision, Feedback, PathId, PathSet, PathState, Policy, Probe, RxInfo, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::dac::DelayedAck;
use crate::estimate::{Verdict, ways_back};
use crate::part::{Estimators, FeedbackPart};

/// From the first heartbeat to the second.
pub const FIRST: Duration = Duration::from_millis(50);
/// The longest time from one to the next.
pub const LAST: Duration = Duration::from_millis(250);

keys! {
    /// [`Heartbeats`] has no keys.
    pub struct HeartbeatsConfig {}
}

impl FeedbackPart for HeartbeatsConfig {
    fn build(&self) -> Box<dyn Feedback> {
        Box::new(Heartbeats::default())
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.silence();
    }
}

/// Probes suspected paths.
#[derive(Debug, Default)]
pub struct Heartbeats {
    acks: DelayedAck,
    /// The suspected paths: when the next heartbeat is due, and how long after the one before.
    suspected: SmallVec<[(PathId, Instant, Duration); 4]>,
    /// Where one is to leave now.
    wanted: PathSet,
}

impl Policy for Heartbeats {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.acks.on_signal(view, signal);
        for path in view.paths {
            let suspect = path.state != PathState::Closed && Verdict::of(path) > Verdict::Live;
            match self.suspected.iter().position(|s| s.0 == path.id) {
                None if suspect => self.suspected.push((path.id, view.now, Duration::ZERO)),
                Some(i) if !suspect => {
                    self.suspected.remove(i);
                }
                _ => {}
            }
        }
        self.wanted = self.wanted.iter().filter(|p| self.suspected.iter().any(|s| s.0 == *p)).collect();
        for (path, at, wait) in self.suspected.iter_mut().filter(|s| s.1 <= view.now) {
            *wait = (2 * *wait).clamp(FIRST, LAST);
            *at = view.now + *wait;
            self.wanted.insert(*path);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.suspected.iter().map(|s| s.1).min()
    }

    fn sent_is_local(&self) -> bool {
        true
    }
}

impl Feedback for Heartbeats {
    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> AckDecision {
        self.acks.sack(view, rx)
    }

    fn ways_back(&mut self, view: &View<'_>) -> PathSet {
        ways_back(view)
    }

    fn probe(&mut self, _: &View<'_>) -> Option<Probe> {
        let path = self.wanted.iter().next()?;
        self.wanted.remove(path);
        Some(Probe { path, count: 1, padded: false })
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::contract::fixture::Picture;

    use super::*;

    #[test]
    fn suspected_paths_are_probed_less_and_less_often() {
        let (mut picture, mut feedback) = (Picture::new(2), Heartbeats::default());
        let start = picture.now;
        let mut heard = |picture: &Picture| {
            feedback.on_signal(&picture.view(), &Signal::Tick);
            let probe = feedback.probe(&picture.view()).map(|p| p.path.0);
            assert_eq!(feedback.probe(&picture.view()), None, "one at a time");
            (probe, feedback.poll_timeout())
        };
        assert_eq!(heard(&picture), (None, None));
        Verdict::Stalled.write(&mut picture.paths[1].est);
        for at in [0, 50, 150, 350, 600, 850] {
            picture.now = start + Duration::from_millis(at);
            let (probe, next) = heard(&picture);
            assert_eq!(probe, Some(1), "after {at} ms");
            picture.now = next.expect("another one") - Duration::from_millis(1);
            assert_eq!(heard(&picture).0, None);
        }
        Verdict::Live.write(&mut picture.paths[1].est);
        assert_eq!(heard(&picture), (None, None));
    }
}
