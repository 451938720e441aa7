//! A scheme composed of parts that are called in a fixed order.

use super::act::{Act, Flight};
use super::advice::Advice;
use super::ids::PathId;
use super::moves::Moves;
use super::signal::Signal;
use super::traits::{CongestionControl, Feedback, LossPolicy, PathEstimator, Policy, Scheduler, Scheme};
use super::view::{Estimate, View};
use crate::time::Instant;

/// One scheme of estimators, loss policy, congestion control, scheduler and feedback.
#[derive(Debug)]
pub struct Parts {
    /// Name of the preset, for display.
    pub name: String,
    /// Estimators of path properties. Each estimator writes its own fields.
    pub estimators: Vec<Box<dyn PathEstimator>>,
    /// Policy that decides on losses and on the paths of retransmissions.
    pub loss: Box<dyn LossPolicy>,
    /// Congestion control, which limits the data in flight.
    pub cc: Box<dyn CongestionControl>,
    /// Scheduler, which chooses the paths of new data.
    pub scheduler: Box<dyn Scheduler>,
    /// Feedback policy, which reports to the peer.
    pub feedback: Box<dyn Feedback>,
}

/// Returns the earlier of two times.
#[inline]
fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

impl Scheme for Parts {
    fn name(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        for e in &mut self.estimators {
            e.on_signal(view, signal);
        }
        self.loss.on_signal(view, signal);
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        for e in &self.estimators {
            e.estimate(path, out);
        }
    }

    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.cc.on_signal(view, signal);
        self.scheduler.on_signal(view, signal);
        self.feedback.on_signal(view, signal);
    }

    fn loss(&mut self) -> &mut dyn LossPolicy {
        self.loss.as_mut()
    }

    fn congestion(&self) -> &dyn CongestionControl {
        self.cc.as_ref()
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        self.scheduler.as_mut()
    }

    fn feedback(&mut self) -> &mut dyn Feedback {
        self.feedback.as_mut()
    }
}

impl Policy for Parts {
    fn poll_timeout(&self) -> Option<Instant> {
        // This is called for every packet: a chain of iterators costs several times as much.
        let mut first = self.loss.poll_timeout();
        first = earlier(first, self.cc.poll_timeout());
        first = earlier(first, self.scheduler.poll_timeout());
        first = earlier(first, self.feedback.poll_timeout());
        for e in &self.estimators {
            first = earlier(first, e.poll_timeout());
        }
        first
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        self.estimators.iter().fold(self.cc.moves(signal), |most, e| most.max(e.moves(signal)))
    }

    fn hears_deliveries(&self) -> bool {
        self.loss.hears_deliveries()
            || self.cc.hears_deliveries()
            || self.scheduler.hears_deliveries()
            || self.feedback.hears_deliveries()
            || self.estimators.iter().any(|e| e.hears_deliveries())
    }

    fn hears_arrivals(&self) -> bool {
        self.loss.hears_arrivals()
            || self.cc.hears_arrivals()
            || self.scheduler.hears_arrivals()
            || self.feedback.hears_arrivals()
            || self.estimators.iter().any(|e| e.hears_arrivals())
    }

    fn acts(&self) -> bool {
        self.loss.acts() || self.scheduler.acts()
    }

    /// Asks the loss policy for an action, and then the scheduler.
    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        self.loss.act(view, flight).or_else(|| self.scheduler.act(view, flight))
    }

    fn advice(&self, view: &View<'_>) -> Option<Advice> {
        let estimated = || self.estimators.iter().find_map(|e| e.advice(view));
        let congestion = || self.cc.advice(view).or_else(|| self.loss.advice(view));
        self.scheduler
            .advice(view)
            .or_else(congestion)
            .or_else(|| self.feedback.advice(view))
            .or_else(estimated)
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        for e in &self.estimators {
            e.diagnostics(view, out);
        }
        self.loss.diagnostics(view, out);
        self.cc.diagnostics(view, out);
        self.scheduler.diagnostics(view, out);
        self.feedback.diagnostics(view, out);
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        for e in &self.estimators {
            e.counters(out);
        }
        self.loss.counters(out);
        self.cc.counters(out);
        self.scheduler.counters(out);
        self.feedback.counters(out);
    }
}
