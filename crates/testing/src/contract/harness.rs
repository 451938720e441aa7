//! A scheme, and the view that it receives. Every answer of the scheme is checked and recorded.

use strandcast_proto::policy::fixture;
use strandcast_proto::policy::{
    AckDecision, AckInfo, Act, Assignment, Backlog, ChunkInfo, Driver, Estimate, Limit, LossCause,
    LossTrigger, MissScope, Moves, PathId, PathState, PathView, PathViews, RepairOffer, Report,
    ReportTrigger, Retransmit, RxInfo, Scheme, Signal, SymbolAssignment, SymbolChoice, View,
};
use strandcast_proto::time::Instant;

/// Bytes of the header of a REPORT chunk, of the header of an item, and of the serial of a reliable item
/// (docs/wire-format.md).
const REPORT_HEADERS: (usize, usize, usize) = (4, 8, 4);

/// Estimates and windows of open paths, and the limit over all paths.
type Shown = (Vec<(PathId, Estimate, Limit)>, Option<u64>);

/// One side of the toy association. The side has the driver and the views of an association, and checks every answer.
#[derive(Debug)]
pub(super) struct SchemeHarness {
    pub driver: Driver,
    pub views: PathViews,
    /// Hash over all decisions so far.
    pub trace: u64,
}

impl SchemeHarness {
    pub fn new(scheme: Box<dyn Scheme>) -> Self {
        let mut views = PathViews::default();
        views.set_a_rwnd(64_000);
        views.set_peer_reports(true);
        SchemeHarness { driver: Driver::new(scheme), views, trace: 0xcbf2_9ce4_8422_2325 }
    }

    /// Adds a decision to the hash (FNV-1a).
    fn note(&mut self, decision: &dyn core::fmt::Debug) {
        for b in format!("{decision:?}").bytes() {
            self.trace = (self.trace ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn ask<T: core::fmt::Debug>(
        &mut self,
        now: Instant,
        question: impl FnOnce(&mut dyn Scheme, &View<'_>) -> T,
    ) -> T {
        let answer = self.driver.ask(&self.views, now, question);
        self.note(&answer);
        answer
    }

    pub fn view(&self, path: PathId) -> &PathView {
        &self.views.paths()[path.index()]
    }

    pub fn view_mut(&mut self, path: PathId) -> &mut PathView {
        &mut self.views.paths_mut()[path.index()]
    }

    pub fn is_open(&self, path: PathId) -> bool {
        self.views.paths().get(path.index()).is_some_and(|p| p.state != PathState::Closed)
    }

    pub fn signal(&mut self, now: Instant, signal: &Signal<'_>) {
        let (moves, of) = match signal {
            Signal::Acked(ack) => (true, Some(ack.path)),
            Signal::Arrived(info) => (true, Some(info.path)),
            Signal::PeerArrivals(_) => (true, None),
            _ => (false, None),
        };
        let before = moves.then(|| self.shown());
        self.driver.signal(&mut self.views, now, signal);
        let kept = before.is_none_or(|before| self.keeps(before, self.driver.scheme().moves(signal), of));
        assert!(kept, "{signal:?} moved another path, against `moves`");
        self.check_open_paths();
    }

    fn check_open_paths(&mut self) {
        for i in 0..self.views.paths().len() {
            if self.views.paths()[i].state != PathState::Closed {
                self.check_estimate(i);
                self.check_limit(i);
            }
        }
        assert_ne!(self.driver.aggregate(), Some(0), "an aggregate of nothing");
    }

    pub fn sent(&mut self, now: Instant, chunk: &ChunkInfo) {
        let before = self.shown();
        self.driver.sent(&self.views, now, chunk);
        let moves = self.driver.scheme().moves(&Signal::Sent(chunk));
        let kept = self.keeps(before, moves, Some(chunk.path()));
        assert!(kept, "a chunk on path {} moved another path, against `moves`", chunk.path().0);
    }

    /// Returns the estimates and windows of open paths, and the limit over all paths.
    fn shown(&self) -> Shown {
        let scheme = self.driver.scheme();
        let of = |v: &PathView| {
            let mut estimate = Estimate::default();
            scheme.estimate(v.id, &mut estimate);
            (v.id, estimate, scheme.congestion().limit(v.id))
        };
        let open = self.views.paths().iter().filter(|v| v.state != PathState::Closed);
        (open.map(of).collect(), scheme.congestion().aggregate())
    }

    /// Returns whether a signal of `path` changed only values that its effect `moves` permits. Since `before`,
    /// estimates and windows of other open paths must be unchanged. If nothing may change, the limit over all paths
    /// must also be unchanged.
    fn keeps(&self, before: Shown, moves: Moves, path: Option<PathId>) -> bool {
        let others = |shown: Shown| shown.0.into_iter().filter(|of| Some(of.0) != path).collect::<Vec<_>>();
        match (moves, path) {
            (Moves::Nothing, _) => before == self.shown(),
            (Moves::Own, Some(_)) => others(before) == others(self.shown()),
            (Moves::Own, None) | (Moves::All, _) => true,
        }
    }

    fn check_limit(&mut self, i: usize) {
        let limit = self.driver.scheme().congestion().limit(PathId(i as u8));
        self.note(&limit);
        if self.views.paths()[i].state == PathState::Active {
            assert!(limit.cwnd > 0, "active path {i} has no window");
            assert!(limit.cwnd < 1 << 40, "window of path {i} has no bounds: {limit:?}");
            assert_ne!(limit.ssthresh, Some(0), "path {i}");
        }
        if let Some(pacing) = limit.pacing {
            assert!(pacing.bps().is_finite() && pacing.bps() > 0.0, "pacing of path {i}: {pacing:?}");
        }
    }

    fn check_estimate(&mut self, i: usize) {
        let est = self.views.paths()[i].est.clone();
        let rates = [est.bandwidth, est.delivery_rate, est.peer_rate].map(|r| r.map(|r| r.bps()));
        let shares = [est.loss, est.frame_error_rate];
        let all = rates.into_iter().chain(shares).chain([est.effective_snr]).flatten();
        assert!(all.chain(est.named().map(|e| e.1)).all(f64::is_finite), "path {i}: {est:?}");
        assert!(shares.into_iter().flatten().all(|p| (0.0..=1.0).contains(&p)), "path {i}: {est:?}");
        self.note(&est);
    }

    /// Returns the next spontaneous action of the scheme.
    pub fn act(&mut self, now: Instant, outstanding: &fixture::Outstanding) -> Option<Act> {
        let act = self.driver.act(&mut self.views, now, &outstanding.flight());
        self.note(&act);
        act
    }

    pub fn miss_scope(&mut self, now: Instant, ack: &AckInfo) -> MissScope {
        self.driver.ask(&self.views, now, |scheme, view| scheme.loss().miss_scope(view, ack))
    }

    pub fn misses(&mut self, now: Instant, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.ask(now, |scheme, view| scheme.loss().misses(view, ack, chunk))
    }

    pub fn classify(&mut self, now: Instant, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.ask(now, |scheme, view| scheme.loss().classify(view, chunk, trigger))
    }

    pub fn retransmit(&mut self, now: Instant, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        let verdict = self.ask(now, |scheme, view| scheme.loss().retransmit(view, chunk, cause));
        if let Retransmit::On(path) = verdict {
            assert!(self.is_open(path), "retransmission on {path:?}, which is closed");
        }
        verdict
    }

    /// Returns the number of misses that the scheme requires for a loss. Zero is an error.
    pub fn threshold(&mut self, path: PathId) -> u8 {
        self.ask(Instant::ZERO, |scheme, _| scheme.loss().threshold(path))
    }

    pub fn next(&mut self, now: Instant, backlog: &Backlog) -> Option<Assignment> {
        let next = self.driver.next(&mut self.views, now, backlog);
        self.check_open_paths();
        self.note(&next);
        if let Some(a) = &next {
            let gives_up = a.paths.is_empty() && backlog.next_expires.is_some();
            assert!(gives_up || a.chunks > 0 && !a.paths.is_empty(), "an assignment of nothing: {a:?}");
            assert!(a.paths.iter().all(|p| self.is_open(*p)), "a closed path in {a:?}");
        }
        next
    }

    /// Returns the next symbol. The core can send it if the path has room.
    pub fn next_symbol(&mut self, now: Instant, backlog: &Backlog) -> Option<SymbolAssignment> {
        let next = self.driver.next_symbol(&mut self.views, now, backlog);
        self.check_open_paths();
        self.note(&next);
        if let Some(a) = &next {
            assert!(self.is_open(a.path), "a closed path in {a:?}");
            let block = self.views.blocks().iter().find(|b| b.number == a.block);
            let block = block.unwrap_or_else(|| panic!("no such block: {a:?}"));
            match a.what {
                SymbolChoice::Source => assert!(block.sources_sent < block.sources, "all were sent: {a:?}"),
                SymbolChoice::Repair => assert!(block.closed, "repair of an open block: {a:?}"),
            }
        }
        next
    }

    /// Returns the path of a repair symbol.
    pub fn next_repair(&mut self, now: Instant, offer: &RepairOffer) -> Option<PathId> {
        let path = self.driver.next_repair(&mut self.views, now, offer);
        self.note(&path);
        assert!(path.is_none_or(|p| self.is_open(p)), "repair on {path:?}, which is closed");
        path
    }

    /// Returns the path for which the scheduler requests a penalty.
    pub fn penalise(&mut self, now: Instant) -> Option<PathId> {
        let path = self.ask(now, |scheme, view| scheme.scheduler().penalise(view));
        assert!(path.is_none_or(|p| self.is_open(p)), "a penalty for {path:?}, which is closed");
        path
    }

    pub fn sack(&mut self, now: Instant, rx: &RxInfo) -> AckDecision {
        let rule = self.ask(now, |scheme, view| scheme.feedback().sack(view, rx));
        assert!(rule.via.is_none_or(|p| self.is_open(p)), "a SACK by a closed path: {rule:?}");
        rule
    }

    /// Returns the reports for one occasion.
    pub fn reports(&mut self, now: Instant, trigger: ReportTrigger) -> Vec<Report> {
        let mut out = Vec::new();
        self.driver.ask(&self.views, now, |scheme, view| scheme.feedback().reports(view, trigger, &mut out));
        self.note(&out);
        assert!(out.len() <= 64, "{} reports at once", out.len());
        assert!(out.iter().all(|r| r.kind >= 0x100), "kinds below 0x100 are the core's: {out:?}");
        if let ReportTrigger::Data(_) = trigger {
            let (chunk, item, serial) = REPORT_HEADERS;
            let len = |r: &Report| {
                (item + if r.reliable { serial } else { 0 } + r.payload.len()).next_multiple_of(4)
            };
            let size = out.iter().map(len).sum::<usize>() + if out.is_empty() { 0 } else { chunk };
            assert!(size <= self.driver.overhead(), "{size} bytes of reports before DATA: {out:?}");
        }
        out
    }

    /// Returns the paths of the heartbeats that the scheme requests now.
    pub fn probes(&mut self, now: Instant) -> Vec<PathId> {
        let mut out = Vec::new();
        while let Some(probe) = self.ask(now, |scheme, view| scheme.feedback().probe(view)) {
            assert!(self.is_open(probe.path), "a probe of a closed path: {probe:?}");
            assert!(probe.count > 0 && out.len() < 64, "probes without end: {probe:?}");
            out.extend(core::iter::repeat_n(probe.path, usize::from(probe.count)));
        }
        out
    }

    /// Sends a `Tick` if it is due.
    pub fn maybe_tick(&mut self, now: Instant) {
        if self.driver.scheme().poll_timeout().is_some_and(|t| t <= now) {
            self.signal(now, &Signal::Tick);
            let next = self.driver.scheme().poll_timeout();
            assert!(next.is_none_or(|t| t > now), "after Tick at {now:?} the timeout is {next:?}");
        }
    }
}
