//! The contract test itself: it accepts what is right and refuses what is broken.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use strandcast_proto::policy::{
    AckInfo, Act, Assignment, Backlog, ChunkInfo, CongestionControl, Flight, Limit, LossCause, LossPolicy,
    LossTrigger, Parts, PathId, PathSet, PathState, Policy, Retransmit, Scheduler, Scheme, Signal,
    SymbolAssignment, SymbolChoice, View,
};
use strandcast_proto::rfc;
use strandcast_proto::time::Instant;

use super::{CASES, Model, check, replay};

#[test]
fn the_rfc_default_keeps_the_contract() {
    check("sctp", || Box::new(rfc::scheme()));
}

#[derive(Debug)]
struct Mute;
impl Policy for Mute {}
impl Scheduler for Mute {
    fn next(&mut self, _: &View<'_>, _: &Backlog) -> Option<Assignment> {
        None
    }
}

#[test]
#[should_panic(expected = "nothing in flight, data waiting")]
fn a_scheduler_that_never_sends_is_refused() {
    replay("mute", 0, || Box::new(Parts { scheduler: Box::new(Mute), ..rfc::scheme() }));
}

/// Sends messages as the default does, and symbols as a function decides.
#[derive(Debug)]
struct Codes(fn(&View<'_>) -> Option<SymbolAssignment>);
impl Policy for Codes {}
impl Scheduler for Codes {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        rfc::scheme().scheduler.next(view, backlog)
    }

    fn next_symbol(&mut self, view: &View<'_>, _: &Backlog) -> Option<SymbolAssignment> {
        (self.0)(view)
    }
}

fn codes(choose: fn(&View<'_>) -> Option<SymbolAssignment>) {
    replay("codes", 0, || Box::new(Parts { scheduler: Box::new(Codes(choose)), ..rfc::scheme() }));
}

fn symbol(view: &View<'_>, block: u32, what: SymbolChoice) -> Option<SymbolAssignment> {
    let path = view.usable_paths().find(|p| p.has_room())?.id;
    Some(SymbolAssignment { path, block, what })
}

#[test]
fn repair_symbols_until_each_block_is_done_keep_the_contract() {
    codes(|view| {
        let block = view.blocks.iter().find(|b| b.closed)?;
        symbol(view, block.number, SymbolChoice::Repair)
    });
}

#[test]
#[should_panic(expected = "nothing in flight, nothing sent")]
fn blocks_without_symbols_are_refused() {
    codes(|_| None);
}

#[test]
#[should_panic(expected = "repair of an open block")]
fn repair_of_an_open_block_is_refused() {
    codes(|view| symbol(view, view.blocks.last()?.number, SymbolChoice::Repair));
}

#[test]
#[should_panic(expected = "all were sent")]
fn a_source_symbol_that_is_not_there_is_refused() {
    codes(|view| symbol(view, view.blocks.first()?.number, SymbolChoice::Source));
}

#[test]
#[should_panic(expected = "no such block")]
fn a_symbol_of_no_block_is_refused() {
    codes(|view| symbol(view, view.blocks.last()?.number.wrapping_add(1), SymbolChoice::Source));
}

/// Needs an estimate before it sends, and nothing gives one.
#[derive(Debug)]
struct Waits;
impl Policy for Waits {}
impl CongestionControl for Waits {
    fn limit(&self, _: PathId) -> Limit {
        Limit::default()
    }
}

#[test]
#[should_panic(expected = "has no window")]
fn a_window_of_nothing_is_refused() {
    replay("waits", 0, || Box::new(Parts { cc: Box::new(Waits), ..rfc::scheme() }));
}

/// Acts as a function says.
#[derive(Debug)]
struct Acts(fn(&View<'_>, &Flight<'_>) -> Option<Act>);
impl Policy for Acts {
    fn hears_arrivals(&self) -> bool {
        true
    }

    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        (self.0)(view, flight)
    }
}
impl LossPolicy for Acts {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        rfc::scheme().loss.misses(view, ack, chunk)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        rfc::scheme().loss.retransmit(view, chunk, cause)
    }
}

fn acts(act: fn(&View<'_>, &Flight<'_>) -> Option<Act>) {
    check("acts", || Box::new(Parts { loss: Box::new(Acts(act)), ..rfc::scheme() }));
}

/// Chunks in flight for long are lost, and chunks in flight for a while are copied to a path that has room.
#[test]
fn acts_that_come_to_an_end_keep_the_contract() {
    acts(|view, flight| {
        let old = |path: PathId, ms: u64| {
            let before = view.now - core::time::Duration::from_millis(ms);
            flight.on(path).find(|c| c.on(path).is_some_and(|t| t.at < before)).map(|c| (before, c))
        };
        let lost = view.paths.iter().find_map(|p| Some((p.id, old(p.id, 1500)?.0)));
        if let Some((path, sent_before)) = lost {
            return Some(Act::Lose { path, sent_before, cause: LossCause::PathFailure });
        }
        let room = view.usable_paths().find(|p| p.has_room())?.id;
        let others = view.paths.iter().map(|p| p.id).filter(|p| *p != room);
        let mut doubtful = others.filter_map(|p| Some(old(p, 300)?.1)).filter(|c| c.on(room).is_none());
        Some(Act::Copy { tsn: doubtful.next()?.tsn, to: room })
    });
}

#[test]
#[should_panic(expected = "acts without end")]
fn acts_without_end_are_refused() {
    acts(|_, _| Some(Act::Drop { group: 1 }));
}

/// Its timer never moves.
#[derive(Debug)]
struct Stuck;
impl Policy for Stuck {
    fn poll_timeout(&self) -> Option<Instant> {
        Some(Instant::from_millis(5100))
    }
}
impl strandcast_proto::policy::Feedback for Stuck {}

#[test]
#[should_panic(expected = "after Tick")]
fn a_timer_that_does_not_move_on_is_refused() {
    replay("stuck", 0, || Box::new(Parts { feedback: Box::new(Stuck), ..rfc::scheme() }));
}

/// Remembers something from outside its input.
#[derive(Debug)]
struct Fickle(u64);
impl Policy for Fickle {}
impl CongestionControl for Fickle {
    fn limit(&self, _: PathId) -> Limit {
        Limit { cwnd: 10_000 + self.0, ssthresh: None, pacing: None }
    }
}

#[test]
#[should_panic(expected = "same input, other output")]
fn a_scheme_that_does_not_repeat_is_refused() {
    let calls = core::cell::Cell::new(0);
    let build = || -> Box<dyn Scheme> {
        calls.set(calls.get() + 1);
        Box::new(Parts { cc: Box::new(Fickle(calls.get())), ..rfc::scheme() })
    };
    replay("fickle", 0, build);
}

/// Reports everything that it sees, twice.
#[derive(Debug)]
struct Talks;
impl Policy for Talks {
    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        if !view.peer_reports {
            out.extend(["alone", "alone"]);
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.push(("talks", 2));
    }
}
impl strandcast_proto::policy::Feedback for Talks {}

#[test]
fn what_parts_say_is_what_the_scheme_says() {
    let talks = Parts { feedback: Box::new(Talks), ..rfc::scheme() };
    let view = View {
        now: Instant::ZERO,
        paths: &[],
        rwnd: 0,
        in_flight: 0,
        last_path_used: None,
        primary: PathId(0),
        peer_reports: false,
        blocked: None,
        blocks: &[],
    };
    let (mut said, mut counted) = (Vec::new(), Vec::new());
    talks.diagnostics(&view, &mut said);
    talks.counters(&mut counted);
    assert_eq!(
        (said.as_slice(), counted.as_slice()),
        (["alone", "alone"].as_slice(), [("talks", 2)].as_slice())
    );
    rfc::scheme().diagnostics(&view, &mut said);
    assert_eq!(said.len(), 2, "RFC 9260 has nothing to say");
}

/// Has the path with most in flight penalised whenever it is asked.
#[derive(Debug)]
struct Blames {
    last: Option<PathId>,
    closed: bool,
    heard: Arc<AtomicU32>,
}
impl Policy for Blames {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        if let Signal::LossEvent { path, trigger: LossTrigger::HeadOfLine, .. } = signal
            && self.last.take() == Some(*path)
        {
            self.heard.fetch_add(1, Ordering::Relaxed);
        }
    }
}
impl Scheduler for Blames {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        self.last = None;
        let path = view.usable_paths().find(|p| p.has_room())?;
        // Held back at times, but not for long.
        let waits = view.in_flight > 0 && path.in_flight_chunks % 3 == 2;
        Some(Assignment::on(path.id, 1)).filter(|_| !waits)
    }

    fn penalise(&mut self, view: &View<'_>) -> Option<PathId> {
        let worst = view.paths.iter().filter(|p| p.state != PathState::Closed).max_by_key(|p| p.in_flight)?;
        self.last = Some(worst.id);
        if self.closed { Some(PathId(9)) } else { self.last }
    }
}

#[test]
fn a_scheduler_that_has_paths_penalised_keeps_the_contract() {
    let heard = Arc::new(AtomicU32::new(0));
    let blames = |closed| {
        let scheduler = Blames { last: None, closed, heard: Arc::clone(&heard) };
        Box::new(Parts { scheduler: Box::new(scheduler), ..rfc::scheme() })
    };
    check("blames", || blames(false));
    assert!(heard.load(Ordering::Relaxed) > 20, "the contract test answers: {heard:?}");
}

#[test]
#[should_panic(expected = "a penalty for")]
fn a_penalty_for_no_path_is_refused() {
    let blames = || Blames { last: None, closed: true, heard: Arc::default() };
    replay("blames", 0, || Box::new(Parts { scheduler: Box::new(blames()), ..rfc::scheme() }));
}

/// Records the credit of each path since its last acknowledgement.
#[derive(Debug)]
struct Counts {
    wants: bool,
    credit: BTreeMap<u8, u64>,
    heard: Arc<AtomicU32>,
}
impl Policy for Counts {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Delivered { chunk, path } => {
                assert!(self.wants, "not asked for: {chunk:?}");
                self.heard.fetch_add(1, Ordering::Relaxed);
                if let Some(path) = path {
                    assert!(chunk.on(*path).is_some_and(|t| !t.in_flight), "{chunk:?} by {path:?}");
                    *self.credit.entry(path.0).or_default() += chunk.len;
                }
            }
            Signal::Acked(ack) if self.wants => {
                assert_eq!(self.credit.remove(&ack.path.0), Some(ack.newly_acked), "{ack:?}");
            }
            _ => {}
        }
    }

    fn hears_deliveries(&self) -> bool {
        self.wants
    }
}
impl strandcast_proto::policy::Feedback for Counts {}

/// Newly acknowledged chunks of a path are those named for it just before; a scheme that does not ask receives none.
#[test]
fn deliveries_are_named_before_they_count() {
    for wants in [false, true] {
        let heard = Arc::new(AtomicU32::new(0));
        let build = || -> Box<dyn Scheme> {
            let feedback = Counts { wants, credit: BTreeMap::new(), heard: Arc::clone(&heard) };
            Box::new(Parts { feedback: Box::new(feedback), ..rfc::scheme() })
        };
        // The association alone: nonsense acknowledges what never was.
        for seed in 0..CASES {
            Model::run(seed, [build(), build()]);
        }
        assert_eq!(heard.load(Ordering::Relaxed) > 100, wants, "{heard:?}");
    }
}

/// Finds losses as RFC 9260 does. Each goes to the scheduler, or is given up when its message has a lifetime.
#[derive(Debug, Default)]
struct Leaves {
    rfc: rfc::RfcLoss,
    gives_up: bool,
}
impl Policy for Leaves {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.rfc.on_signal(view, signal);
    }
}
impl LossPolicy for Leaves {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.rfc.misses(view, ack, chunk)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.rfc.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, _: &View<'_>, chunk: &ChunkInfo, _: LossCause) -> Retransmit {
        if self.gives_up && chunk.expires.is_some() { Retransmit::Abandon } else { Retransmit::Requeue }
    }
}

/// Sends on all paths with room, and derives from the signals the expected backlog of a lost chunk.
#[derive(Debug)]
struct Knows {
    lost: BTreeMap<u32, ChunkInfo>,
    asked: Arc<AtomicU32>,
}
impl Policy for Knows {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Lost { chunk, .. } if chunk.transmissions.iter().all(|t| !t.in_flight) => {
                self.lost.insert(chunk.tsn.0, (*chunk).clone());
            }
            Signal::Sent(chunk) | Signal::Abandoned(chunk) => drop(self.lost.remove(&chunk.tsn.0)),
            _ => {}
        }
    }
}
impl Scheduler for Knows {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        if backlog.retransmission {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let tried = |c: &ChunkInfo| c.transmissions.iter().map(|t| t.path).collect::<PathSet>();
            let told = (backlog.next_len, backlog.next_expires, backlog.tried);
            let known = self.lost.values().any(|c| (c.len, c.expires, tried(c)) == told);
            assert!(known && backlog.bytes + 16 >= backlog.next_len, "{backlog:?} of {:?}", self.lost);
        } else {
            assert!(backlog.tried.is_empty(), "{backlog:?}");
        }
        let paths = view.usable_paths().filter(|p| p.has_room()).map(|p| p.id).collect();
        Some(Assignment { paths, chunks: 1, ..Assignment::default() }).filter(|a| !a.paths.is_empty())
    }
}

#[test]
fn a_backlog_describes_what_was_requeued() {
    for gives_up in [false, true] {
        let asked = Arc::new(AtomicU32::new(0));
        let build = || -> Box<dyn Scheme> {
            let loss = Leaves { gives_up, ..Leaves::default() };
            let scheduler = Knows { lost: BTreeMap::new(), asked: Arc::clone(&asked) };
            Box::new(Parts { loss: Box::new(loss), scheduler: Box::new(scheduler), ..rfc::scheme() })
        };
        // The association alone: nonsense describes chunks that were not lost.
        for seed in 0..CASES {
            Model::run(seed, [build(), build()]);
        }
        assert!(asked.load(Ordering::Relaxed) > 100, "the contract test reaches requeued chunks");
    }
}
