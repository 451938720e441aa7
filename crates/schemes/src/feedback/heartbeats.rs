//! Delayed acknowledgement (DAC), with heartbeats on suspected paths ([`Verdict`]). During the first [`FAST_PHASE`],
//! heartbeats leave at the interval [`FAST_INTERVAL`]. Most silences are short, and the path carries no data until it
//! has answered. Afterwards, heartbeats leave at the interval [`SLOW_INTERVAL`]. If a dead path answers, it is probed
//! at the fast interval for another [`FAST_PHASE`], so that it returns soon. An answer ends the suspicion, or counts
//! for the return of a dead path. SACKs return by the two quickest live paths in turn. A dead return path is therefore
//! detected.

use smallvec::SmallVec;

use strandcast_keys::keys;
use strandcast_proto::policy::{
    AckDecision, Feedback, PathId, PathSet, PathState, Policy, Probe, RxInfo, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::dac::DelayedAck;
use crate::estimate::{Verdict, return_paths};
use crate::part::{Estimators, FeedbackPart};

/// Interval between heartbeats in the fast phase.
pub const FAST_INTERVAL: Duration = Duration::from_millis(25);
/// Duration of the fast phase.
pub const FAST_PHASE: Duration = Duration::from_secs(1);
/// Interval between heartbeats after the fast phase.
pub const SLOW_INTERVAL: Duration = Duration::from_millis(250);

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

/// Feedback policy that probes suspected paths.
#[derive(Debug, Default)]
pub struct Heartbeats {
    acks: DelayedAck,
    /// Suspected paths. Each has the time of the next heartbeat, and the time since which the path has been suspected.
    suspected: SmallVec<[(PathId, Instant, Instant); 4]>,
    /// Paths on which a heartbeat must leave now.
    wanted: PathSet,
}

impl Policy for Heartbeats {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.acks.on_signal(view, signal);
        if let Signal::Heartbeat(answer) = signal
            && let Some(answered) = self.suspected.iter_mut().find(|s| s.0 == answer.path)
        {
            (answered.1, answered.2) = (answered.1.min(view.now + FAST_INTERVAL), view.now);
        }
        let often = matches!(signal, Signal::Sent(_) | Signal::Acked(_) | Signal::Arrived(_));
        if often && self.suspected.is_empty() {
            // These signals change no verdict.
            return;
        }
        if self.suspected.is_empty() && view.paths.iter().all(Verdict::trusts) {
            self.wanted = PathSet::default();
            return;
        }
        for path in view.paths {
            let suspect = path.state != PathState::Closed && Verdict::of(path) > Verdict::Live;
            match self.suspected.iter().position(|s| s.0 == path.id) {
                None if suspect => self.suspected.push((path.id, view.now, view.now)),
                Some(i) if !suspect => {
                    self.suspected.remove(i);
                }
                _ => {}
            }
        }
        self.wanted = self.wanted.iter().filter(|p| self.suspected.iter().any(|s| s.0 == *p)).collect();
        for (path, at, since) in self.suspected.iter_mut().filter(|s| s.1 <= view.now) {
            let soon = view.now.saturating_since(*since) < FAST_PHASE;
            *at = view.now + if soon { FAST_INTERVAL } else { SLOW_INTERVAL };
            self.wanted.insert(*path);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.suspected.iter().map(|s| s.1).min()
    }
}

impl Feedback for Heartbeats {
    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> AckDecision {
        self.acks.sack(view, rx)
    }

    fn return_paths(&mut self, view: &View<'_>) -> PathSet {
        return_paths(view)
    }

    fn probe(&mut self, _: &View<'_>) -> Option<Probe> {
        let path = self.wanted.iter().next()?;
        self.wanted.remove(path);
        Some(Probe { path, count: 1, padded: false })
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::HeartbeatInfo;
    use strandcast_proto::policy::fixture::Picture;

    use super::*;

    #[test]
    fn suspected_paths_are_probed_often_at_first() {
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
        for at in (0..=1000).step_by(25).chain([1250, 1500]) {
            picture.now = start + Duration::from_millis(at);
            let (probe, next) = heard(&picture);
            assert_eq!(probe, Some(1), "after {at} ms");
            picture.now = next.expect("another one") - Duration::from_millis(1);
            assert_eq!(heard(&picture).0, None);
        }
        Verdict::Live.write(&mut picture.paths[1].est);
        assert_eq!(heard(&picture), (None, None));
    }

    #[test]
    fn a_dead_path_that_answers_is_probed_often_again() {
        let (mut picture, mut feedback) = (Picture::new(2), Heartbeats::default());
        Verdict::Dead.write(&mut picture.paths[1].est);
        feedback.on_signal(&picture.view(), &Signal::Tick);
        picture.now = picture.now + FAST_PHASE + SLOW_INTERVAL;
        feedback.on_signal(&picture.view(), &Signal::Tick);
        assert_eq!(feedback.poll_timeout(), Some(picture.now + SLOW_INTERVAL));
        let answer = HeartbeatInfo {
            path: PathId(1),
            rtt: Some(FAST_INTERVAL),
            probe: true,
            sent: picture.now,
            late: false,
        };
        feedback.on_signal(&picture.view(), &Signal::Heartbeat(&answer));
        assert_eq!(feedback.poll_timeout(), Some(picture.now + FAST_INTERVAL));
    }
}
