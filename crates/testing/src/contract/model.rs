//! The toy association: its state, its events, and the disturbances of its network.

use std::collections::{BTreeMap, BTreeSet};

use strandcast_proto::policy::fixture;
use strandcast_proto::policy::{
    Assignment, ChunkInfo, HeadOfLine, HeartbeatInfo, LinkSample, LossCause, LossTrigger, PathId, PathState,
    Report, ReportTrigger, Rules, Scheme, Signal,
};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::serial::Tsn;

use super::harness::SchemeHarness;

/// Number of path slots that a toy association may use.
const SLOTS: u8 = 4;
/// Duration of the disturbances.
const STORM: Duration = Duration::from_secs(6);
/// Time after the disturbances within which everything must be delivered.
const CALM: Duration = Duration::from_secs(300);
/// Maximum time for which a sender may send nothing while no data are in flight.
pub(super) const MAX_MUTE: Duration = Duration::from_secs(1);

pub(super) const SENDER: usize = 0;
pub(super) const RECEIVER: usize = 1;

/// Properties of the wire of a path.
#[derive(Debug)]
pub(super) struct Wire {
    pub delay: Duration,
    pub loss: f64,
    pub works: bool,
}

#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Delivery {
    InFlight,
    Acked,
    Lost(LossCause),
}

#[derive(Debug)]
pub(super) struct Chunk {
    pub info: ChunkInfo,
    pub delivery: Delivery,
}

/// Contents of a SACK in transit.
#[derive(Debug)]
pub(super) struct Image {
    pub via: PathId,
    pub cum: u32,
    pub beyond: Vec<u32>,
    pub packets: u32,
    /// Time at which the SACK was written, and the arrivals by each path.
    pub written: Instant,
    pub arrived: BTreeMap<PathId, (u32, Instant, u64, u64)>,
}

impl Image {
    pub fn covers(&self, seq: u32) -> bool {
        seq <= self.cum || self.beyond.binary_search(&seq).is_ok()
    }
}

/// Content of a packet in transit.
#[derive(Debug)]
pub(super) enum Flying {
    Data { seq: u32, path: PathId, reports: Vec<Report> },
    Sack { sack: Image, reports: Vec<Report> },
    Heartbeat { end: usize, path: PathId, sent: Instant, probe: bool, echoed: bool },
    Reports { to: usize, reports: Vec<Report> },
}

/// Two parties, the wires between them, and the state of each path that the core would keep. Chunks go from `SENDER` to
/// `RECEIVER` and are numbered from 1. `base` converts the numbers to TSNs, so that TSNs wrap around in some cases.
#[derive(Debug)]
pub(super) struct Model {
    pub random: Random,
    pub now: Instant,
    pub ends: [SchemeHarness; 2],
    pub wires: Vec<Wire>,
    pub base: Tsn,
    pub chunks: BTreeMap<u32, Chunk>,
    pub cum: u32,
    pub next: u32,
    pub lost: BTreeSet<u32>,
    /// Number of chunks that wait for their first transmission; `next_len` is the size of the next one.
    pub queue: u32,
    pub next_len: u64,
    pub assignment: Option<Assignment>,
    pub t3: Vec<Option<Instant>>,
    pub free_retransmit: Vec<bool>,
    pub recover: Vec<u32>,
    /// State of the penalties that the scheduler requested.
    pub asked: HeadOfLine,
    pub received: BTreeSet<u32>,
    pub received_cum: u32,
    pub packets: u32,
    /// Arrivals by each path: the last chunk, its time of arrival, and the packets and bytes so far.
    pub arrived: BTreeMap<PathId, (u32, Instant, u64, u64)>,
    /// Time at which the last received report of arrivals was written.
    pub last_report: Instant,
    pub sack_timer: Option<(Instant, PathId)>,
    pub mute_since: Option<Instant>,
    potentially_failed: bool,
    flying: BTreeMap<(Instant, u64), Flying>,
    sequence: u64,
}

impl Model {
    /// Runs one case. Returns a hash over all decisions.
    pub fn run(seed: u64, schemes: [Box<dyn Scheme>; 2]) -> u64 {
        let mut random = Seeds::new(seed, 0).stream("policy contract");
        let base = if random.chance(0.5) { Tsn(u32::MAX - 50) } else { Tsn(random.u32()) };
        let mut model = Model {
            now: Instant::from_millis(5000),
            ends: schemes.map(SchemeHarness::new),
            wires: Vec::new(),
            base,
            chunks: BTreeMap::new(),
            cum: 0,
            next: 1,
            lost: BTreeSet::new(),
            queue: 0,
            next_len: 500,
            assignment: None,
            t3: Vec::new(),
            free_retransmit: Vec::new(),
            recover: Vec::new(),
            asked: HeadOfLine::new(Rules::Sooner),
            received: BTreeSet::new(),
            received_cum: 0,
            packets: 0,
            arrived: BTreeMap::new(),
            last_report: Instant::ZERO,
            sack_timer: None,
            mute_since: None,
            potentially_failed: random.chance(0.5),
            flying: BTreeMap::new(),
            sequence: 0,
            random,
        };
        for _ in 0..=model.random.below(u64::from(SLOTS) - 1) {
            model.join();
        }
        model.storm();
        model.calm();
        model.ends[SENDER].trace ^ model.ends[RECEIVER].trace.rotate_left(1)
    }

    pub fn tsn(&self, seq: u32) -> Tsn {
        self.base + seq
    }

    fn paths(&self) -> impl Iterator<Item = PathId> + use<> {
        (0..self.wires.len() as u8).map(PathId)
    }

    fn any_path(&mut self) -> PathId {
        PathId(self.random.below(self.wires.len() as u64) as u8)
    }

    /// Sends `what` over the wire of `path`, which may lose it.
    pub fn launch(&mut self, path: PathId, what: Flying) {
        let wire = &self.wires[path.index()];
        let arrives = wire.works && !self.random.chance(wire.loss);
        if arrives {
            let jitter = Duration::from_micros(self.random.below(3000));
            self.sequence += 1;
            self.flying.insert((self.now + wire.delay + jitter, self.sequence), what);
        }
    }

    fn storm(&mut self) {
        let end = self.now + STORM;
        while self.now < end {
            let pause = Duration::from_micros(self.random.below(40_000));
            self.run_until(self.now + pause);
            self.disturb();
            self.settle();
        }
    }

    /// Repairs everything. After this call, only the scheme can prevent delivery.
    fn calm(&mut self) {
        for path in self.paths() {
            (self.wires[path.index()].works, self.wires[path.index()].loss) = (true, 0.0);
            if self.ends[SENDER].is_open(path) {
                self.set_state(path, PathState::Active);
            }
        }
        self.ends[SENDER].views.set_a_rwnd(64_000);
        if self.queue == 0 {
            self.ends[SENDER].signal(self.now, &Signal::Queued);
        }
        self.queue += 50;
        self.settle();
        let end = self.now + CALM;
        while self.cum + 1 < self.next || self.queue > 0 {
            assert!(self.now < end, "not delivered in time: {self:#?}");
            let next = self.next_event();
            let at = next.unwrap_or_else(|| panic!("stalled with data waiting: {self:#?}"));
            self.run_until(at);
        }
    }

    fn next_event(&self) -> Option<Instant> {
        let timers = self.t3.iter().copied().flatten().chain(self.sack_timer.map(|t| t.0));
        let ticks = self.ends.iter().filter_map(|e| e.driver.scheme().poll_timeout());
        timers.chain(ticks).chain(self.flying.keys().next().map(|k| k.0)).min().map(|t| t.max(self.now))
    }

    fn run_until(&mut self, end: Instant) {
        while let Some(at) = self.next_event().filter(|t| *t <= end) {
            self.advance(at);
            if let Some(((_, _), what)) =
                self.flying.first_entry().filter(|e| e.key().0 <= at).map(|e| e.remove_entry())
            {
                self.arrive(what);
            }
            for path in self.paths() {
                if self.t3[path.index()].is_some_and(|t| t <= at) {
                    self.on_t3(path);
                }
            }
            if let Some((_, path)) = self.sack_timer.filter(|t| t.0 <= at) {
                self.send_sack(path);
            }
            for end in &mut self.ends {
                end.maybe_tick(at);
            }
            self.settle();
        }
        self.advance(end);
    }

    fn advance(&mut self, to: Instant) {
        if let Some(since) = self.mute_since {
            assert!(
                to - since <= MAX_MUTE,
                "nothing in flight, data waiting, nothing sent since {since:?}: {self:#?}"
            );
        }
        self.now = self.now.max(to);
    }

    fn arrive(&mut self, what: Flying) {
        match what {
            Flying::Data { seq, path, reports } => {
                self.hear(RECEIVER, path, reports);
                self.on_data(seq, path);
            }
            Flying::Sack { sack, reports } => {
                self.hear(SENDER, sack.via, reports);
                self.on_sack(&sack);
            }
            Flying::Reports { to, reports } => self.hear(to, PathId(0), reports),
            Flying::Heartbeat { end, path, sent, probe, echoed: false } => {
                let reports = self.ends[1 - end].reports(self.now, ReportTrigger::HeartbeatAck(path));
                self.launch(path, Flying::Reports { to: end, reports });
                self.launch(path, Flying::Heartbeat { end, path, sent, probe, echoed: true });
            }
            Flying::Heartbeat { end, path, sent, probe, .. } => {
                if !self.ends[end].is_open(path) {
                    return;
                }
                let info = HeartbeatInfo { path, rtt: Some(self.now - sent), probe, sent, late: false };
                if end == SENDER && self.ends[end].view(path).state != PathState::Suspended {
                    self.set_state(path, PathState::Active);
                }
                self.ends[end].signal(self.now, &Signal::Heartbeat(&info));
            }
        }
    }

    fn hear(&mut self, to: usize, by: PathId, reports: Vec<Report>) {
        for mut report in reports {
            report.via = Some(by);
            report.subject = report.subject.filter(|p| self.ends[to].is_open(*p));
            self.ends[to].signal(self.now, &Signal::Peer(&report));
        }
    }

    /// Does the work of the core after an input: separate reports and probes first, then data.
    fn settle(&mut self) {
        for end in [SENDER, RECEIVER] {
            let reports = self.ends[end].reports(self.now, ReportTrigger::Tick);
            if !reports.is_empty() {
                let path = self.any_path();
                self.launch(path, Flying::Reports { to: 1 - end, reports });
            }
            for path in self.ends[end].probes(self.now) {
                self.heartbeat(end, path, true);
            }
        }
        self.act();
        self.send();
    }

    fn heartbeat(&mut self, end: usize, path: PathId, probe: bool) {
        let reports = self.ends[end].reports(self.now, ReportTrigger::Heartbeat(path));
        self.launch(path, Flying::Reports { to: 1 - end, reports });
        self.launch(path, Flying::Heartbeat { end, path, sent: self.now, probe, echoed: false });
        if !self.wires[path.index()].works {
            let info = HeartbeatInfo { path, rtt: None, probe, sent: self.now, late: false };
            self.ends[end].signal(self.now, &Signal::Heartbeat(&info));
        }
    }

    pub fn set_state(&mut self, path: PathId, state: PathState) {
        if self.ends[SENDER].view(path).state == state {
            return;
        }
        if state == PathState::Closed {
            self.lose_all(path, LossTrigger::Timeout);
            self.t3[path.index()] = None;
        }
        for end in &mut self.ends {
            end.view_mut(path).state = state;
            if state == PathState::Active {
                end.view_mut(path).error_count = 0;
            }
            end.signal(self.now, &Signal::PathChanged(path));
        }
        self.assignment = None;
    }

    /// Counts a transmission that was not answered (RFC 9260 §8.2, RFC 7829 §4.2).
    pub fn error(&mut self, path: PathId) {
        let view = self.ends[SENDER].view_mut(path);
        view.error_count += 1;
        view.rto = (view.rto * 2).min(Duration::from_secs(8));
        if view.error_count > 3 {
            self.set_state(path, PathState::Inactive);
        } else if self.potentially_failed {
            self.set_state(path, PathState::PotentiallyFailed);
        }
        self.heartbeat(SENDER, path, false);
    }

    fn join(&mut self) {
        let closed = self.paths().find(|p| !self.ends[SENDER].is_open(*p));
        let path = closed.unwrap_or(PathId(self.wires.len() as u8));
        if path.0 >= SLOTS {
            return;
        }
        let delay = Duration::from_millis(1 + self.random.below(120));
        let wire = Wire { delay, loss: self.random.uniform(0.0, 0.1), works: true };
        let mut view = fixture::path(path.0);
        (view.srtt, view.latest_rtt, view.min_rtt) = (None, None, None);
        view.state = PathState::Unconfirmed;
        view.mtu = 600 + self.random.below(900);
        if path.index() == self.wires.len() {
            self.wires.push(wire);
            self.t3.push(None);
            self.free_retransmit.push(false);
            self.recover.push(0);
        } else {
            self.wires[path.index()] = wire;
            self.recover[path.index()] = 0;
            self.arrived.remove(&path);
        }
        for end in &mut self.ends {
            end.views.put(view.clone());
            end.signal(self.now, &Signal::PathChanged(path));
        }
        self.set_state(path, PathState::Active);
    }

    /// Causes one random disturbance of the association.
    fn disturb(&mut self) {
        let path = self.any_path();
        let open = self.ends[SENDER].is_open(path);
        let others = self.paths().filter(|p| *p != path && self.ends[SENDER].is_open(*p)).count();
        match self.random.below(25) {
            0 => self.wires[path.index()].works ^= true,
            1 => self.wires[path.index()].loss = self.random.uniform(0.0, 0.4),
            2 => self.wires[path.index()].delay = Duration::from_millis(1 + self.random.below(200)),
            3 if open => self.set_state(path, PathState::Suspended),
            4 if open => self.set_state(path, PathState::Active),
            5 if open && others > 0 => self.set_state(path, PathState::Closed),
            6 => self.join(),
            7 if open => {
                for end in &mut self.ends {
                    end.view_mut(path).mtu = (end.view(path).mtu - 20).max(520);
                    end.signal(self.now, &Signal::PathChanged(path));
                }
            }
            8 => self.ends[SENDER].views.set_primary(path),
            9 => self.ends[SENDER].views.set_a_rwnd(2000 + self.random.below(100_000)),
            10 if open => {
                let sample =
                    LinkSample { path: Some(path), tx_frames: self.random.u64() >> 40, ..Default::default() };
                self.ends[SENDER].signal(self.now, &Signal::Link(&sample));
            }
            11 => self.give_up(),
            12 if open => self.heartbeat(SENDER, path, false),
            13 if open => self.penalise(path),
            _ => {
                if self.queue == 0 {
                    self.ends[SENDER].signal(self.now, &Signal::Queued);
                }
                self.queue += 1 + self.random.below(12) as u32;
            }
        }
    }
}
