//! A scheme with shadows. Shadows are schemes of the same kind that receive every call of the first scheme, and whose
//! results are discarded. Equal input gives equal output. Each shadow therefore does the work of the first scheme, in
//! the same place and with the same caches. The additional cost of a run with `n` shadows, divided by `n`, is the cost
//! of one scheme.

use std::cell::RefCell;
use std::hint::black_box;

use strandcast_proto::policy::{
    AckDecision, AckInfo, Act, Assignment, Backlog, ChunkInfo, CongestionControl, Estimate, Feedback, Flight,
    Limit, LossCause, LossPolicy, LossTrigger, MissScope, Moves, PathId, PathSet, Policy, Probe, RepairOffer,
    Report, ReportTrigger, Retransmit, RxInfo, Scheduler, Scheme, Signal, SymbolAssignment, View,
};
use strandcast_proto::time::Instant;

#[derive(Debug)]
pub struct Shadowed {
    name: String,
    /// The scheme, followed by its shadows.
    all: RefCell<Vec<Box<dyn Scheme>>>,
    /// Estimates of the shadows, by path. The estimates are written anew each time, as the core does.
    estimates: RefCell<Vec<Estimate>>,
    reports: Vec<Report>,
}

impl Shadowed {
    /// Creates one scheme and `shadows` shadows with the function `build`.
    pub fn boxed(build: impl Fn() -> Box<dyn Scheme>, shadows: usize) -> Box<dyn Scheme> {
        let all: Vec<_> = (0..=shadows).map(|_| build()).collect();
        let estimates = RefCell::new(vec![Estimate::default(); 32]);
        let name = all[0].name().to_owned();
        Box::new(Shadowed { name, all: RefCell::new(all), estimates, reports: Vec::new() })
    }

    /// Returns the answer of the scheme. The shadows of the scheme answer before it.
    fn ask<T>(&self, call: impl Fn(&mut dyn Scheme) -> T) -> T {
        let mut all = self.all.borrow_mut();
        let (scheme, shadows) = all.split_first_mut().expect("the scheme is there");
        for shadow in shadows {
            black_box(call(shadow.as_mut()));
        }
        call(scheme.as_mut())
    }
}

impl Scheme for Shadowed {
    fn name(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.ask(|s| s.observe(view, signal));
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        let (all, mut scratch) = (self.all.borrow(), self.estimates.borrow_mut());
        for shadow in &all[1..] {
            shadow.estimate(path, &mut scratch[path.index()]);
        }
        all[0].estimate(path, out);
    }

    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.ask(|s| s.react(view, signal));
    }

    fn loss(&mut self) -> &mut dyn LossPolicy {
        self
    }

    fn congestion(&self) -> &dyn CongestionControl {
        self
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        self
    }

    fn feedback(&mut self) -> &mut dyn Feedback {
        self
    }
}

impl CongestionControl for Shadowed {
    fn limit(&self, path: PathId) -> Limit {
        self.ask(|s| s.congestion().limit(path))
    }

    fn aggregate(&self) -> Option<u64> {
        self.ask(|s| s.congestion().aggregate())
    }
}

impl LossPolicy for Shadowed {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.ask(|s| s.loss().misses(view, ack, chunk))
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.ask(|s| s.loss().miss_scope(view, ack))
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.ask(|s| s.loss().threshold(path))
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.ask(|s| s.loss().classify(view, chunk, trigger))
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.ask(|s| s.loss().retransmit(view, chunk, cause))
    }
}

impl Scheduler for Shadowed {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.ask(|s| s.scheduler().next(view, backlog))
    }

    fn penalise(&mut self, view: &View<'_>) -> Option<PathId> {
        self.ask(|s| s.scheduler().penalise(view))
    }

    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        self.ask(|s| s.scheduler().next_symbol(view, backlog))
    }

    fn next_repair(&mut self, view: &View<'_>, offer: &RepairOffer) -> Option<PathId> {
        self.ask(|s| s.scheduler().next_repair(view, offer))
    }
}

impl Feedback for Shadowed {
    fn reports(&mut self, view: &View<'_>, trigger: ReportTrigger, out: &mut Vec<Report>) {
        let all = self.all.get_mut();
        for shadow in &mut all[1..] {
            self.reports.clear();
            shadow.feedback().reports(view, trigger, &mut self.reports);
        }
        all[0].feedback().reports(view, trigger, out);
    }

    fn overhead(&self) -> usize {
        self.ask(|s| s.feedback().overhead())
    }

    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> AckDecision {
        self.ask(|s| s.feedback().sack(view, rx))
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        self.ask(|s| s.feedback().probe(view))
    }

    fn return_paths(&mut self, view: &View<'_>) -> PathSet {
        self.ask(|s| s.feedback().return_paths(view))
    }
}

impl Policy for Shadowed {
    fn moves(&self, signal: &Signal<'_>) -> Moves {
        self.ask(|s| s.moves(signal))
    }

    fn hears_deliveries(&self) -> bool {
        self.ask(|s| s.hears_deliveries())
    }

    fn hears_arrivals(&self) -> bool {
        self.ask(|s| s.hears_arrivals())
    }

    fn acts(&self) -> bool {
        self.ask(|s| s.acts())
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        self.ask(|s| s.act(view, flight))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.ask(|s| s.poll_timeout())
    }
}
