//! A scheme that passes everything on, under another name, and counts what is reported.

#![allow(dead_code, reason = "each test uses its part of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strandcast_proto::policy::{
    AckInfo, Assignment, Backlog, ChunkInfo, Estimate, Limit, LossCause, LossTrigger, Occasion, PathId,
    Probe, Report, Retransmit, RxInfo, SackRule, Scheme, Signal, View,
};
use strandcast_proto::time::Instant;

/// What a spy has seen; its copies share one count.
#[derive(Clone, Default, Debug)]
pub struct Tally(Arc<AtomicU64>);

impl Tally {
    /// Reports made.
    pub fn reports(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The scheme in disguise.
#[derive(Debug)]
pub struct Spy {
    scheme: Box<dyn Scheme>,
    tally: Tally,
}

impl Spy {
    pub fn boxed(scheme: Box<dyn Scheme>, tally: Tally) -> Box<dyn Scheme> {
        Box::new(Spy { scheme, tally })
    }
}

impl Scheme for Spy {
    fn name(&self) -> &str {
        "spy"
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

    fn limit(&self, path: PathId) -> Limit {
        self.scheme.limit(path)
    }

    fn aggregate(&self) -> Option<u64> {
        self.scheme.aggregate()
    }

    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.scheme.misses(view, ack, chunk)
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.scheme.threshold(path)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.scheme.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.scheme.retransmit(view, chunk, cause)
    }

    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.scheme.next(view, backlog)
    }

    fn reports(&mut self, view: &View<'_>, occasion: Occasion, out: &mut Vec<Report>) {
        let before = out.len();
        self.scheme.reports(view, occasion, out);
        self.tally.0.fetch_add((out.len() - before) as u64, Ordering::Relaxed);
    }

    fn overhead(&self) -> usize {
        self.scheme.overhead()
    }

    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> SackRule {
        self.scheme.sack(view, rx)
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        self.scheme.probe(view)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.scheme.poll_timeout()
    }

    fn remarks(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        self.scheme.remarks(view, out);
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        self.scheme.counters(out);
    }
}
