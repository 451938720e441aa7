//! Driver of a scheme. It calls the scheme in this order: signals, estimates, limits, decisions.

use super::{
    Act, Advice, Assignment, Backlog, ChunkInfo, Flight, Moves, PathId, PathSet, PathState, PathViews,
    RepairOffer, Scheme, Signal, SymbolAssignment, View,
};
use crate::time::Instant;

/// Scheme, and state of the copies of its results in the views.
#[derive(Debug)]
pub struct Driver {
    scheme: Box<dyn Scheme>,
    hears_deliveries: bool,
    hears_arrivals: bool,
    acts: bool,
    /// True if an event has occurred since the scheme was last asked for actions.
    act_due: bool,
    /// True if an event other than arrivals has occurred since the scheme was last asked for its return paths.
    return_paths_due: bool,
    aggregate: Option<u64>,
    /// True if the scheduler held all data back. It is asked again after the next signal.
    held: bool,
    /// Paths whose estimates and limits may have changed since they were last copied.
    stale: PathSet,
    /// Number of path slots that the scheme has seen.
    slots: usize,
}

impl Driver {
    /// Makes the driver of a scheme that has not yet received a signal.
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

    /// Returns whether the scheme needs [`Signal::Delivered`].
    pub fn hears_deliveries(&self) -> bool {
        self.hears_deliveries
    }

    /// Returns whether the scheme needs [`Signal::PeerArrivals`].
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

    /// Advice of the scheme.
    pub fn advice(&self, views: &PathViews, now: Instant) -> Option<Advice> {
        self.scheme.advice(&views.view(now))
    }

    /// Maximum bytes in flight over all paths.
    pub fn aggregate(&self) -> Option<u64> {
        self.aggregate
    }

    /// Returns whether the data in flight fill the aggregate.
    pub fn aggregate_full(&self, views: &PathViews) -> bool {
        self.aggregate.is_some_and(|most| views.in_flight() >= most)
    }

    /// Returns whether the scheduler has held all data back since the last signal.
    pub fn held(&self) -> bool {
        self.held
    }

    /// Number of misses after which a transmission on `path` is lost.
    pub fn threshold(&mut self, path: PathId) -> u8 {
        self.scheme.loss().threshold(path).max(1)
    }

    /// Bytes reserved in each DATA packet for reports.
    pub fn overhead(&mut self) -> usize {
        self.scheme.feedback().overhead()
    }

    /// Returns whether the scheme acts, and an event has occurred since it was last asked.
    #[inline]
    pub fn act_due(&self) -> bool {
        self.act_due
    }

    /// Returns whether the scheme is to be asked for its return paths: once after an event other than arrivals.
    pub fn take_return_paths_due(&mut self) -> bool {
        core::mem::take(&mut self.return_paths_due)
    }

    /// Delays the question for return paths until the next input, because a report of them may not leave yet.
    pub fn put_off_return_paths(&mut self) {
        self.return_paths_due = true;
    }

    /// Returns the next action of the scheme.
    pub fn act(&mut self, views: &mut PathViews, now: Instant, flight: &Flight<'_>) -> Option<Act> {
        self.freshen(views);
        self.scheme.act(&views.view(now), flight)
    }

    /// Records that the scheme was asked. It is asked again after the next signal.
    pub fn acted(&mut self) {
        self.act_due = false;
    }

    /// Stops calls of the scheduler until the next signal, or until `wake`.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Permits calls of the scheduler again after an event that is not a signal.
    pub fn wake(&mut self) {
        self.held = false;
    }

    /// Passes a signal to the scheme, and refreshes estimates and limits.
    pub fn signal(&mut self, views: &mut PathViews, now: Instant, signal: &Signal<'_>) {
        self.scheme.observe(&views.view(now), signal);
        let of = self.concerned(views, signal);
        self.refresh_estimates(views, of);
        self.scheme.react(&views.view(now), signal);
        self.refresh_limits(views, of);
        (self.stale, self.slots) = (PathSet::default(), views.paths().len());
        self.held = false;
        self.act_due = self.acts;
        self.return_paths_due |= !matches!(signal, Signal::Arrived(_));
    }

    /// Returns the paths whose estimates and limits have to be copied after `signal`, including those of earlier
    /// signals.
    fn concerned(&self, views: &PathViews, signal: &Signal<'_>) -> PathSet {
        let path = match signal {
            Signal::Acked(ack) => Some(ack.path),
            Signal::Arrived(info) => Some(info.path),
            Signal::PeerArrivals(_) => None,
            _ => return PathSet::ALL,
        };
        if self.slots != views.paths().len() {
            return PathSet::ALL;
        }
        let mut of = self.stale;
        match (self.scheme.moves(signal), path) {
            (Moves::Nothing, _) => {}
            (Moves::Own, Some(path)) => of.insert(path),
            (Moves::Own, None) | (Moves::All, _) => return PathSet::ALL,
        }
        of
    }

    /// Passes [`Signal::Sent`], after which only [`Driver::next`] decides something. Estimates and limits are copied
    /// when they are next needed, for the chunk's path alone if no other path is affected.
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
        for path in of.up_to(views.paths().len()) {
            let v = &mut views.paths_mut()[path.index()];
            if v.state != PathState::Closed {
                self.scheme.estimate(path, &mut v.est);
            }
        }
    }

    fn refresh_limits(&mut self, views: &mut PathViews, of: PathSet) {
        if of.is_empty() {
            return;
        }
        let cc = self.scheme.congestion();
        for path in of.up_to(views.paths().len()) {
            let v = &mut views.paths_mut()[path.index()];
            if v.state != PathState::Closed {
                v.limit = cc.limit(path);
                v.limit.cwnd = v.limit.cwnd.max(v.mtu);
            }
        }
        self.aggregate = cc.aggregate();
    }

    /// Asks for a decision for which estimates need not be newer than the last signal.
    pub fn ask<T>(
        &mut self,
        views: &PathViews,
        now: Instant,
        question: impl FnOnce(&mut dyn Scheme, &View<'_>) -> T,
    ) -> T {
        question(self.scheme.as_mut(), &views.view(now))
    }

    /// Returns the path of the next chunk. If the scheduler holds all data back, it is not asked again before the next
    /// signal.
    pub fn next(&mut self, views: &mut PathViews, now: Instant, backlog: &Backlog) -> Option<Assignment> {
        self.freshen(views);
        let assignment = self.scheme.scheduler().next(&views.view(now), backlog);
        self.held |= assignment.is_none();
        assignment
    }

    /// Returns the next symbol and its path, as [`Driver::next`] does.
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

    /// Returns the path of the due repair symbol; `None` if it is not to leave now.
    pub fn next_repair(
        &mut self,
        views: &mut PathViews,
        now: Instant,
        offer: &RepairOffer,
    ) -> Option<PathId> {
        self.freshen(views);
        self.scheme.scheduler().next_repair(&views.view(now), offer)
    }

    /// Copies the results that [`Driver::sent`] left stale.
    #[inline]
    fn freshen(&mut self, views: &mut PathViews) {
        let stale = core::mem::take(&mut self.stale);
        if !stale.is_empty() {
            self.refresh_estimates(views, stale);
            self.refresh_limits(views, stale);
        }
    }
}
