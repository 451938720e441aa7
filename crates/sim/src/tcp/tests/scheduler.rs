//! Views, signals and decisions of a scheduler.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use strandcast_proto::association::HeldBy;
use strandcast_proto::policy::{Assignment, Backlog, Blocked, GiveUp, PathSet, PathState, Scheduler};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_schemes::schedule::{Redundant, RoundRobin};

use super::multipath::{ack, sent, several, two_by};
use super::stream::transfer_by;
use super::*;
use crate::tcp::subflow::{Mode, Phase, Subflow};

/// A request to a scheduler: state and room of each path, and the waiting data.
#[derive(Clone, Debug)]
struct Asked {
    paths: Vec<(PathState, bool)>,
    backlog: Backlog,
    blocked: Option<Blocked>,
}

/// Requests and signals that a scheduler received.
#[derive(Default, Debug)]
struct Log {
    asked: Vec<Asked>,
    changed: Vec<(PathId, PathState)>,
    sent: Vec<PathId>,
    blocked: Option<Blocked>,
}

/// Answers with `answer`, requests a `Tick` at `due`, and records everything.
struct Scripted<F> {
    answer: F,
    due: Arc<Mutex<Option<Instant>>>,
    log: Arc<Mutex<Log>>,
}

impl<F> core::fmt::Debug for Scripted<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Scripted")
    }
}

impl<F: Send> Policy for Scripted<F> {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        let mut log = self.log.lock().unwrap();
        log.blocked = view.blocked;
        match signal {
            Signal::PathChanged(path) => log.changed.push((*path, view[*path].state)),
            Signal::Sent(chunk) => log.sent.push(chunk.path()),
            Signal::Tick => *self.due.lock().unwrap() = None,
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        *self.due.lock().unwrap()
    }
}

impl<F: FnMut(&View<'_>, &Backlog) -> Option<Assignment> + Send> Scheduler for Scripted<F> {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let paths = view.paths.iter().map(|p| (p.state, p.has_room())).collect();
        let asked = Asked { paths, backlog: *backlog, blocked: view.blocked };
        self.log.lock().unwrap().asked.push(asked);
        (self.answer)(view, backlog)
    }
}

type Shared<T> = Arc<Mutex<T>>;

fn scripted<F>(answer: F) -> (Box<dyn Scheduler>, Shared<Log>, Shared<Option<Instant>>)
where
    F: FnMut(&View<'_>, &Backlog) -> Option<Assignment> + Send + 'static,
{
    let (log, due) = (Shared::<Log>::default(), Shared::default());
    (Box::new(Scripted { answer, due: Arc::clone(&due), log: Arc::clone(&log) }), log, due)
}

fn on(path: u8) -> Option<Assignment> {
    Some(Assignment::on(PathId(path), 1))
}

/// Any answer: nothing for a while, several paths, none, unknown ones, any number of chunks.
fn wild(
    mut random: Random,
    due: Shared<Option<Instant>>,
) -> impl FnMut(&View<'_>, &Backlog) -> Option<Assignment> {
    move |view, _| {
        *due.lock().unwrap() = Some(view.now + Duration::from_millis(5));
        if random.chance(0.2) {
            return random.chance(0.5).then(|| Assignment::nowhere(GiveUp::TooLate));
        }
        let paths = (0..=random.below(3)).map(|_| PathId(random.below(5) as u8)).collect();
        Some(Assignment { paths, chunks: random.below(4) as u32, ..Assignment::default() })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The exact stream arrives for any answers of a scheduler. At each request its view has room exactly
    /// where the subflow has room for the next segment, and prefers subflows that are not in slow start after
    /// a timeout.
    #[test]
    fn the_view_is_what_subflows_say(
        seed: u64,
        rates in prop::collection::vec(0.0f64..0.4, 1..4),
        recovery in prop::sample::select(vec![Recovery::NewReno, Recovery::Sack]),
        max_burst in 0u32..4,
        handshake: bool,
        bytes in 1u64..100_000,
    ) {
        let random = Seeds::new(seed, 1).stream("answers");
        let due = Shared::default();
        let log = Shared::<Log>::default();
        let answer = wild(random, Arc::clone(&due));
        let scheduler = Box::new(Scripted { answer, due, log: Arc::clone(&log) });
        let config = several(Config { max_burst, handshake, ..config(recovery) });
        let sender = Sender::multipath(config, reno(4), scheduler);
        transfer_by(sender, bytes, &rates, seed, |sender, now| {
            let says = |sender: &Sender, len: u64| -> Vec<(Phase, Mode, bool)> {
                let rooms = sender.subflows.iter().enumerate();
                let room = |(i, s): (usize, &Subflow)| s.has_room(len as u32, sender.windows.cwnd(i), &sender.config);
                rooms.map(|(i, s)| (s.phase, s.mode, room((i, s)))).collect()
            };
            let lens = [MSS, bytes % MSS];
            let said = lens.map(|len| says(sender, len));
            log.lock().unwrap().asked.clear();
            let segment = sender.poll_output(now);
            for asked in &log.lock().unwrap().asked {
                let said = &said[usize::from(asked.backlog.next_len != MSS)];
                let worst = said.iter().filter(|s| s.0 == Phase::Open).all(|s| s.1 == Mode::Loss);
                for (id, ((state, room), (phase, mode, has_room))) in asked.paths.iter().zip(said).enumerate() {
                    let tried = asked.backlog.tried.contains(PathId(id as u8));
                    prop_assert_eq!(*room, *has_room && !tried);
                    let active = *phase == Phase::Open && (worst || *mode != Mode::Loss);
                    prop_assert_eq!(*state == PathState::Active, active);
                }
                prop_assert!(asked.paths.iter().any(|(state, room)| *room && *state == PathState::Active));
            }
            Ok(segment)
        })?;
    }
}

/// The scheduler decides for the number of segments in its answer, while the path has room.
#[test]
fn the_scheduler_decides_the_subflow() {
    let mut answers = [Assignment::on(PathId(0), 2), Assignment::on(PathId(1), 9)].into_iter();
    let (scheduler, log, _) = scripted(move |_, _| answers.next());
    let mut s = two_by(config(Recovery::Sack), 3, [90, 30], scheduler);
    assert_eq!(sent(&mut s), [(0, 0), (0, 1), (1, 2), (1, 3), (1, 4)]);
    let log = log.lock().unwrap();
    assert_eq!(log.sent, [0, 0, 1, 1, 1].map(PathId), "it receives them");
    assert_eq!(log.asked.len(), 3, "once for each answer, and once more");
    let backlog = &log.asked[0].backlog;
    assert_eq!((backlog.next_len, backlog.retransmission, backlog.tried), (MSS, false, PathSet::default()));
    assert!(backlog.bytes > 1 << 30, "the application never ends");
}

/// The rotations of classic concurrent transfer: a window, or a packet.
#[test]
fn schedulers_of_associations_run_unchanged() {
    let mut s = two_by(config(Recovery::Sack), 3, [90, 30], Box::<RoundRobin>::default());
    assert_eq!(sent(&mut s), [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]);
}

/// `None` holds everything until the next event; a requested time arrives as a `Tick`.
#[test]
fn nothing_is_sent_while_the_scheduler_holds() {
    let open = Shared::<bool>::default();
    let decides = Arc::clone(&open);
    let (scheduler, log, due) = scripted(move |_, _| if *decides.lock().unwrap() { on(0) } else { None });
    let mut s = two_by(config(Recovery::Sack), 2, [90, 30], scheduler);
    let asked = |n: usize| assert_eq!(log.lock().unwrap().asked.len(), n);
    assert_eq!(sent(&mut s), []);
    assert_eq!(s.sender.held_back(), Some(HeldBy::Scheduler));
    asked(1);
    assert_eq!(sent(&mut s), []);
    asked(1);
    *due.lock().unwrap() = Some(ms(2500));
    assert_eq!(s.sender.poll_timeout(), Some(ms(2500)));
    *open.lock().unwrap() = true;
    s.now = ms(2500);
    s.sender.handle_timeout(s.now);
    assert_eq!(s.sender.limits(s.now).scheduler, Duration::from_millis(500));
    assert_eq!(sent(&mut s), [(0, 0), (0, 1)]);
    *open.lock().unwrap() = false;
    assert_eq!(ack(&mut s, 0, 1, 1), []);
    *open.lock().unwrap() = true;
    // Window 3 after the first acknowledgement, 4 after the second.
    assert_eq!(ack(&mut s, 0, 2, 2), [(0, 2), (0, 3), (0, 4), (0, 5)]);
}

/// An answer without a path that has room also holds, and so does one that abandons data, which TCP cannot
/// do.
#[test]
fn what_can_not_be_done_is_held() {
    for answer in
        [Assignment::nowhere(GiveUp::TooLate), Assignment::on(PathId(7), 1), Assignment::on(PathId(0), 0)]
    {
        let (scheduler, log, _) = scripted(move |_, _| Some(answer.clone()));
        let mut s = two_by(config(Recovery::Sack), 2, [90, 30], scheduler);
        assert_eq!(sent(&mut s), []);
        assert_eq!(log.lock().unwrap().asked.len(), 1);
    }
}

/// A subflow that leaves appears in the view and in a signal, its assignment ends, and its data are decided
/// again.
#[test]
fn a_subflow_that_leaves_is_chosen_no_more() {
    let (scheduler, log, _) = scripted(|view: &View<'_>, _: &Backlog| {
        let path = view.usable_paths().filter(|p| p.has_room()).last()?.id;
        Some(Assignment::on(path, 100))
    });
    let mut s = two_by(config(Recovery::Sack), 2, [90, 30], scheduler);
    assert_eq!(sent(&mut s), [(1, 0), (1, 1), (0, 2), (0, 3)]);
    s.sender.remove_subflow(s.now, 1);
    assert_eq!(ack(&mut s, 0, 2, 0), [(0, 0), (0, 1), (0, 4)]);
    let log = log.lock().unwrap();
    let changes: Vec<_> =
        log.changed.iter().filter(|(path, _)| path.0 == 1).map(|(_, state)| *state).collect();
    assert_eq!(changes, [PathState::Unconfirmed, PathState::Active, PathState::Closed], "each once");
    let again: Vec<_> = log.asked.iter().filter(|asked| asked.backlog.retransmission).collect();
    assert!(again.len() >= 2 && again.iter().all(|a| a.backlog.tried == PathSet::one(PathId(1))));
    let endless = log.asked[0].backlog.bytes;
    assert_eq!(again[0].backlog.bytes, endless + 2 * MSS, "both segments wait for it");
}

/// Slow start after a timeout is `PotentiallyFailed` until all data sent before it were acknowledged.
#[test]
fn a_timeout_is_seen() {
    let (scheduler, log, _) = scripted(|view: &View<'_>, _: &Backlog| {
        let path = view.usable_paths().find(|p| p.has_room())?.id;
        Some(Assignment::on(path, 1))
    });
    let mut s = two_by(config(Recovery::Sack), 1, [90, 30], scheduler);
    assert_eq!(sent(&mut s), [(0, 0), (1, 1)]);
    s.now = ms(2100);
    assert_eq!(ack(&mut s, 1, 1, 0), [(1, 2), (1, 3)]);
    let due = s.sender.subflows[0].timer.unwrap();
    s.now = due;
    s.sender.handle_timeout(due);
    assert_eq!(sent(&mut s)[0], (0, 0), "it sends its own again");
    let last = |n: usize| log.lock().unwrap().changed.iter().rev().take(n).rev().copied().collect::<Vec<_>>();
    assert!(last(2).contains(&(PathId(0), PathState::PotentiallyFailed)), "{:?}", last(2));
    ack(&mut s, 0, 1, 1);
    assert_eq!(last(1), [(PathId(0), PathState::Active)]);
}

/// Copies leave on each path with room; the remaining ones leave later, unless they are acknowledged before.
#[test]
fn a_redundant_scheduler_sends_copies() {
    let mut s = two_by(config(Recovery::Sack), 2, [90, 30], Box::new(Redundant::new(2)));
    assert_eq!(sent(&mut s), [(1, 0), (0, 0), (1, 1), (0, 1)]);
    // Windows grow by a segment per acknowledgement: the faster one runs ahead.
    assert_eq!(ack(&mut s, 1, 2, 2), [(1, 2), (1, 3), (1, 4)]);
    assert_eq!(ack(&mut s, 1, 4, 4), [(1, 5), (1, 6), (1, 7)]);
    assert_eq!(s.sender.stats(0).copies, 2);
    // The other one still owes 2 to 7; 2 and 3 have arrived.
    assert_eq!(ack(&mut s, 0, 2, 4), [(0, 4), (0, 5), (0, 6)]);
    assert_eq!((s.sender.stats(0).copies, s.sender.stats(1).copies), (5, 0));
}

/// The segment at the edge of a full receive window, and its subflow.
#[test]
fn a_full_receive_window_is_seen() {
    let (scheduler, log, _) = scripted(|view: &View<'_>, _: &Backlog| {
        let path = view.usable_paths().filter(|p| p.has_room()).min_by_key(|p| p.srtt)?.id;
        Some(Assignment::on(path, 1))
    });
    let receive_window = 6 * MSS;
    let mut s = two_by(Config { receive_window, ..config(Recovery::Sack) }, 3, [400, 30], scheduler);
    assert_eq!(sent(&mut s), [(1, 0), (1, 1), (1, 2), (0, 3), (0, 4), (0, 5)]);
    assert_eq!(ack(&mut s, 1, 3, 3), [(1, 6), (1, 7), (1, 8)]);
    assert!(log.lock().unwrap().asked.iter().all(|asked| asked.blocked.is_none()));
    s.now = ms(2020);
    assert_eq!(ack(&mut s, 1, 6, 3), []);
    s.now = ms(2030);
    assert_eq!(ack(&mut s, 0, 1, 4), [(1, 9)]);
    assert_eq!(log.lock().unwrap().blocked, None, "when 9 left");
    s.now = ms(2040);
    assert_eq!(ack(&mut s, 1, 7, 4), []);
    let blocked = log.lock().unwrap().blocked.expect("4 is on the slower one");
    assert_eq!((blocked.path, blocked.tsn, blocked.since), (PathId(0), Tsn(1), ms(2030)));
}

/// Sends on the first subflow while that has room, and requests a penalty for it otherwise.
#[derive(Debug)]
struct Impatient;

impl Policy for Impatient {}

impl Scheduler for Impatient {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        view.paths[0].has_room().then(|| Assignment::on(PathId(0), 1))
    }

    fn penalise(&mut self, _: &View<'_>) -> Option<PathId> {
        Some(PathId(0))
    }
}

/// A subflow that the scheduler penalises loses half of its window, at most once per its round trip.
#[test]
fn a_scheduler_has_subflows_penalised_once_per_round_trip() {
    let mut s = two_by(config(Recovery::Sack), 8, [400, 30], Box::new(Impatient));
    let penalties = |s: &Script| s.sender.stats(0).penalties;
    assert_eq!(sent(&mut s).len(), 8);
    assert_eq!((penalties(&s), s.sender.path(0).limit.cwnd), (1, 4 * MSS));
    s.now = ms(2399);
    assert_eq!(ack(&mut s, 0, 1, 1), []);
    assert_eq!(penalties(&s), 1, "a round trip is not over");
    s.now = ms(2400);
    assert_eq!(ack(&mut s, 0, 2, 2), []);
    assert_eq!(penalties(&s), 2);
    assert_eq!(s.sender.stats(1).penalties, 0);
}
