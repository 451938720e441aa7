//! Drives a scheme: signals, then estimates, then limits, then decisions.

use super::{Assignment, Backlog, ChunkInfo, PathState, PathViews, Scheme, Signal, View};
use crate::time::Instant;

/// A scheme, and whether what was copied of it into the views is fresh.
#[derive(Debug)]
pub(crate) struct Driver {
    scheme: Box<dyn Scheme>,
    aggregate: Option<u64>,
    /// The scheduler held everything back: it is asked again after the next signal.
    held: bool,
    /// Estimates may have moved since they were last copied.
    stale: bool,
}

impl Driver {
    pub fn new(scheme: Box<dyn Scheme>) -> Self {
        Driver { scheme, aggregate: None, held: false, stale: false }
    }

    pub fn scheme(&self) -> &dyn Scheme {
        self.scheme.as_ref()
    }

    /// What the scheme remarks on its state, each sentence once.
    pub fn remarks(&self, views: &PathViews, now: Instant) -> Vec<&'static str> {
        let (mut all, mut said) = (Vec::new(), Vec::new());
        self.scheme.remarks(&views.view(now), &mut all);
        all.retain(|remark| {
            let new = !said.contains(remark);
            said.push(*remark);
            new
        });
        all
    }

    /// The scheme's own counters, in its order.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        self.scheme.counters(&mut all);
        all
    }

    /// What may be in flight over all paths, bytes.
    pub fn aggregate(&self) -> Option<u64> {
        self.aggregate
    }

    /// Whether what is in flight fills the aggregate.
    pub fn aggregate_full(&self, views: &PathViews) -> bool {
        self.aggregate.is_some_and(|most| views.in_flight() >= most)
    }

    /// Whether the scheduler held everything back since the last signal.
    pub fn held(&self) -> bool {
        self.held
    }

    /// Until the next signal, or until it is woken, the scheduler is not asked.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Something happened that is no signal: the scheduler is asked again.
    pub fn wake(&mut self) {
        self.held = false;
    }

    /// Tells the scheme; estimates and limits are fresh afterwards.
    pub fn signal(&mut self, views: &mut PathViews, now: Instant, signal: &Signal<'_>) {
        self.scheme.observe(&views.view(now), signal);
        self.refresh_estimates(views);
        self.scheme.react(&views.view(now), signal);
        self.refresh_limits(views);
        self.held = false;
    }

    /// [`Signal::Sent`], the one signal per packet that moves no limit: estimates are copied when next needed.
    pub fn sent(&mut self, views: &PathViews, now: Instant, chunk: &ChunkInfo) {
        let (view, signal) = (views.view(now), Signal::Sent(chunk));
        self.scheme.observe(&view, &signal);
        self.scheme.react(&view, &signal);
        self.stale = true;
    }

    fn refresh_estimates(&mut self, views: &mut PathViews) {
        self.stale = false;
        for v in views.paths_mut().iter_mut().filter(|v| v.state != PathState::Closed) {
            self.scheme.estimate(v.id, &mut v.est);
        }
    }

    fn refresh_limits(&mut self, views: &mut PathViews) {
        for v in views.paths_mut().iter_mut().filter(|v| v.state != PathState::Closed) {
            v.limit = self.scheme.limit(v.id);
            v.limit.cwnd = v.limit.cwnd.max(v.mtu);
        }
        self.aggregate = self.scheme.aggregate();
    }

    /// Asks for a decision for which estimates need not be fresher than the last signal.
    pub fn ask<T>(
        &mut self,
        views: &PathViews,
        now: Instant,
        question: impl FnOnce(&mut dyn Scheme, &View<'_>) -> T,
    ) -> T {
        question(self.scheme.as_mut(), &views.view(now))
    }

    /// Where the next chunk goes; if the scheduler holds everything back, it is not asked again before the next signal.
    pub fn next(&mut self, views: &mut PathViews, now: Instant, backlog: &Backlog) -> Option<Assignment> {
        if self.stale {
            self.refresh_estimates(views);
            self.refresh_limits(views);
        }
        let assignment = self.scheme.next(&views.view(now), backlog);
        self.held |= assignment.is_none();
        assignment
    }
}
