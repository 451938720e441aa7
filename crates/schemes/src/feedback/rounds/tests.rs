//! Both halves over wires of 50 ms there and 50 ms back, in steps of a millisecond.

use std::collections::VecDeque;

use strandcast_proto::policy::fixture::{Picture, chunk};
use strandcast_proto::policy::{
    Feedback as _, PathId, PathState, Policy as _, Report, ReportTrigger, RxInfo, Signal,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

use super::*;

const P0: PathId = PathId(0);
const P1: PathId = PathId(1);
const BYTES: u64 = 1000;

#[derive(Debug)]
enum Flying {
    Data { path: PathId, tsn: u32, reports: Vec<Report> },
    Probe { path: PathId, reports: Vec<Report> },
    Back { path: PathId, reports: Vec<Report> },
}

/// A sender, a receiver, and what is between them.
struct Harness {
    sender: Rounds,
    receiver: Rounds,
    /// State that each of them sees.
    pictures: [Picture; 2],
    flying: VecDeque<(Instant, Flying)>,
    /// One-way delay, by path; `None`: nothing arrives.
    delays: Vec<Option<Duration>>,
    /// The path data take, and the time between two packets; `None`: nothing to send.
    current: PathId,
    pause: Option<Duration>,
    next: Instant,
    tsn: u32,
    unacked: u32,
    /// Switches as they were ordered: when, where, by which path.
    orders: Vec<(Instant, PathId, Option<PathId>)>,
    rates: Vec<(PathId, Option<u64>)>,
    trains: Vec<PathId>,
    quiet: u32,
}

impl Harness {
    /// A path a delay, ms one way.
    fn new(config: RoundsConfig, delays: &[u64]) -> Self {
        let paths = delays.len() as u8;
        let mut pictures = [Picture::new(paths), Picture::new(paths)];
        for path in pictures.iter_mut().flat_map(|p| &mut p.paths) {
            path.limit.cwnd = 1 << 20;
        }
        Harness {
            sender: Rounds::new(config),
            receiver: Rounds::new(config),
            pictures,
            flying: VecDeque::new(),
            delays: delays.iter().map(|ms| Some(Duration::from_millis(*ms))).collect(),
            current: P0,
            pause: Some(Duration::from_millis(10)),
            next: Instant::from_millis(1000),
            tsn: 1,
            unacked: 0,
            orders: Vec::new(),
            rates: Vec::new(),
            trains: Vec::new(),
            quiet: 0,
        }
    }

    fn now(&self) -> Instant {
        self.pictures[0].now
    }

    fn launch(&mut self, path: PathId, what: Flying) {
        if let Some(delay) = self.delays[path.index()] {
            let at = self.now() + delay;
            let after = self.flying.partition_point(|(t, _)| *t <= at);
            self.flying.insert(after, (at, what));
        }
    }

    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            for picture in &mut self.pictures {
                picture.now += Duration::from_millis(1);
            }
            while self.flying.front().is_some_and(|(t, _)| *t <= self.now()) {
                let (_, what) = self.flying.pop_front().expect("just seen");
                self.arrive(what);
            }
            self.ticks();
            self.send();
            self.probes();
        }
    }

    fn send(&mut self) {
        let now = self.now();
        let Some(pause) = self.pause.filter(|_| self.next <= now) else { return };
        self.next = now + pause;
        let mut reports = Vec::new();
        self.sender.reports(&self.pictures[0].view(), ReportTrigger::Data(self.current), &mut reports);
        self.pictures[0].last_path_used = Some(self.current);
        let chunk = chunk(self.tsn, &[self.current.0]);
        self.sender.on_signal(&self.pictures[0].view(), &Signal::Sent(&chunk));
        self.launch(self.current, Flying::Data { path: self.current, tsn: self.tsn, reports });
        self.tsn += 1;
    }

    fn probes(&mut self) {
        while let Some(probe) = self.sender.probe(&self.pictures[0].view()) {
            assert!(probe.padded && probe.count == 2);
            self.trains.push(probe.path);
            for _ in 0..probe.count {
                let mut reports = Vec::new();
                let trigger = ReportTrigger::Heartbeat(probe.path);
                self.sender.reports(&self.pictures[0].view(), trigger, &mut reports);
                self.launch(probe.path, Flying::Probe { path: probe.path, reports });
            }
        }
    }

    fn ticks(&mut self) {
        let ends = [(&mut self.sender, 0), (&mut self.receiver, 1)];
        for (end, i) in ends {
            if end.poll_timeout().is_some_and(|t| t <= self.pictures[i].now) {
                end.on_signal(&self.pictures[i].view(), &Signal::Tick);
                assert!(end.poll_timeout().is_none_or(|t| t > self.pictures[i].now));
            }
        }
        let mut alone = Vec::new();
        self.receiver.reports(&self.pictures[1].view(), ReportTrigger::Tick, &mut alone);
        for report in alone {
            if let Some(Notice::Switch { .. }) = Notice::read(&report) {
                self.orders.push((self.now(), report.subject.expect("a path"), report.via));
            }
            let path = report.via.unwrap_or(P0);
            self.launch(path, Flying::Back { path, reports: vec![report] });
        }
        let mut said = Vec::new();
        self.sender.reports(&self.pictures[0].view(), ReportTrigger::Tick, &mut said);
        self.quiet += said.len() as u32;
        let any = PathId(self.delays.len() as u8 - 1);
        self.hear(1, any, said);
    }

    fn hear(&mut self, end: usize, via: PathId, reports: Vec<Report>) {
        for mut report in reports {
            report.via = Some(via);
            if end == 0 {
                match Notice::read(&report) {
                    Some(Notice::Switch { .. }) => self.current = report.subject.expect("a path"),
                    Some(Notice::Rate { rate, .. }) => {
                        self.rates.push((report.subject.expect("a path"), rate));
                    }
                    _ => {}
                }
            }
            let half = if end == 0 { &mut self.sender } else { &mut self.receiver };
            half.on_signal(&self.pictures[end].view(), &Signal::Peer(&report));
        }
    }

    fn arrive(&mut self, what: Flying) {
        let (path, tsns, trigger, reports) = match what {
            Flying::Back { path, reports } => return self.hear(0, path, reports),
            Flying::Data { path, tsn, reports } => {
                (path, Some((Tsn(tsn), Tsn(tsn))), ReportTrigger::Sack(path), reports)
            }
            Flying::Probe { path, reports } => (path, None, ReportTrigger::HeartbeatAck(path), reports),
        };
        self.hear(1, path, reports);
        let rx = RxInfo {
            path,
            bytes: BYTES,
            tsns,
            new: true,
            duplicate: false,
            gap: false,
            filled: false,
            immediate: false,
            packets_since_sack: 1,
        };
        self.receiver.on_signal(&self.pictures[1].view(), &Signal::Arrived(&rx));
        self.unacked += u32::from(tsns.is_some());
        if tsns.is_none() || self.unacked.is_multiple_of(2) {
            let mut reports = Vec::new();
            self.receiver.reports(&self.pictures[1].view(), trigger, &mut reports);
            self.launch(path, Flying::Back { path, reports });
        }
    }

    fn rate(&self, path: PathId) -> Option<u64> {
        self.rates.iter().rev().find(|(p, _)| *p == path)?.1
    }
}

/// A lead that no path gets: switches for failures alone.
fn only_failures() -> RoundsConfig {
    RoundsConfig { hysteresis: 10.0, ..RoundsConfig::default() }
}

#[test]
fn each_path_has_a_rate_and_only_the_idle_one_is_probed() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(3000);
    let (path, rate) = harness.receiver.receiver().current().expect("data came");
    let rtt = rate.trip().rtt().expect("rounds");
    assert_eq!(path, P0);
    assert!((0.095..0.125).contains(&rtt), "100 ms, feedback at every second packet: {rtt}");
    assert!(
        harness.rate(P0).is_some_and(|r| r >= 90_000),
        "{:?}: a packet every 10 ms came",
        harness.rate(P0)
    );
    assert!(harness.rate(P1).is_some());
    assert!(harness.trains.iter().all(|p| *p == P1));
    assert!((20..=30).contains(&harness.trains.len()), "one per round trip: {}", harness.trains.len());
    assert!(harness.orders.is_empty());
}

/// Reading of Definition 2 and the delayed response timer: within 3 round trips, where RFC 9260's failover takes a
/// minute.
#[test]
fn a_failure_of_the_primary_path_is_left_within_three_round_trips() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(4000);
    harness.delays[0] = None;
    let failed = harness.now();
    harness.run(1000);
    let (when, path, via) = harness.orders[0];
    // Packets in transit arrive for another 50 ms.
    assert!(when - failed <= Duration::from_millis(50 + 300), "{:?} after the failure", when - failed);
    assert_eq!((path, via, harness.current), (P1, Some(P1), P1));
    assert_eq!(harness.orders.len(), 1, "once: {:?}", harness.orders);
    assert!(harness.receiver.receiver().current().is_some_and(|(p, r)| p == P1 && !r.is_silent()));
}

/// A packet of a path that fell silent may have arrived a moment ago, and the path may have the better rate.
#[test]
fn a_path_left_for_its_silence_is_no_place_to_go_until_it_is_heard() {
    let mut harness = Harness::new(RoundsConfig::default(), &[20, 50]);
    harness.run(4000);
    assert_eq!(harness.current, P0, "40 ms against 100");
    let before = harness.orders.len();
    harness.delays[0] = None;
    harness.run(5000);
    let orders = &harness.orders[before..];
    assert!(!orders.is_empty() && orders.iter().all(|(_, path, _)| *path == P1), "{orders:?}");
    assert!(orders.iter().all(|(_, _, via)| *via == Some(P1)), "nor by it: {orders:?}");
    let (after, left) = (harness.orders.len(), harness.now());
    harness.delays[0] = Some(Duration::from_millis(20));
    harness.run(20_000);
    assert!(harness.orders[after..].iter().any(|(when, path, _)| *path == P0 && *when > left), "heard again");
}

/// The path dies as the order to use it is given: what the sender has on it never comes.
#[test]
fn a_sender_on_a_dead_path_is_called_back() {
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 20]);
    while harness.current == P0 {
        harness.run(1);
        assert!(harness.now() < Instant::from_millis(10_000));
    }
    assert_eq!(harness.orders.len(), 1);
    let died = harness.now();
    harness.delays[1] = None;
    harness.run(3000);
    let (when, path, via) = harness.orders[1];
    assert_eq!((path, via, harness.current), (P0, Some(P0), P0));
    assert!(when - died <= Duration::from_millis(500), "{:?}", when - died);
    assert!(harness.orders[1..].iter().all(|(_, path, _)| *path == P0), "{:?}", harness.orders);
}

/// Serials: an old copy of the first order has no effect.
#[test]
fn an_order_that_does_not_arrive_is_taken_back_by_a_newer_one() {
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 20]);
    while harness.orders.is_empty() {
        harness.run(1);
        assert!(harness.now() < Instant::from_millis(10_000));
    }
    harness.delays[1] = None;
    harness.flying.retain(|(_, f)| !matches!(f, Flying::Back { path: P1, .. }));
    harness.run(2000);
    let paths: Vec<PathId> = harness.orders.iter().map(|(_, path, _)| *path).collect();
    assert_eq!((&paths[..2], harness.current), (&[P1, P0][..], P0));
    assert!(paths[1..].iter().all(|p| *p == P0), "no second attempt: {paths:?}");
}

/// Alg. 1 line 4, with the order on the return path that is fastest.
#[test]
fn a_faster_path_is_ordered_by_the_way_with_the_lowest_round_trip_time() {
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 20]);
    harness.pause = Some(Duration::from_millis(40));
    harness.run(6000);
    let (_, path, via) = harness.orders[0];
    assert_eq!((path, via), (P1, Some(P1)), "40 ms against 100");
    assert!(harness.trains.contains(&P0), "the former path is probed now");
}

/// Eq. 10.
#[test]
fn the_fastest_of_several_paths_is_ordered() {
    let mut harness = Harness::new(RoundsConfig::default(), &[60, 40, 15, 40]);
    harness.pause = Some(Duration::from_millis(40));
    harness.run(6000);
    assert_eq!(harness.orders[0].1, PathId(2), "windows grow with the round trips");
}

#[test]
fn one_path_leaves_nothing_to_choose_or_probe() {
    let mut harness = Harness::new(RoundsConfig::default(), &[50]);
    harness.run(3000);
    assert!(harness.rate(P0).is_some());
    harness.delays[0] = None;
    harness.run(3000);
    assert!(harness.orders.is_empty() && harness.trains.is_empty());
}

#[test]
fn a_pause_of_the_application_is_no_failure() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(4000);
    harness.pause = None;
    harness.run(60_000);
    assert_eq!((harness.quiet, harness.orders.len()), (1, 0));
    let trains = harness.trains.len();
    assert!(trains < 70, "probes end with the data: {trains}");
    harness.pause = Some(Duration::from_millis(10));
    harness.run(3000);
    assert!(harness.orders.is_empty());
    assert!(harness.trains.len() > trains, "and begin with them again");
}

/// A sender that may not send is not quiet: what it sent may be lost.
#[test]
fn a_full_window_is_no_pause() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(3000);
    harness.pause = None;
    harness.pictures[0].paths[0].in_flight = 1 << 20;
    harness.run(2000);
    assert_eq!(harness.quiet, 0);
    assert!(harness.orders.iter().all(|(_, path, _)| *path == P1) && !harness.orders.is_empty(), "a failure");
}

#[test]
fn a_full_buffer_of_the_receiver_is_no_failure() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(3000);
    harness.pause = None;
    (harness.pictures[0].rwnd, harness.pictures[0].paths[0].in_flight) = (0, 1000);
    harness.run(2000);
    assert_eq!((harness.quiet, harness.orders.len()), (1, 0));
}

#[test]
fn a_path_that_does_not_answer_is_no_alternative() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(4000);
    harness.delays[1] = None;
    harness.run(5000);
    harness.delays[0] = None;
    harness.run(3000);
    assert!(harness.orders.is_empty(), "{:?}", harness.orders);
}

#[test]
fn only_active_paths_are_ordered_and_probed() {
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 20]);
    for picture in &mut harness.pictures {
        picture.paths[1].state = PathState::PotentiallyFailed;
    }
    harness.run(4000);
    harness.delays[0] = None;
    harness.run(2000);
    assert!(harness.orders.is_empty() && harness.trains.is_empty());
}

#[test]
fn packets_are_numbered_path_by_path() {
    let picture = Picture::new(2);
    let mut rounds = Rounds::new(RoundsConfig::default());
    let mut label = |trigger| {
        let mut out = Vec::new();
        rounds.reports(&picture.view(), trigger, &mut out);
        let notice = Notice::read(&out[0]);
        match (out.len(), notice) {
            (1, Some(Notice::Label { round: 0, number })) => number,
            other => panic!("{other:?}"),
        }
    };
    let numbers = [
        ReportTrigger::Data(P0),
        ReportTrigger::Data(P1),
        ReportTrigger::Data(P0),
        ReportTrigger::Heartbeat(P1),
    ]
    .map(&mut label);
    assert_eq!(numbers, [0, 0, 1, 1]);
    let report = Notice::Label { round: u32::MAX, number: u32::MAX }.report(None);
    assert_eq!(LABEL_LEN, 4 + 8 + report.payload.len());
}

#[test]
fn a_peer_without_reports_is_told_of_and_not_probed() {
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 50]);
    harness.pictures[0].peer_reports = false;
    harness.run(3000);
    assert!(harness.trains.is_empty());
    let mut diagnostics = Vec::new();
    harness.sender.diagnostics(&harness.pictures[0].view(), &mut diagnostics);
    harness.receiver.diagnostics(&harness.pictures[1].view(), &mut diagnostics);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].starts_with("the peer does not speak REPORT"));
}

#[test]
fn a_peer_that_keeps_no_rounds_is_told_of() {
    let diagnostics = |harness: &Harness| {
        let mut diagnostics = Vec::new();
        harness.sender.diagnostics(&harness.pictures[0].view(), &mut diagnostics);
        diagnostics
    };
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 50]);
    harness.run(5000);
    assert!(harness.rate(P0).is_some() && diagnostics(&harness).is_empty());
    let mut harness = Harness::new(RoundsConfig::default(), &[50, 50]);
    harness.delays = vec![None; 2];
    harness.run(2500);
    assert!(diagnostics(&harness).is_empty(), "it may still come");
    harness.run(2500);
    assert!(diagnostics(&harness)[0].starts_with("the peer gives no rates"), "{:?}", diagnostics(&harness));
}

#[test]
fn a_slot_used_again_begins_anew() {
    let mut harness = Harness::new(only_failures(), &[50, 50]);
    harness.run(3000);
    harness.pictures[1].paths[0].state = PathState::Closed;
    harness.receiver.on_signal(&harness.pictures[1].view(), &Signal::PathChanged(P0));
    assert!(harness.receiver.receiver().current().is_none());
    assert_eq!(harness.receiver.poll_timeout(), None);
}
