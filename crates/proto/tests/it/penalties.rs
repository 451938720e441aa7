//! Penalties: how often a path's window is cut because it blocks others, at which request, and by which rules.

use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Assignment, Backlog, Estimate, HeadOfLineConfig, LossTrigger, Parts, PathEstimator, PathId, Policy,
    Scheduler, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// Penalties: time, path, and round-trip time there.
type Penalties = Arc<Mutex<Vec<(Instant, PathId, Duration)>>>;

#[derive(Debug)]
struct Listens(Penalties);
impl Policy for Listens {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if let Signal::LossEvent { path, trigger: LossTrigger::HeadOfLine, .. } = signal {
            let srtt = view[*path].srtt.expect("data were acknowledged there");
            self.0.lock().expect("no test panics with it").push((view.now, *path, srtt));
        }
    }
}
impl PathEstimator for Listens {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}

/// Uses paths in turn, one chunk each. With `waits` it holds data back while the first path is full. It requests
/// penalties of a path for it.
#[derive(Debug)]
struct Blames {
    who: PathId,
    waits: bool,
    asked: Arc<Mutex<u32>>,
}
impl Policy for Blames {}
impl Scheduler for Blames {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let after = view.last_path_used.map_or(0, |p| p.index() + 1);
        let room: Vec<PathId> = view.usable_paths().filter(|p| p.has_room()).map(|p| p.id).collect();
        let next = room.iter().find(|p| p.index() >= after).or(room.first());
        let waits = self.waits && !room.contains(&P0);
        next.filter(|_| !waits).map(|p| Assignment::on(*p, 1))
    }

    fn penalise(&mut self, _: &View<'_>) -> Option<PathId> {
        *self.asked.lock().expect("no test panics with it") += 1;
        Some(self.who)
    }
}

/// Sends 900 messages over a path of 20 ms and one of 200 ms. Returns the penalties, and how often the scheduler was
/// asked for one.
fn blamed(
    who: PathId,
    waits: bool,
    receive_buffer: u32,
) -> (TestPair, Vec<(Instant, PathId, Duration)>, u32) {
    let (penalties, asked) = (Penalties::default(), Arc::default());
    let scheduler = Blames { who, waits, asked: Arc::clone(&asked) };
    let transport = TransportConfig { receive_buffer, ..config() };
    let mut w = TestPair::new(&[10, 100], transport, 5);
    w.connect_with(Box::new(Parts {
        estimators: vec![Box::new(Listens(Arc::clone(&penalties)))],
        scheduler: Box::new(scheduler),
        ..plain::parts(16_000)
    }));
    w.run(ms(3000));
    bulk(&mut w, 900);
    let penalties = penalties.lock().expect("no test panics with it").clone();
    let asked = *asked.lock().expect("no test panics with it");
    (w, penalties, asked)
}

fn bulk(w: &mut TestPair, n: usize) {
    for i in 0..n {
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
    }
    assert!(w.run_until(ms(60_000), |w| w.apps[SERVER].messages.len() >= n), "all arrives");
    assert!(w.received(SERVER) == pattern(0, n * 1000), "and unharmed");
    w.association(CLIENT).assert_consistent();
}

fn count(w: &TestPair, path: PathId) -> u64 {
    w.association(CLIENT).path_stats(path).expect("a path").penalties
}

/// A scheduler that holds data back, and one whose data a full receive window blocks, can have a path penalised at any
/// time, but at most once per round trip of it.
#[test]
fn a_scheduler_has_a_path_penalised_once_per_round_trip() {
    for (waits, receive_buffer) in [(true, 1 << 20), (false, 24_000)] {
        let (w, penalties, asked) = blamed(P1, waits, receive_buffer);
        assert!(penalties.len() > 2, "waits {waits}: {penalties:?}");
        assert!(asked as usize > 2 * penalties.len(), "asked {asked} times, {} penalties", penalties.len());
        assert!(penalties.iter().all(|(_, path, _)| *path == P1), "{penalties:?}");
        for pair in penalties.windows(2) {
            assert!(pair[1].0 - pair[0].0 >= pair[1].2, "waits {waits}: {pair:?}");
        }
        assert_eq!((count(&w, P0), count(&w, P1)), (0, penalties.len() as u64));
    }
}

/// Paths that never existed, and one beyond the size of a set of paths.
#[test]
fn answers_without_sense_do_nothing() {
    for who in [2, 31, 200, 255] {
        let (w, penalties, asked) = blamed(PathId(who), true, 1 << 20);
        assert!(asked > 0);
        assert_eq!((penalties.len(), count(&w, P0), count(&w, P1)), (0, 0, 0), "path {who}");
    }
}

/// Number of copies sent, and of penalties on the two paths, with these rules, if a slow path fills the peer's window.
fn relieved(head_of_line: Option<HeadOfLineConfig>) -> (u64, u64) {
    let transport = TransportConfig { receive_buffer: 24_000, head_of_line, ..config() };
    let mut w = TestPair::new(&[10, 100], transport, 5);
    w.connect_with(plain::windowed(16_000));
    w.run(ms(3000));
    bulk(&mut w, 400);
    assert_eq!(count(&w, P0), 0, "the fast path holds no other up");
    (w.association(CLIENT).path_stats(P0).expect("a path").opportunistic, count(&w, P1))
}

/// Raiciu et al. 2012, section 4.2: its two mechanisms, each by itself, by either set of rules.
#[test]
fn copies_and_penalties_are_switched_apart() {
    assert_eq!(relieved(None), (0, 0));
    for config in [HeadOfLineConfig::SOONER, HeadOfLineConfig::LINUX] {
        let (copies, penalties) = relieved(Some(config));
        assert!(copies > 0 && penalties > 0, "{config:?}: {copies} copies, {penalties} penalties");
        let (copies, penalties) = relieved(Some(HeadOfLineConfig { penalty: false, ..config }));
        assert!(copies > 0, "{config:?}: no copies");
        assert_eq!(penalties, 0, "{config:?}");
    }
}
