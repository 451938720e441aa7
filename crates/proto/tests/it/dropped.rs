//! Causes of giving up messages: each cause is counted, and each message has its own event if events are on.

use strandcast_proto::association::{DropCause, Dropped, Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Act, Assignment, Backlog, ChunkInfo, Flight, GiveUp, LossCause, LossPolicy, Parts, Policy, Retransmit,
    Scheduler, View, Waiting,
};
use strandcast_proto::time::Duration;
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// Bytes of each message; two of them fill the window.
const SIZE: usize = 1000;
const WINDOW: u64 = 2000;
/// The messages of this group are given up as a whole.
const UNWANTED: u64 = 7;

/// Sends on the first path with room, and gives up messages as configured.
#[derive(Debug, Default)]
struct GivesUp {
    /// New messages with this much of their time left, or less.
    new: Option<(Duration, GiveUp)>,
    /// Lost chunks.
    lost: Option<GiveUp>,
    group: Option<u64>,
}
impl Policy for GivesUp {
    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, _: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        // The condition: its first message is begun and the next one waits after it.
        let both = |w: &Waiting| w.group == self.group && w.begun && w.bytes > 2500;
        let run = flight.waiting().find(both)?;
        run.group.map(|group| Act::Drop { group })
    }
}
impl Scheduler for GivesUp {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let left = backlog.next_expires.map(|at| at.saturating_since(view.now));
        let new = self.new.filter(|(least, _)| left.is_some_and(|left| left <= *least)).map(|(_, why)| why);
        match if backlog.retransmission { self.lost } else { new } {
            Some(why) => Some(Assignment::nowhere(why)),
            None => view.usable_paths().find(|p| p.has_room()).map(|p| Assignment::on(p.id, 1)),
        }
    }
}

/// A loss policy with a fixed decision for every lost chunk.
#[derive(Debug)]
struct Says(Retransmit);
impl Policy for Says {}
impl LossPolicy for Says {
    fn misses(&mut self, _: &View<'_>, _: &strandcast_proto::policy::AckInfo, _: &ChunkInfo) -> u8 {
        1
    }

    fn retransmit(&mut self, _: &View<'_>, _: &ChunkInfo, _: LossCause) -> Retransmit {
        self.0
    }
}

fn connected(scheduler: GivesUp, lost: Retransmit) -> TestPair {
    let mut w = TestPair::new(&[20], TransportConfig { rto_min: ms(200), drop_events: true, ..config() }, 7);
    let parts = plain::parts(WINDOW);
    w.connect_with(Box::new(Parts { scheduler: Box::new(scheduler), loss: Box::new(Says(lost)), ..parts }));
    w.run(ms(3000));
    w
}

/// Submits a message that is worthless after `lifetime` ms.
fn send(w: &mut TestPair, lifetime: u64) {
    of_size(w, SIZE, lifetime, None);
}

fn of_size(w: &mut TestPair, size: usize, lifetime: u64, group: Option<u64>) {
    let options =
        SendOptions { unordered: true, lifetime: Some(ms(lifetime)), group, ..SendOptions::default() };
    w.send(CLIENT, vec![0; size], options);
}

/// The events so far: number, cause, whether it was begun, bytes never sent.
fn told(w: &TestPair) -> Vec<(u64, DropCause, bool, u64)> {
    w.association(CLIENT).assert_consistent();
    let told = |event: &Event| if let Event::Dropped(dropped) = event { Some(*dropped) } else { None };
    let all: Vec<Dropped> = w.apps[CLIENT].events.iter().filter_map(told).collect();
    let stats = w.association(CLIENT).stats();
    let counted = |begun| all.iter().filter(|d| d.begun == begun).count() as u64;
    assert_eq!((stats.unsent.total(), stats.abandoned.total()), (counted(false), counted(true)), "{all:?}");
    for d in &all {
        let counts = if d.begun { &stats.abandoned } else { &stats.unsent };
        assert!(counts.of(d.cause) > 0, "{d:?}");
    }
    all.iter().map(|d| (d.message, d.cause, d.begun, d.unsent)).collect()
}

/// A path that delivers nothing: two messages are in flight, the others wait.
fn nothing_arrives(w: &mut TestPair) {
    w.wires[0].up[CLIENT] = false;
}

#[test]
fn what_waits_for_too_long_has_expired() {
    let mut w = connected(GivesUp::default(), Retransmit::Hold);
    nothing_arrives(&mut w);
    for lifetime in [9000, 9000, 100, 9000] {
        send(&mut w, lifetime);
    }
    w.run(ms(99));
    assert_eq!(told(&w), []);
    // The timer of the data in flight makes the sender check.
    w.run(ms(1000));
    assert_eq!(told(&w), [(2, DropCause::Expired, false, 1000)]);
    assert_eq!(w.association(CLIENT).stats().messages_with_lifetime, 4);
}

#[test]
fn the_scheduler_says_why_it_gives_a_message_up() {
    for why in GiveUp::ALL {
        let gives_up = GivesUp { new: Some((ms(500), why)), ..GivesUp::default() };
        let mut w = connected(gives_up, Retransmit::Hold);
        send(&mut w, 400);
        send(&mut w, 600);
        w.run(ms(1000));
        assert_eq!(told(&w), [(0, DropCause::Scheduler(why), false, 1000)]);
        assert_eq!(w.apps[SERVER].messages.len(), 1);
    }
}

/// About 980 bytes of the second message are sent; then too little time is left for the rest.
#[test]
fn the_scheduler_gives_up_a_message_that_was_begun() {
    let gives_up = GivesUp { new: Some((ms(470), GiveUp::TooLate)), ..GivesUp::default() };
    let mut w = connected(gives_up, Retransmit::Hold);
    of_size(&mut w, 20_000, 500, None);
    w.run(ms(1000));
    let all = told(&w);
    let [(0, DropCause::Scheduler(GiveUp::TooLate), true, unsent)] = all[..] else { panic!("{all:?}") };
    assert!((1000..19_000).contains(&unsent), "{unsent}");
    assert!(w.apps[SERVER].messages.is_empty());
}

#[test]
fn a_lost_chunk_is_given_up_for_its_own_reason() {
    let scheduler = GivesUp { lost: Some(GiveUp::TooFar), ..GivesUp::default() };
    let cases = [
        (scheduler, Retransmit::Requeue, 9000, DropCause::Scheduler(GiveUp::TooFar)),
        (GivesUp::default(), Retransmit::Abandon, 9000, DropCause::LossPolicy),
        (GivesUp::default(), Retransmit::Hold, 100, DropCause::Expired),
        (GivesUp::default(), Retransmit::Abandon, 100, DropCause::Expired),
    ];
    for (scheduler, lost, lifetime, cause) in cases {
        let mut w = connected(scheduler, lost);
        nothing_arrives(&mut w);
        send(&mut w, lifetime);
        w.run(ms(5000));
        assert_eq!(told(&w), [(0, cause, true, 0)], "{lost:?} {lifetime}");
    }
}

#[test]
fn a_group_is_the_cause_of_all_its_messages() {
    let mut w = connected(GivesUp { group: Some(UNWANTED), ..GivesUp::default() }, Retransmit::Hold);
    nothing_arrives(&mut w);
    send(&mut w, 9000);
    // A chunk of this message fits the window; the next ones wait, and the last one is submitted when the group is
    // known.
    of_size(&mut w, 3000, 9000, Some(UNWANTED));
    of_size(&mut w, SIZE, 9000, Some(UNWANTED));
    w.run(ms(2000));
    of_size(&mut w, SIZE, 9000, Some(UNWANTED));
    let mut all = told(&w);
    all.sort_by_key(|told| told.0);
    let [(1, DropCause::Group, true, unsent), rest @ ..] = &all[..] else { panic!("{all:?}") };
    assert!((1..3000).contains(unsent), "{unsent}");
    assert_eq!(rest, [(2, DropCause::Group, false, 1000), (3, DropCause::Group, false, 1000)]);
}

/// Two messages are in flight, one has arrived, one is begun, and one waits.
#[test]
fn the_end_of_the_association_takes_what_is_left() {
    let mut w = connected(GivesUp::default(), Retransmit::Hold);
    send(&mut w, 9000);
    w.run(ms(1000));
    nothing_arrives(&mut w);
    send(&mut w, 9000);
    of_size(&mut w, 3000, 9000, None);
    send(&mut w, 9000);
    w.run(ms(10));
    let id = w.apps[CLIENT].id.expect("connected");
    let aborted = w.ends[CLIENT].with(id, |association| {
        association.abort("enough");
        Ok(())
    });
    assert_eq!(aborted, Ok(()));
    w.run(ms(1000));
    let all = told(&w);
    let [first, (2, DropCause::Ended, true, unsent), last] = all[..] else { panic!("{all:?}") };
    assert_eq!((first, last), ((1, DropCause::Ended, true, 0), (3, DropCause::Ended, false, 1000)));
    assert!((1..3000).contains(&unsent), "{unsent}");
    assert!(matches!(w.apps[CLIENT].events.last(), Some(Event::Closed(_))), "nothing follows the end");
    assert_eq!(w.association(CLIENT).stats().messages_abandoned(), 0, "none was given up");
}

/// By default there are counters, and no events.
#[test]
fn without_events_drops_are_counted_all_the_same() {
    let mut w = TestPair::new(&[20], config(), 7);
    let scheduler = GivesUp { new: Some((ms(500), GiveUp::MakesWay)), ..GivesUp::default() };
    w.connect_with(Box::new(Parts { scheduler: Box::new(scheduler), ..plain::parts(WINDOW) }));
    w.run(ms(3000));
    send(&mut w, 400);
    w.run(ms(100));
    assert!(!w.apps[CLIENT].events.iter().any(|event| matches!(event, Event::Dropped(_))));
    let stats = w.association(CLIENT).stats();
    assert_eq!(stats.unsent.of(DropCause::Scheduler(GiveUp::MakesWay)), 1);
    assert_eq!((stats.messages_expired(), stats.unsent.by_scheduler()), (1, 1));
}
