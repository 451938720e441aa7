//! A scheme that passes every call on to another scheme. The scheme has another name, and counts the reports.

pub mod shadows;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strandcast_proto::policy::{
    AckDecision, Act, CongestionControl, Estimate, Feedback, Flight, LossPolicy, Moves, PathId, PathSet,
    Policy, Probe, Report, ReportTrigger, RxInfo, Scheduler, Scheme, Signal, View,
};
use strandcast_proto::time::Instant;

/// Counter of reports. Copies of this value share one counter.
#[derive(Clone, Default, Debug)]
pub struct Tally(Arc<AtomicU64>);

impl Tally {
    /// Returns the number of reports.
    pub fn reports(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A scheme that passes every call on to another one.
#[derive(Debug)]
pub struct RecordingScheme {
    scheme: Box<dyn Scheme>,
    tally: Tally,
    overhead: usize,
}

impl RecordingScheme {
    pub fn boxed(mut scheme: Box<dyn Scheme>, tally: Tally) -> Box<dyn Scheme> {
        let overhead = scheme.feedback().overhead();
        Box::new(RecordingScheme { scheme, tally, overhead })
    }
}

impl Scheme for RecordingScheme {
    fn name(&self) -> &str {
        "recording"
    }

    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.scheme.observe(view, signal);
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        self.scheme.estimate(path, out);
    }

    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.scheme.react(view, signal);
    }

    fn loss(&mut self) -> &mut dyn LossPolicy {
        self.scheme.loss()
    }

    fn congestion(&self) -> &dyn CongestionControl {
        self.scheme.congestion()
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        self.scheme.scheduler()
    }

    fn feedback(&mut self) -> &mut dyn Feedback {
        self
    }
}

impl Feedback for RecordingScheme {
    fn reports(&mut self, view: &View<'_>, trigger: ReportTrigger, out: &mut Vec<Report>) {
        let before = out.len();
        self.scheme.feedback().reports(view, trigger, out);
        self.tally.0.fetch_add((out.len() - before) as u64, Ordering::Relaxed);
    }

    fn overhead(&self) -> usize {
        self.overhead
    }

    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> AckDecision {
        self.scheme.feedback().sack(view, rx)
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        self.scheme.feedback().probe(view)
    }

    fn return_paths(&mut self, view: &View<'_>) -> PathSet {
        self.scheme.feedback().return_paths(view)
    }
}

impl Policy for RecordingScheme {
    fn poll_timeout(&self) -> Option<Instant> {
        self.scheme.poll_timeout()
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        self.scheme.diagnostics(view, out);
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        self.scheme.counters(out);
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        self.scheme.moves(signal)
    }

    fn hears_deliveries(&self) -> bool {
        self.scheme.hears_deliveries()
    }

    fn hears_arrivals(&self) -> bool {
        self.scheme.hears_arrivals()
    }

    fn acts(&self) -> bool {
        self.scheme.acts()
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        self.scheme.act(view, flight)
    }
}
