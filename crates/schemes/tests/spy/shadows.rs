//! A scheme with shadows: schemes built alike that get every call it gets, and whose answers nobody hears. Same input,
//! same output: each does the work of the first one, in the place where it is done, with the same caches. What a run
//! costs more with `n` of them, divided by `n`, is what a scheme costs.

use std::cell::RefCell;
use std::hint::black_box;

use strandcast_proto::policy::{
    AckInfo, Assignment, Backlog, ChunkInfo, Estimate, Limit, LossCause, LossTrigger, MissScope, Occasion,
    PathId, Probe, Report, Retransmit, RxInfo, SackRule, Scheme, Signal, View,
};
use strandcast_proto::time::Instant;

#[derive(Debug)]
pub struct Shadowed {
    scheme: Box<dyn Scheme>,
    shadows: Vec<Box<dyn Scheme>>,
    /// Where shadows write their estimates, by path: it is filled anew each time, as the core's is.
    estimates: RefCell<Vec<Estimate>>,
    reports: Vec<Report>,
}

impl Shadowed {
    /// One scheme and `shadows` more of `build`'s.
    pub fn boxed(build: impl Fn() -> Box<dyn Scheme>, shadows: usize) -> Box<dyn Scheme> {
        let scheme = build();
        let shadows = (0..shadows).map(|_| build()).collect();
        let estimates = RefCell::new(vec![Estimate::default(); 32]);
        Box::new(Shadowed { scheme, shadows, estimates, reports: Vec::new() })
    }

    fn also<T>(&mut self, call: impl Fn(&mut dyn Scheme) -> T) -> T {
        for shadow in &mut self.shadows {
            black_box(call(shadow.as_mut()));
        }
        call(self.scheme.as_mut())
    }

    fn also_ask<T>(&self, call: impl Fn(&dyn Scheme) -> T) -> T {
        for shadow in &self.shadows {
            black_box(call(shadow.as_ref()));
        }
        call(self.scheme.as_ref())
    }
}

impl Scheme for Shadowed {
    fn name(&self) -> &str {
        self.scheme.name()
    }

    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.also(|s| s.observe(view, signal));
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        let mut scratch = self.estimates.borrow_mut();
        for shadow in &self.shadows {
            shadow.estimate(path, &mut scratch[path.index()]);
        }
        self.scheme.estimate(path, out);
    }

    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.also(|s| s.react(view, signal));
    }

    fn limit(&self, path: PathId) -> Limit {
        self.also_ask(|s| s.limit(path))
    }

    fn aggregate(&self) -> Option<u64> {
        self.also_ask(|s| s.aggregate())
    }

    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.also(|s| s.misses(view, ack, chunk))
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.also_ask(|s| s.miss_scope(view, ack))
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.also_ask(|s| s.threshold(path))
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.also(|s| s.classify(view, chunk, trigger))
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.also(|s| s.retransmit(view, chunk, cause))
    }

    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.also(|s| s.next(view, backlog))
    }

    fn reports(&mut self, view: &View<'_>, occasion: Occasion, out: &mut Vec<Report>) {
        for shadow in &mut self.shadows {
            self.reports.clear();
            shadow.reports(view, occasion, &mut self.reports);
        }
        self.scheme.reports(view, occasion, out);
    }

    fn overhead(&self) -> usize {
        self.also_ask(|s| s.overhead())
    }

    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> SackRule {
        self.also(|s| s.sack(view, rx))
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        self.also(|s| s.probe(view))
    }

    fn sent_is_local(&self) -> bool {
        self.also_ask(|s| s.sent_is_local())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.also_ask(|s| s.poll_timeout())
    }
}
