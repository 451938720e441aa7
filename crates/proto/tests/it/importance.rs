//! Importance of messages: the scheduler's view of it, its choices, and the order in which messages leave.

use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::policy::{Assignment, Backlog, Heads, Importance, Parts, Policy, Scheduler, View};
use strandcast_proto::time::Duration;
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// The heads that a scheduler saw.
type Seen = Arc<Mutex<Vec<Heads>>>;

/// Choice of importance by a scheduler.
#[derive(Copy, Clone, Debug)]
enum Names {
    /// The highest importance that has a head.
    Highest,
    /// This importance, with or without a head, until it is refused; then none.
    Once(Importance),
}

/// Sends the chosen importance on the first path that has room.
#[derive(Debug)]
struct Choosing {
    names: Names,
    seen: Seen,
    asked: bool,
}
impl Policy for Choosing {}
impl Scheduler for Choosing {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.seen.lock().expect("no test panics with it").push(backlog.heads);
        let path = view.usable_paths().find(|p| p.has_room())?.id;
        let again = core::mem::replace(&mut self.asked, true);
        let importance = match self.names {
            Names::Highest => backlog.heads.iter().next().map(|h| h.importance),
            Names::Once(importance) => Some(importance).filter(|_| !again),
        };
        Some(Assignment { importance, ..Assignment::on(path, 1) })
    }
}

/// A connected pair of one wire, whose client has a window of `window` bytes, and the heads that its scheduler sees.
fn connected_pair(names: Names, window: u64) -> (TestPair, Seen) {
    let seen = Seen::default();
    let scheduler = Choosing { names, seen: Arc::clone(&seen), asked: false };
    let mut w = TestPair::new(&[20], config(), 7);
    w.connect_with(Box::new(Parts { scheduler: Box::new(scheduler), ..plain::parts(window) }));
    w.run(ms(3000));
    (w, seen)
}

fn options(importance: Importance) -> SendOptions {
    SendOptions { importance, unordered: true, ..SendOptions::default() }
}

/// Sends messages of 1000 bytes, each filled with its number. Returns the numbers in the order of arrival.
fn arrivals(w: &mut TestPair, messages: &[SendOptions]) -> Vec<u8> {
    for (n, options) in messages.iter().enumerate() {
        w.send(CLIENT, vec![n as u8; 1000], *options);
    }
    w.run(Duration::from_secs(20));
    w.association(CLIENT).assert_consistent();
    w.apps[SERVER].messages.iter().map(|m| m.payload[0]).collect()
}

/// Two packets fit the window, and leave at once; the rest waits for its turn.
#[test]
fn the_most_important_leave_first_in_their_order() {
    use Importance::{Disposable, Key, Normal, Reference};
    let (mut w, _) = connected_pair(Names::Highest, 1000);
    let messages = [Normal, Normal, Disposable, Reference, Key, Normal, Key].map(options);
    assert_eq!(arrivals(&mut w, &messages), [0, 1, 4, 6, 3, 5, 2]);
}

#[test]
fn a_scheduler_that_names_none_sends_in_order() {
    use Importance::{Disposable, Key, Normal};
    let mut w = TestPair::new(&[20], config(), 7);
    w.up();
    let messages = [Disposable, Normal, Key, Normal, Key].map(options);
    assert_eq!(arrivals(&mut w, &messages), [0, 1, 2, 3, 4]);
}

/// When two have left, the second message of stream 0 is the most important, and has no head before the first has left.
#[test]
fn ordered_messages_of_one_stream_keep_their_order() {
    use Importance::{Key, Normal, Reference};
    let (mut w, seen) = connected_pair(Names::Highest, 1000);
    let on = |stream, importance| SendOptions { stream, importance, ..SendOptions::default() };
    let messages = [on(2, Normal), on(2, Normal), on(0, Normal), on(0, Key), on(1, Reference)];
    assert_eq!(arrivals(&mut w, &messages), [0, 1, 4, 2, 3]);
    let seen = seen.lock().expect("no test panics with it");
    assert!(seen.iter().all(|h| h.iter().next().is_some()), "the oldest always has a head");
}

/// A message in fragments continues before the key begins, whatever the scheduler names.
#[test]
fn fragments_are_one_run_of_tsns() {
    let (mut w, seen) = connected_pair(Names::Highest, 1000);
    w.send(CLIENT, vec![0; 4000], options(Importance::Normal));
    w.send(CLIENT, vec![1; 1000], options(Importance::Key));
    w.run(Duration::from_secs(5));
    let arrived: Vec<u8> = w.apps[SERVER].messages.iter().map(|m| m.payload[0]).collect();
    assert_eq!(arrived, [0, 1]);
    let seen = seen.lock().expect("no test panics with it");
    let keys = seen.iter().filter(|h| h.of(Importance::Key).is_some());
    assert_eq!(
        (seen.len(), keys.count()),
        (4, 1),
        "three fragments leave in a window of one packet, then the key"
    );
    let whole = seen.iter().find_map(|h| h.of(Importance::Normal)).expect("it was seen");
    assert_eq!(whole.bytes, 4000);
}

/// An importance without waiting messages is refused and counted, and causes no delay beyond the next signal.
#[test]
fn an_importance_without_a_head_is_refused() {
    let (mut w, _) = connected_pair(Names::Once(Importance::Key), 10_000);
    let messages = [Importance::Normal; 3].map(options);
    assert_eq!(arrivals(&mut w, &messages), [0, 1, 2]);
    assert_eq!(w.association(CLIENT).stats().refused_assignments, 1);
}
