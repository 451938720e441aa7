//! Drives a scheme: signals, then estimates, then limits, then decisions.

use super::{
    Act, Advice, Assignment, Backlog, ChunkInfo, Flight, Moves, PathId, PathSet, PathState, PathView,
    PathViews, RepairOffer, Scheme, Signal, SymbolAssignment, View,
};
use crate::time::Instant;

/// A scheme, and whether what was copied of it into the views is fresh.
#[derive(Debug)]
pub struct Driver {
    scheme: Box<dyn Scheme>,
    hears_deliveries: bool,
    hears_arrivals: bool,
    acts: bool,
    /// Something happened since the scheme was asked what it does.
    act_due: bool,
    /// Something other than arrivals happened since the scheme was asked for its return paths.
    return_paths_due: bool,
    aggregate: Option<u64>,
    /// The scheduler held everything back: it is asked again after the next signal.
    held: bool,
    /// Paths whose estimates and limits may have moved since they were last copied.
    stale: PathSet,
    /// Path slots that the scheme has seen.
    slots: usize,
}

impl Driver {
    /// A driver of a scheme that has seen nothing yet.
    pub fn new(scheme: Box<dyn Scheme>) -> Self {
        Driver {
            hears_deliveries: scheme.hears_deliveries(),
            hears_arrivals: scheme.hears_arrivals(),
            acts: scheme.acts(),
            act_due: false,
            return_paths_due: true,
            scheme,
            aggregate: None,
            held: false,
            stale: PathSet::default(),
            slots: 0,
        }
    }

    /// The scheme itself.
    pub fn scheme(&self) -> &dyn Scheme {
        self.scheme.as_ref()
    }

    /// Whether the scheme wants [`Signal::Delivered`].
    pub fn hears_deliveries(&self) -> bool {
        self.hears_deliveries
    }

    /// Whether the scheme wants [`Signal::PeerArrivals`].
    pub fn hears_arrivals(&self) -> bool {
        self.hears_arrivals
    }

    /// The scheme's diagnostics of its state, each sentence once.
    pub fn diagnostics(&self, views: &PathViews, now: Instant) -> Vec<&'static str> {
        let (mut all, mut said) = (Vec::new(), Vec::new());
        self.scheme.diagnostics(&views.view(now), &mut all);
        all.retain(|diagnostic| {
            let new = !said.contains(diagnostic);
            said.push(*diagnostic);
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

    /// What the scheme advises.
    pub fn advice(&self, views: &PathViews, now: Instant) -> Option<Advice> {
        self.scheme.advice(&views.view(now))
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

    /// Misses after which a transmission on `path` is lost.
    pub fn threshold(&mut self, path: PathId) -> u8 {
        self.scheme.loss().threshold(path).max(1)
    }

    /// Bytes reserved in each DATA packet for reports.
    pub fn overhead(&mut self) -> usize {
        self.scheme.feedback().overhead()
    }

    /// Whether the scheme acts, and something happened since it was asked to.
    #[inline]
    pub fn act_due(&self) -> bool {
        self.act_due
    }

    /// Whether the scheme is to be asked for its return paths: once after something other than arrivals happened.
    pub fn take_return_paths_due(&mut self) -> bool {
        core::mem::take(&mut self.return_paths_due)
    }

    /// A report of them may not leave yet: the scheme is asked again after the next input.
    pub fn put_off_return_paths(&mut self) {
        self.return_paths_due = true;
    }

    /// The next thing that the scheme does of its own accord.
    pub fn act(&mut self, views: &mut PathViews, now: Instant, flight: &Flight<'_>) -> Option<Act> {
        self.freshen(views);
        self.scheme.act(&views.view(now), flight)
    }

    /// The scheme was asked: it is asked again after the next signal.
    pub fn acted(&mut self) {
        self.act_due = false;
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
        let of = self.concerned(views, signal);
        self.scheme.observe(&views.view(now), signal);
        self.refresh_estimates(views, of);
        self.scheme.react(&views.view(now), signal);
        self.refresh_limits(views, of);
        (self.stale, self.slots) = (PathSet::default(), views.paths().len());
        self.held = false;
        self.act_due = self.acts;
        self.return_paths_due |= !matches!(signal, Signal::Arrived(_));
    }

    /// The paths whose estimates and limits have to be copied after `signal`, what earlier ones left included.
    fn concerned(&self, views: &PathViews, signal: &Signal<'_>) -> PathSet {
        let path = match signal {
            Signal::Acked(ack) => ack.path,
            Signal::Arrived(info) => info.path,
            _ => return PathSet::ALL,
        };
        if self.slots != views.paths().len() {
            return PathSet::ALL;
        }
        let mut of = self.stale;
        match self.scheme.moves(signal) {
            Moves::Nothing => {}
            Moves::Own => of.insert(path),
            Moves::All => return PathSet::ALL,
        }
        of
    }

    /// [`Signal::Sent`], for which nothing is decided but by [`Driver::next`]: estimates and limits are copied when next needed,
    /// of the chunk's path alone if the scheme says that no other path is concerned.
    #[inline]
    pub fn sent(&mut self, views: &PathViews, now: Instant, chunk: &ChunkInfo) {
        let (view, signal) = (views.view(now), Signal::Sent(chunk));
        self.scheme.observe(&view, &signal);
        self.scheme.react(&view, &signal);
        let (path, slots) = (chunk.path(), view.paths.len());
        if self.slots != slots || path.index() >= slots {
            self.stale = PathSet::ALL;
            return;
        }
        match self.scheme.moves(&signal) {
            Moves::Nothing => {}
            Moves::Own => self.stale.insert(path),
            Moves::All => self.stale = PathSet::ALL,
        }
    }

    fn refresh_estimates(&mut self, views: &mut PathViews, of: PathSet) {
        if of.is_empty() {
            return;
        }
        let open = |v: &&mut PathView| of.contains(v.id) && v.state != PathState::Closed;
        for v in views.paths_mut().iter_mut().filter(open) {
            self.scheme.estimate(v.id, &mut v.est);
        }
    }

    fn refresh_limits(&mut self, views: &mut PathViews, of: PathSet) {
        if of.is_empty() {
            return;
        }
        let open = |v: &&mut PathView| of.contains(v.id) && v.state != PathState::Closed;
        let cc = self.scheme.congestion();
        for v in views.paths_mut().iter_mut().filter(open) {
            v.limit = cc.limit(v.id);
            v.limit.cwnd = v.limit.cwnd.max(v.mtu);
        }
        self.aggregate = cc.aggregate();
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
        self.freshen(views);
        let assignment = self.scheme.scheduler().next(&views.view(now), backlog);
        self.held |= assignment.is_none();
        assignment
    }

    /// The next symbol and its path, as [`Driver::next`].
    pub fn next_symbol(
        &mut self,
        views: &mut PathViews,
        now: Instant,
        backlog: &Backlog,
    ) -> Option<SymbolAssignment> {
        self.freshen(views);
        let assignment = self.scheme.scheduler().next_symbol(&views.view(now), backlog);
        self.held |= assignment.is_none();
        assignment
    }

    /// Where the repair symbol that is due goes; `None`: not now.
    pub fn next_repair(
        &mut self,
        views: &mut PathViews,
        now: Instant,
        offer: &RepairOffer,
    ) -> Option<PathId> {
        self.freshen(views);
        self.scheme.scheduler().next_repair(&views.view(now), offer)
    }

    /// What [`Driver::sent`] left to be copied.
    #[inline]
    fn freshen(&mut self, views: &mut PathViews) {
        let stale = core::mem::take(&mut self.stale);
        if !stale.is_empty() {
            self.refresh_estimates(views, stale);
            self.refresh_limits(views, stale);
        }
    }
}
