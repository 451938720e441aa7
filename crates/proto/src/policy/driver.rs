//! Driver of a scheme: it makes the core's calls of the scheme. A driver makes these calls in the order: signals,
//! estimates, limits, decisions.

use super::{
    Act, Advice, Assignment, Backlog, ChunkInfo, Flight, Moves, PathId, PathSet, PathState, PathViews,
    RepairOffer, Scheme, Signal, SymbolAssignment, View,
};
use crate::time::Instant;

/// A scheme, and the state of the copies of the scheme's results in the views.
#[derive(Debug)]
pub struct Driver {
    scheme: Box<dyn Scheme>,
    hears_deliveries: bool,
    hears_arrivals: bool,
    acts: bool,
    /// True if an event has occurred since the core last asked the scheme for actions.
    act_due: bool,
    /// True if an event other than arrivals has occurred since the core last asked the scheme for return paths.
    return_paths_due: bool,
    aggregate: Option<u64>,
    /// True if the scheduler assigned no data although data wait. The scheduler is asked again after the next signal.
    held: bool,
    /// Paths whose estimates and limits may have changed since they were last copied to the views.
    stale: PathSet,
    /// Number of path slots that the scheme was notified of.
    slots: usize,
}

impl Driver {
    /// Creates the driver of a scheme that has not yet received a signal.
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

    /// Returns the scheme.
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

    /// Returns the scheme's diagnostics, each sentence once.
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

    /// Returns the scheme's own counters, in the scheme's order.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        self.scheme.counters(&mut all);
        all
    }

    /// Returns the scheme's advice to an encoder.
    pub fn advice(&self, views: &PathViews, now: Instant) -> Option<Advice> {
        self.scheme.advice(&views.view(now))
    }

    /// Returns the scheme's limit of bytes in flight over all paths.
    pub fn aggregate(&self) -> Option<u64> {
        self.aggregate
    }

    /// Returns whether the data in flight reach the scheme's limit over all paths.
    pub fn aggregate_full(&self, views: &PathViews) -> bool {
        self.aggregate.is_some_and(|most| views.in_flight() >= most)
    }

    /// Returns whether the scheduler has assigned no data since the last signal.
    pub fn held(&self) -> bool {
        self.held
    }

    /// Returns the number of misses after which a transmission on `path` counts as lost.
    pub fn threshold(&mut self, path: PathId) -> u8 {
        self.scheme.loss().threshold(path).max(1)
    }

    /// Returns the bytes that each DATA packet must reserve for the scheme's reports.
    pub fn overhead(&mut self) -> usize {
        self.scheme.feedback().overhead()
    }

    /// Returns whether to ask the scheme for actions: it acts, and an event has occurred since the last question.
    #[inline]
    pub fn act_due(&self) -> bool {
        self.act_due
    }

    /// Returns whether to ask the scheme for its return paths. The scheme is asked for its return paths once after each
    /// event other than arrivals.
    pub fn take_return_paths_due(&mut self) -> bool {
        core::mem::take(&mut self.return_paths_due)
    }

    /// Postpones the question for return paths until the next input, because their report cannot be sent yet.
    pub fn put_off_return_paths(&mut self) {
        self.return_paths_due = true;
    }

    /// Returns the next action of the scheme.
    pub fn act(&mut self, views: &mut PathViews, now: Instant, flight: &Flight<'_>) -> Option<Act> {
        self.freshen(views);
        self.scheme.act(&views.view(now), flight)
    }

    /// Records that the scheme was asked for actions. The scheme is asked again after the next signal.
    pub fn acted(&mut self) {
        self.act_due = false;
    }

    /// Prevents calls of the scheduler until the next signal, or until a call of `wake`.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Permits calls of the scheduler again after an event that is not a signal.
    pub fn wake(&mut self) {
        self.held = false;
    }

    /// Passes a signal to the scheme. The call also refreshes the estimates and limits in the views.
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

    /// Returns the paths whose estimates and limits must be copied after `signal`. The result includes paths of earlier
    /// signals that were not copied yet.
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

    /// Passes the signal [`Signal::Sent`] to the scheme. After this signal only [`Driver::next`] asks for a decision.
    /// Estimates and limits are copied when they are next needed. If no other path is affected, only those of the
    /// chunk's path are copied.
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

    /// Asks the scheme for a decision. The scheme's estimates may be as old as the last signal.
    pub fn ask<T>(
        &mut self,
        views: &PathViews,
        now: Instant,
        question: impl FnOnce(&mut dyn Scheme, &View<'_>) -> T,
    ) -> T {
        question(self.scheme.as_mut(), &views.view(now))
    }

    /// Returns the scheduler's assignment for the next chunk. If the scheduler assigns no data, it is not asked again
    /// before the next signal.
    pub fn next(&mut self, views: &mut PathViews, now: Instant, backlog: &Backlog) -> Option<Assignment> {
        self.freshen(views);
        let assignment = self.scheme.scheduler().next(&views.view(now), backlog);
        self.held |= assignment.is_none();
        assignment
    }

    /// Returns the next symbol and its path. The rules for the next symbol are those of [`Driver::next`].
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

    /// Returns the path of the repair symbol that is due; `None` if the symbol must not be sent now.
    pub fn next_repair(
        &mut self,
        views: &mut PathViews,
        now: Instant,
        offer: &RepairOffer,
    ) -> Option<PathId> {
        self.freshen(views);
        self.scheme.scheduler().next_repair(&views.view(now), offer)
    }

    /// Copies the results that are out of date after [`Driver::sent`].
    #[inline]
    fn freshen(&mut self, views: &mut PathViews) {
        let stale = core::mem::take(&mut self.stale);
        if !stale.is_empty() {
            self.refresh_estimates(views, stale);
            self.refresh_limits(views, stale);
        }
    }
}
