//! Lost chunks that the loss policy leaves to the scheduler: the reports to the scheduler, and the paths of the chunks.

use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::policy::{
    AckInfo, Assignment, Backlog, ChunkInfo, CongestionControl, Limit, LossCause, LossPolicy, Parts, PathId,
    PathSet, Policy, Retransmit, Scheduler, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// Finds losses as the simple scheme does, and leaves all of them to the scheduler.
#[derive(Debug)]
struct Leaves(plain::Split);
impl Policy for Leaves {}
impl LossPolicy for Leaves {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.0.misses(view, ack, chunk)
    }

    fn retransmit(&mut self, _: &View<'_>, _: &ChunkInfo, _: LossCause) -> Retransmit {
        Retransmit::Requeue
    }
}

/// The bound over all paths until something is lost, bytes.
const AGGREGATE: u64 = 16_000;

/// Questions to a scheduler, and the bytes in flight at the time.
type Asked = Arc<Mutex<Vec<(Backlog, u64)>>>;

/// Sends everything on all of its paths that have room, and records the questions.
#[derive(Debug)]
struct RecordingScheduler {
    paths: Vec<PathId>,
    asked: Asked,
}
impl Policy for RecordingScheduler {}
impl Scheduler for RecordingScheduler {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.asked.lock().expect("no test panics with it").push((*backlog, view.in_flight));
        let with_room = self.paths.iter().copied().filter(|p| view[*p].has_room()).collect();
        Some(Assignment { paths: with_room, chunks: 1, ..Assignment::default() })
            .filter(|a| !a.paths.is_empty())
    }
}

/// One window per path, and a bound over all of them, which the first loss halves.
#[derive(Debug)]
struct Bounded(u64);
impl Policy for Bounded {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        if matches!(signal, Signal::LossEvent { .. }) {
            self.0 = AGGREGATE / 2;
        }
    }
}
impl CongestionControl for Bounded {
    fn limit(&self, _: PathId) -> Limit {
        Limit { cwnd: 48_000, ssthresh: None, pacing: None }
    }

    fn aggregate(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// A connected pair whose client requeues, on these paths in windows of `window` bytes, and the questions to its
/// scheduler.
fn connected_pair(delays_ms: &[u64], window: u64, paths: &[PathId], bounded: bool) -> (TestPair, Asked) {
    let asked = Asked::default();
    let scheduler = RecordingScheduler { paths: paths.to_vec(), asked: Arc::clone(&asked) };
    let parts = plain::parts(window);
    let cc = if bounded { Box::new(Bounded(AGGREGATE)) } else { parts.cc };
    let mut w = TestPair::new(delays_ms, config(), 5);
    w.connect_with(Box::new(Parts {
        loss: Box::new(Leaves(plain::Split)),
        scheduler: Box::new(scheduler),
        cc,
        ..parts
    }));
    w.run(ms(3000));
    (w, asked)
}

/// Loses the client's DATA packets whose numbers, from 0 on, are in `lost`.
fn lose(w: &mut TestPair, lost: impl Fn(usize) -> bool + 'static) {
    let mut seen = 0;
    w.filter = Box::new(move |_, from, _, bytes| {
        if from != CLIENT || bytes.get(12) != Some(&0) {
            return true;
        }
        seen += 1;
        !lost(seen - 1)
    });
}

fn message(w: &mut TestPair, n: usize, lifetime: Duration) -> Instant {
    let options = SendOptions { lifetime: Some(lifetime), ..SendOptions::default() };
    w.send(CLIENT, pattern(n * 1000, 1000), options);
    w.now + lifetime
}

fn messages(w: &mut TestPair, count: usize) {
    for n in 0..count {
        message(w, n, Duration::from_secs(100));
    }
}

fn again(asked: &Asked) -> Vec<Backlog> {
    let asked = asked.lock().expect("no test panics with it");
    asked.iter().map(|(b, _)| *b).filter(|b| b.retransmission).collect()
}

fn consistent(w: &TestPair) {
    [CLIENT, SERVER].into_iter().for_each(|side| w.association(side).assert_consistent());
}

/// The first of eight messages is lost and expires before those that wait after it: the lost one is offered to the
/// scheduler, and its bytes are among those that wait.
#[test]
fn the_backlog_describes_the_requeued_chunk_not_the_head_of_the_queue() {
    let (mut w, asked) = connected_pair(&[20], 5000, &[P0], false);
    lose(&mut w, |n| n == 0);
    let expires = message(&mut w, 0, Duration::from_secs(143));
    for n in 1..12 {
        message(&mut w, n, Duration::from_secs(158));
    }
    w.run(ms(2000));
    let first = again(&asked)[0];
    assert_eq!(first.next_expires, Some(expires));
    assert_eq!((first.next_len, first.tried), (1016, PathSet::one(P0)));
    // Nothing else was lost, so that all whole messages wait except those sent before.
    assert_eq!(first.bytes, 1000 * (first.messages as u64 + 1), "{first:?}");
    assert!(first.messages > 0, "the queue was not empty: {first:?}");
    assert_eq!(w.received(SERVER), pattern(0, 12_000));
    consistent(&w);
}

/// With nothing else to send, only the lost data wait.
#[test]
fn a_requeued_chunk_is_what_waits_when_the_queue_is_empty() {
    let (mut w, asked) = connected_pair(&[20], 48_000, &[P0], false);
    lose(&mut w, |n| n == 1);
    let expires = [0, 1, 2, 3, 4, 5].map(|n| message(&mut w, n, Duration::from_secs(100 + n as u64)));
    w.run(ms(2000));
    let told = again(&asked);
    assert_eq!(told.len(), 1, "sent as soon as it was asked about");
    assert_eq!((told[0].bytes, told[0].messages), (1000, 0));
    assert_eq!(told[0].next_expires, Some(expires[1]));
    assert_eq!(w.received(SERVER), pattern(0, 6000));
}

/// A timeout loses all six at once: from the first question on, all waiting chunks are counted.
#[test]
fn all_that_was_requeued_counts_from_the_first_question_on() {
    let (mut w, asked) = connected_pair(&[20], 48_000, &[P0], false);
    lose(&mut w, |n| n < 6);
    messages(&mut w, 6);
    w.run(ms(20_000));
    // Max.Burst blocks a chunk that was asked about: it is asked about again.
    let mut told: Vec<u64> = again(&asked).iter().map(|b| b.bytes).collect();
    told.dedup();
    assert_eq!(told, [6000, 5000, 4000, 3000, 2000, 1000]);
    assert_eq!(w.received(SERVER), pattern(0, 6000));
    consistent(&w);
}

/// An assignment of two paths puts a copy on each, for lost chunks as for new ones. Both copies of the first message
/// are lost, and one copy of the second transmission.
#[test]
fn a_requeued_chunk_is_copied_on_every_assigned_path() {
    let (mut w, asked) = connected_pair(&[20, 30], 48_000, &[P0, P1], false);
    lose(&mut w, |n| n < 2);
    messages(&mut w, 6);
    w.run(ms(5000));
    let told = again(&asked);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].tried, [P0, P1].into_iter().collect());
    let stats = |p| w.association(CLIENT).path_stats(p).expect("it exists").clone();
    assert_eq!([P0, P1].map(|p| stats(p).retransmissions), [1, 1]);
    assert_eq!([P0, P1].map(|p| stats(p).chunks_sent), [7, 7]);
    assert_eq!(w.received(SERVER), pattern(0, 6000));
    consistent(&w);
}

/// The bound over all paths also holds for requeued chunks: after the loss there is more in flight than it admits.
#[test]
fn requeued_chunks_keep_to_the_aggregate() {
    let (mut w, asked) = connected_pair(&[20], 48_000, &[P0], true);
    lose(&mut w, |n| n == 4);
    messages(&mut w, 100);
    w.run(ms(60_000));
    let asked = asked.lock().expect("no test panics with it");
    let flights: Vec<u64> =
        asked.iter().filter(|(b, _)| b.retransmission).map(|(_, flight)| *flight).collect();
    assert!(!flights.is_empty() && flights.iter().all(|f| *f < AGGREGATE / 2), "{flights:?} bytes in flight");
    assert_eq!(w.received(SERVER), pattern(0, 100_000));
}

/// Losses, copies and joins at random: the counts agree all the time and everything arrives.
#[test]
fn requeueing_survives_bad_wires() {
    for seed in 1..=6u64 {
        let (mut w, _) = connected_pair(&[10, 25, 60], 20_000, &[P0, P1, PathId(2)], false);
        for (i, wire) in w.wires.iter_mut().enumerate() {
            (wire.loss, wire.jitter) = (0.05 * (i as f64 + seed as f64) / 2.0, ms(5 * seed));
        }
        for n in 0..200 {
            w.send(CLIENT, pattern(n * 1000, 1000), SendOptions::default());
            w.run(ms(3));
            consistent(&w);
        }
        let done = w.run_until(ms(240_000), |w| w.received(SERVER).len() >= 200_000);
        assert!(done, "seed {seed}: {:?}", w.association(CLIENT).stats());
        assert_eq!(w.received(SERVER), pattern(0, 200_000), "seed {seed}");
    }
}
