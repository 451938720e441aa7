//! The scheme and the picture of the paths it sees, kept together so that a signal needs nothing else.

use crate::policy::{
    AckInfo, Assignment, Backlog, Blocked, ChunkInfo, LossCause, LossTrigger, MissScope, Occasion, PathId,
    PathSet, PathState, PathView, Probe, Report, Retransmit, RxInfo, SackRule, Scheme, Signal, View,
};
use crate::time::Instant;

#[derive(Debug)]
pub(super) struct Mind {
    pub scheme: Box<dyn Scheme>,
    pub views: Vec<PathView>,
    /// The peer's last a_rwnd, bytes.
    pub a_rwnd: u64,
    /// Book bytes in flight on all paths.
    pub in_flight: u64,
    pub aggregate: Option<u64>,
    pub last_path_used: Option<PathId>,
    pub primary: PathId,
    pub peer_reports: bool,
    pub blocked: Option<Blocked>,
    /// The scheduler held everything back; ask again after the next signal.
    pub held: bool,
    /// Estimates may have moved since they were last copied.
    stale: bool,
}

impl Mind {
    pub fn new(scheme: Box<dyn Scheme>) -> Self {
        Mind {
            scheme,
            views: Vec::new(),
            a_rwnd: 0,
            in_flight: 0,
            aggregate: None,
            last_path_used: None,
            primary: PathId(0),
            peer_reports: false,
            blocked: None,
            held: false,
            stale: false,
        }
    }

    /// What the peer's window still admits.
    pub fn rwnd(&self) -> u64 {
        self.a_rwnd.saturating_sub(self.in_flight)
    }

    /// The policies' view, and the scheme beside it.
    fn split(&mut self, now: Instant) -> (View<'_>, &mut dyn Scheme) {
        let view = View {
            now,
            paths: &self.views,
            rwnd: self.a_rwnd.saturating_sub(self.in_flight),
            in_flight: self.in_flight,
            last_path_used: self.last_path_used,
            primary: self.primary,
            peer_reports: self.peer_reports,
            blocked: self.blocked,
        };
        (view, self.scheme.as_mut())
    }

    pub fn view(&self, now: Instant) -> View<'_> {
        View {
            now,
            paths: &self.views,
            rwnd: self.rwnd(),
            in_flight: self.in_flight,
            last_path_used: self.last_path_used,
            primary: self.primary,
            peer_reports: self.peer_reports,
            blocked: self.blocked,
        }
    }

    /// Tells the scheme; estimates and limits are fresh afterwards.
    pub fn signal(&mut self, now: Instant, signal: &Signal<'_>) {
        let (view, scheme) = self.split(now);
        scheme.observe(&view, signal);
        self.refresh_estimates();
        let (view, scheme) = self.split(now);
        scheme.react(&view, signal);
        self.refresh_limits();
        self.held = false;
    }

    /// [`Signal::Sent`], the one signal a packet that moves no limit: estimates are copied when next needed.
    pub fn sent(&mut self, now: Instant, chunk: &ChunkInfo) {
        let (view, scheme) = self.split(now);
        let signal = Signal::Sent(chunk);
        scheme.observe(&view, &signal);
        scheme.react(&view, &signal);
        self.stale = true;
    }

    fn refresh_estimates(&mut self) {
        self.stale = false;
        for v in self.views.iter_mut().filter(|v| v.state != PathState::Closed) {
            self.scheme.estimate(v.id, &mut v.est);
        }
    }

    fn refresh_limits(&mut self) {
        for v in self.views.iter_mut().filter(|v| v.state != PathState::Closed) {
            v.limit = self.scheme.limit(v.id);
            v.limit.cwnd = v.limit.cwnd.max(v.mtu);
        }
        self.aggregate = self.scheme.aggregate();
    }

    pub fn miss_scope(&mut self, now: Instant, ack: &AckInfo) -> MissScope {
        let (view, scheme) = self.split(now);
        scheme.miss_scope(&view, ack)
    }

    pub fn misses(&mut self, now: Instant, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        let (view, scheme) = self.split(now);
        scheme.misses(&view, ack, chunk)
    }

    pub fn classify(&mut self, now: Instant, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        let (view, scheme) = self.split(now);
        scheme.classify(&view, chunk, trigger)
    }

    pub fn retransmit(&mut self, now: Instant, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        let (view, scheme) = self.split(now);
        scheme.retransmit(&view, chunk, cause)
    }

    pub fn next(&mut self, now: Instant, backlog: &Backlog) -> Option<Assignment> {
        if self.stale {
            self.refresh_estimates();
            self.refresh_limits();
        }
        let (view, scheme) = self.split(now);
        scheme.next(&view, backlog)
    }

    pub fn reports(&mut self, now: Instant, occasion: Occasion, out: &mut Vec<Report>) {
        let (view, scheme) = self.split(now);
        scheme.reports(&view, occasion, out);
    }

    pub fn sack(&mut self, now: Instant, rx: &RxInfo) -> SackRule {
        let (view, scheme) = self.split(now);
        scheme.sack(&view, rx)
    }

    pub fn probe(&mut self, now: Instant) -> Option<Probe> {
        let (view, scheme) = self.split(now);
        scheme.probe(&view)
    }

    /// Book bytes enter the flight of `path`.
    pub fn entered_flight(&mut self, path: PathId, len: u64) {
        let view = &mut self.views[path.index()];
        view.in_flight += len;
        view.in_flight_chunks += 1;
        self.in_flight += len;
    }

    /// Book bytes leave the flight of `path`, unacknowledged.
    pub fn left_flight(&mut self, path: PathId, len: u64) {
        let view = &mut self.views[path.index()];
        view.in_flight -= len;
        view.in_flight_chunks -= 1;
        self.in_flight -= len;
    }

    pub fn usable(&self) -> PathSet {
        self.view(Instant::ZERO).usable()
    }

    /// The best path for control chunks: the primary if usable and without errors, else the usable one with the
    /// fewest.
    pub fn control_path(&self) -> PathId {
        self.control_path_in_turn(0)
    }

    /// The path of try `tries` (from 0) of something that is repeated until answered: the best first, then the others.
    pub fn control_path_in_turn(&self, tries: u32) -> PathId {
        let usable = self.usable();
        let rank = |p: &PathId| (self.views[p.index()].error_count, *p != self.primary, *p);
        let best = usable.iter().min_by_key(rank);
        let others = usable.iter().filter(|p| Some(*p) != best);
        let nth = tries as usize % usable.len().max(1);
        best.into_iter().chain(others).nth(nth).unwrap_or(self.primary)
    }
}
