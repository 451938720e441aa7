//! A scheme put together from parts, called in a fixed order.

use super::signal::{AckInfo, ChunkInfo, LossCause, LossTrigger, Report, RxInfo, Signal};
use super::traits::{
    Assignment, Backlog, CongestionControl, Feedback, LossPolicy, MissScope, Occasion, PathEstimator, Probe,
    Retransmit, SackRule, Scheduler, Scheme,
};
use super::view::{Estimate, Limit, PathId, View};
use crate::time::Instant;

/// Any estimators, loss policy, congestion control, scheduler and feedback, as one scheme.
#[derive(Debug)]
pub struct Parts {
    /// The preset's name, for people.
    pub name: String,
    /// Several, each with fields of its own.
    pub estimators: Vec<Box<dyn PathEstimator>>,
    /// What is lost and where it goes.
    pub loss: Box<dyn LossPolicy>,
    /// How much may be in flight.
    pub cc: Box<dyn CongestionControl>,
    /// Which path takes new data.
    pub scheduler: Box<dyn Scheduler>,
    /// What the peer is told.
    pub feedback: Box<dyn Feedback>,
}

/// The earlier of two times.
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

    fn limit(&self, path: PathId) -> Limit {
        self.cc.limit(path)
    }

    fn aggregate(&self) -> Option<u64> {
        self.cc.aggregate()
    }

    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.loss.misses(view, ack, chunk)
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.loss.miss_scope(view, ack)
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.loss.threshold(path)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.loss.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.loss.retransmit(view, chunk, cause)
    }

    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.scheduler.next(view, backlog)
    }

    fn reports(&mut self, view: &View<'_>, occasion: Occasion, out: &mut Vec<Report>) {
        self.feedback.reports(view, occasion, out);
    }

    fn overhead(&self) -> usize {
        self.feedback.overhead()
    }

    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> SackRule {
        self.feedback.sack(view, rx)
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        self.feedback.probe(view)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        // Asked with every packet: a chain of iterators costs several times as much.
        let mut first = self.loss.poll_timeout();
        first = earlier(first, self.cc.poll_timeout());
        first = earlier(first, self.scheduler.poll_timeout());
        first = earlier(first, self.feedback.poll_timeout());
        for e in &self.estimators {
            first = earlier(first, e.poll_timeout());
        }
        first
    }

    fn sent_is_local(&self) -> bool {
        self.cc.sent_is_local() && self.estimators.iter().all(|e| e.sent_is_local())
    }

    fn remarks(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        for e in &self.estimators {
            e.remarks(view, out);
        }
        self.loss.remarks(view, out);
        self.cc.remarks(view, out);
        self.scheduler.remarks(view, out);
        self.feedback.remarks(view, out);
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
