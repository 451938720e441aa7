//! Driver of the scheme. The driver handles signals in the order of the paper, keeps estimates, and answers the calls
//! of the core.

use strandcast_proto::policy::{
    AckDecision, AckInfo, Assignment, Backlog, ChunkInfo, CongestionControl, Estimate, Feedback, Limit,
    LinkSample, LossCause, LossPolicy, LossTrigger, MissScope, PathId, PathSet, PathState, PathView, Policy,
    Probe, Report, ReportTrigger, Retransmit, RxInfo, Scheduler, Scheme, Signal, View,
};
use strandcast_proto::rfc::RfcFeedback;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use super::config::{Config, Inactive, QualityKeys};
use super::model::{Measured, QualityModel};
use super::quality_path::QualityPath;
use crate::congestion::Friendliness;
use crate::feedback::{DelayedAck, FrameErrors};
use crate::recovery::{SfrConfig, SplitFastRetransmit};
use crate::schedule::{Allocation, Distribution};

/// Greatest number of bytes for which one SACK may count. Real numbers are smaller, and sums stay far from overflow.
const MOST_BYTES: u64 = 1 << 48;

/// Counts of events.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counters {
    pub wireless: u64,
    pub congestion: u64,
    pub rewards: u64,
    pub penalties: u64,
    pub periods: u64,
    pub early_periods: u64,
    pub intervals: u64,
    pub suspended: u64,
    /// Sum of three counts: handling times that were computed without a bandwidth, bans that were ended early, and
    /// packets that were sent without credit.
    pub guards: u64,
}

/// Driver of a scheme of this family.
#[derive(Debug)]
pub(in crate::preset) struct QualityAware<J: QualityModel> {
    name: &'static str,
    pub(super) config: Config,
    pub(super) model: J,
    /// State of schemes that keep the sum of windows within bounds.
    pub(super) friendliness: Option<Friendliness>,
    /// β of eq. 9. Without a friendliness window, w is 1.
    pub(super) beta: f64,
    /// Paths by slot. `None` while the slot is closed.
    pub(super) lanes: Vec<Option<QualityPath<J::Path>>>,
    pub(super) distribution: Distribution,
    /// True if Algorithm 4 as printed holds all data until the period ends.
    pub(super) held: bool,
    pub(super) counters: Counters,
    loss: SplitFastRetransmit,
    acks: DelayedAck,
    frame_errors: Option<FrameErrors>,
    /// Paths that a pair of heartbeats must probe.
    probes: PathSet,
    /// Path for lost chunks. It is valid until the next signal or period, which may change windows or paths.
    widest: Option<PathId>,
}

impl<J: QualityModel> QualityAware<J> {
    pub fn new(name: &'static str, keys: &QualityKeys, model: J, seeds: &Seeds) -> Self {
        let config = Config::from(keys);
        let sfr = SfrConfig { dac: config.dac, repeat: config.rtx_again, ..SfrConfig::default() };
        QualityAware {
            name,
            config,
            model,
            friendliness: None,
            beta: 1.0,
            lanes: Vec::new(),
            distribution: Distribution::new(config.allocation),
            held: false,
            counters: Counters::default(),
            loss: SplitFastRetransmit::new(sfr, seeds.stream("scheme/retransmission ties")),
            acks: DelayedAck::default(),
            frame_errors: None,
            probes: PathSet::default(),
            widest: None,
        }
    }

    /// Adds Algorithms 2 and 3 with α and β. The initial value of fthresh is the sum of the paths' ssthresh(init).
    pub fn friendly(mut self, (alpha, beta): (f64, f64), exempt: bool, any_loss: bool) -> Self {
        self.config.exempt = exempt;
        let friendliness = Friendliness::new(alpha, beta, self.config.windows.initial_ssthresh);
        self.friendliness = Some(friendliness.cut_by_any_loss(any_loss));
        self.beta = beta;
        self
    }

    /// Makes the receiver report frame errors. The sender counts them as errors of its own link.
    pub fn with_frame_errors(mut self) -> Self {
        self.frame_errors = Some(FrameErrors::default());
        self
    }

    pub(super) fn lane(&self, path: PathId) -> Option<&QualityPath<J::Path>> {
        self.lanes.get(path.index())?.as_ref()
    }

    pub(super) fn lane_mut(&mut self, path: PathId) -> Option<&mut QualityPath<J::Path>> {
        self.lanes.get_mut(path.index())?.as_mut()
    }

    /// Active paths as the paper defines them. The active paths are usable and not suspended. If all usable paths are
    /// suspended, they are all usable paths.
    pub(super) fn active(&self, view: &View<'_>) -> PathSet {
        let usable = view.usable();
        let mut active = usable;
        for path in usable.iter() {
            if self.lane(path).is_none_or(|l| l.inactive) {
                active.remove(path);
            }
        }
        if active.is_empty() { usable } else { active }
    }

    pub(super) fn measured<'a>(
        lane: &'a QualityPath<J::Path>,
        view: &View<'_>,
        path: PathId,
        weight: f64,
    ) -> Measured<'a> {
        Measured { now: view.now, rate: &lane.rate, srtt: view[path].srtt, weight }
    }

    /// Stores the state and MTU of a path that has changed, or that appears for the first time.
    fn meet(&mut self, view: &View<'_>, path: PathId) {
        let Some(now) = view.paths.get(path.index()) else { return };
        if self.lanes.len() <= path.index() {
            self.lanes.resize_with(path.index() + 1, || None);
        }
        self.distribution.end();
        if now.state == PathState::Closed {
            if let Some(lane) = self.lanes[path.index()].take() {
                let least = self.lanes.iter().flatten().map(|l| l.initial).sum();
                if let Some(f) = &mut self.friendliness {
                    f.path_left(lane.initial, least);
                }
            }
            return;
        }
        let Some(lane) = &mut self.lanes[path.index()] else {
            let lane = QualityPath::new(&self.config, now, view.now, self.model.path());
            if let Some(f) = &mut self.friendliness {
                f.path_met(lane.initial);
            }
            self.lanes[path.index()] = Some(lane);
            return;
        };
        let failed = matches!(lane.state, PathState::PotentiallyFailed | PathState::Inactive);
        lane.window.set_mtu(now.mtu);
        if failed && now.state == PathState::Active {
            lane.window.restart();
        }
        lane.state = now.state;
    }

    /// Ends the path's estimation interval: computes R_e, updates the quality model and requests a pair of heartbeats.
    fn close(&mut self, view: &View<'_>, path: PathId) {
        let others = self.active(view).iter().any(|p| p != path);
        let (rule, now) = (self.config.inactive, view.now);
        let picture = &view[path];
        let Some(lane) = self.lanes.get_mut(path.index()).and_then(Option::as_mut) else { return };
        lane.interval.close(now, picture.srtt);
        lane.rate.close(now, picture.srtt);
        if picture.in_flight > 0 {
            // The buffer of the path did not become empty, so that T_e is the beginning of the interval.
            lane.rate.queued(now);
        }
        self.model.close(&mut lane.model_state, lane.rate.bytes_per_second(), now);
        self.counters.intervals += 1;
        if core::mem::take(&mut lane.used) || view.in_flight > 0 {
            self.probes.insert(path);
        }
        if rule == Inactive::Literal {
            let suspended = others && lane.loses_within_rto(picture);
            self.counters.suspended += u64::from(suspended && !lane.inactive);
            lane.inactive = suspended;
        }
    }

    fn close_all_due(&mut self, view: &View<'_>) {
        for i in 0..self.lanes.len().min(view.paths.len()) {
            if self.lanes[i].as_ref().is_some_and(|l| l.interval.ends() <= view.now) {
                self.close(view, PathId(i as u8));
            }
        }
    }

    fn on_loss_event(&mut self, view: &View<'_>, path: PathId, trigger: LossTrigger) {
        let others = self.active(view).iter().any(|p| p != path);
        let rule = self.config.inactive;
        let Some(lane) = self.lane_mut(path) else { return };
        let ends = lane.interval.loss_event(view.now, view[path].srtt);
        let mut suspended = false;
        if trigger == LossTrigger::Timeout && rule == Inactive::Timeouts {
            suspended = lane.strike(&view[path], view.now) && others && !lane.inactive;
            lane.inactive |= suspended;
        }
        self.counters.suspended += u64::from(suspended);
        if ends {
            self.close(view, path);
        }
    }
}

impl<J: QualityModel> Scheme for QualityAware<J> {
    fn name(&self) -> &str {
        self.name
    }

    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.widest = None;
        for i in self.lanes.len()..view.paths.len() {
            self.meet(view, PathId(i as u8));
        }
        if let Some(f) = &mut self.frame_errors {
            f.hear(signal);
        }
        self.loss.on_signal(view, signal);
        self.acks.on_signal(view, signal);
        let rule = self.config.inactive;
        match signal {
            Signal::Sent(chunk) => {
                let path = chunk.path();
                let Some(lane) = self.lanes.get_mut(path.index()).and_then(Option::as_mut) else { return };
                lane.used = true;
                lane.rate.sent(view.now);
                let longest = QualityPath::<J::Path>::longest(&view[path]);
                self.model.sent(&mut lane.model_state, view.now, chunk.len.min(MOST_BYTES), longest);
            }
            Signal::Acked(ack) => {
                if let Some(lane) = self.lane_mut(ack.path) {
                    lane.rate.acked(ack.newly_acked.min(MOST_BYTES));
                    lane.timed_out = false;
                }
            }
            Signal::Link(sample) => self.on_link(view, sample, false),
            Signal::Peer(report) => {
                if let Some(sample) = self.frame_errors.as_mut().and_then(|f| f.read(report)) {
                    self.on_link(view, &sample, true);
                }
            }
            Signal::Heartbeat(h) if h.probe => {
                if let Some(lane) = self.lane_mut(h.path) {
                    lane.reference.answered(h.sent, h.rtt);
                    if h.rtt.is_some() {
                        lane.answered(rule);
                    }
                }
            }
            Signal::LossEvent { path, trigger, .. } if *trigger != LossTrigger::HeadOfLine => {
                self.on_loss_event(view, *path, *trigger);
            }
            Signal::PathChanged(path) => self.meet(view, *path),
            Signal::Tick => self.close_all_due(view),
            _ => {}
        }
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        let Some(lane) = self.lane(path) else { return };
        out.delivery_rate = Some(Rate::from_bytes_per_s(lane.rate.bytes_per_second()));
        out.reference_rtt = lane.reference.get();
        let mut index = 0;
        if let Some(f) = &self.friendliness {
            put(out, 0, "fwnd_bytes", f.window());
            put(out, 1, "fcount", f64::from(lane.count));
            index = 2;
        }
        self.model.estimate(&lane.model_state, index, out);
    }

    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.widest = None;
        match signal {
            Signal::Sent(chunk) => {
                let path = chunk.path();
                if chunk.sent_once() {
                    self.distribution.sent(path, chunk.len);
                }
                if let Some(lane) = self.lane_mut(path) {
                    lane.window.on_sent(view.now, view[path].rto);
                }
            }
            Signal::Queued => self.on_queued(view),
            Signal::Acked(ack) => self.on_acked(view, ack),
            Signal::LossEvent { path, trigger, highest, cause } => {
                self.on_loss(view, *path, *trigger, *highest, *cause);
            }
            Signal::Spurious { path, before: Some(before), .. } => self.undo(view, *path, before),
            Signal::Tick => self.held = false,
            _ => {}
        }
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

impl<J: QualityModel> CongestionControl for QualityAware<J> {
    fn limit(&self, path: PathId) -> Limit {
        self.lane(path).map_or(Limit::default(), |l| l.window.limit())
    }
}

impl<J: QualityModel> LossPolicy for QualityAware<J> {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.loss.misses(view, ack, chunk)
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.loss.miss_scope(view, ack)
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.loss.threshold(path)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        let path = chunk.path();
        match (trigger, self.lane(path)) {
            (LossTrigger::Timeout, _) => LossCause::PathFailure,
            (_, None) => LossCause::Congestion,
            (_, Some(lane)) => self.model.cause(&lane.model_state, &Self::measured(lane, view, path, 1.0)),
        }
    }

    /// Retransmits on the active path with the largest window. Retransmissions precede new data.
    fn retransmit(&mut self, view: &View<'_>, _: &ChunkInfo, _: LossCause) -> Retransmit {
        let active = |p: &PathId| view[*p].state == PathState::Active;
        // The core calls this for each lost chunk at each opportunity, so that the result is kept.
        if let Some(path) = self.widest.filter(active) {
            return Retransmit::On(path);
        }
        let cwnd = |path| self.lane(path).map_or(0, |l| l.window.cwnd());
        // If several paths have the largest window, the first of them is taken.
        let mut widest: Option<(PathId, u64)> = None;
        for path in self.active(view).iter() {
            let cwnd = cwnd(path);
            if widest.is_none_or(|(_, most)| cwnd > most) {
                widest = Some((path, cwnd));
            }
        }
        let path = widest.map(|(path, _)| path);
        // While no path is active, the choice depends on path errors. Path errors change without a signal, so that the
        // result is not kept.
        self.widest = path.filter(active);
        path.map_or(Retransmit::Hold, Retransmit::On)
    }
}

impl<J: QualityModel> Scheduler for QualityAware<J> {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.widest = None;
        self.distribute(view, backlog)
    }
}

impl<J: QualityModel> Feedback for QualityAware<J> {
    fn reports(&mut self, view: &View<'_>, trigger: ReportTrigger, out: &mut Vec<Report>) {
        if let Some(f) = &mut self.frame_errors {
            f.reports(view, trigger, out);
        }
    }

    fn sack(&mut self, view: &View<'_>, rx: &RxInfo) -> AckDecision {
        if self.config.dac { self.acks.sack(view, rx) } else { RfcFeedback.sack(view, rx) }
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        loop {
            let path = self.probes.iter().next()?;
            self.probes.remove(path);
            // If a path is not active, the transport probes it.
            let active = |p: &PathView| p.state == PathState::Active;
            if view.paths.get(path.index()).is_some_and(active)
                && let Some(lane) = self.lane_mut(path)
            {
                lane.reference.asked(view.now);
                return Some(Probe { path, count: 2, padded: false });
            }
        }
    }
}

impl<J: QualityModel> Policy for QualityAware<J> {
    fn poll_timeout(&self) -> Option<Instant> {
        let intervals = self.lanes.iter().flatten().map(|l| l.interval.ends());
        let literal = self.held && self.distribution.allocation() == Allocation::Literal;
        intervals.chain(literal.then(|| self.distribution.ends())).min()
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        // A sender without data does not need reports of links.
        if view.paths.iter().any(|p| p.last_sent.is_some()) {
            self.model.diagnostics(view, self.lanes.iter().flatten().map(|l| &l.model_state), out);
        }
        if self.frame_errors.is_some() && !view.peer_reports {
            out.push("the peer does not speak REPORT: frame errors on its links stay unknown");
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        let c = &self.counters;
        out.extend([
            ("losses_judged_wireless", c.wireless),
            ("losses_judged_congestion", c.congestion),
            ("distribution_periods", c.periods),
            ("early_distribution_periods", c.early_periods),
            ("estimation_intervals", c.intervals),
            ("paths_put_aside", c.suspended),
            ("guards", c.guards),
        ]);
        if self.friendliness.is_some() {
            out.extend([("rewards", c.rewards), ("penalties", c.penalties)]);
        }
    }
}

/// Sets the extra estimate at `index`. Only this family writes extra estimates, always in this order and at every
/// signal. A lookup by name is therefore not needed.
pub(in crate::preset) fn put(out: &mut Estimate, index: usize, name: &'static str, value: f64) {
    match out.extra.get_mut(index) {
        Some(slot) => slot.1 = value,
        None => out.extra.push((name, value)),
    }
}

impl<J: QualityModel> QualityAware<J> {
    fn on_link(&mut self, view: &View<'_>, sample: &LinkSample, far: bool) {
        let Some(path) = sample.path.filter(|p| p.index() < view.paths.len()) else { return };
        let Some(lane) = self.lanes.get_mut(path.index()).and_then(Option::as_mut) else { return };
        self.model.link(&mut lane.model_state, sample, far, QualityPath::<J::Path>::longest(&view[path]));
    }
}
