//! Groups of messages that a scheme gives up, and its advice.

use std::sync::{Arc, Mutex};

use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Act, Advice, Assignment, Backlog, Flight, Importance, Parts, Policy, Scheduler, View,
};
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// Orders for the scheduler.
#[derive(Debug, Default)]
struct Orders {
    drop: Vec<u64>,
    advice: Option<Advice>,
}

/// Sends on the first path with room, and follows the orders.
#[derive(Debug)]
struct Obeys(Arc<Mutex<Orders>>);
impl Policy for Obeys {
    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, _: &View<'_>, _: &Flight<'_>) -> Option<Act> {
        self.0.lock().expect("no test panics with it").drop.pop().map(|group| Act::Drop { group })
    }

    fn advice(&self, _: &View<'_>) -> Option<Advice> {
        self.0.lock().expect("no test panics with it").advice
    }
}
impl Scheduler for Obeys {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        view.usable_paths().find(|p| p.has_room()).map(|p| Assignment::on(p.id, 1))
    }
}

/// A connected pair whose client follows orders, with a window of `window` bytes.
fn connected_pair(transport: TransportConfig, window: u64) -> (TestPair, Arc<Mutex<Orders>>) {
    let orders = Arc::new(Mutex::new(Orders::default()));
    let scheduler = Obeys(Arc::clone(&orders));
    let mut w = TestPair::new(&[20], transport, 7);
    w.connect_with(Box::new(Parts { scheduler: Box::new(scheduler), ..plain::parts(window) }));
    w.run(ms(3000));
    (w, orders)
}

fn of(group: u64) -> SendOptions {
    SendOptions { group: Some(group), unordered: true, ..SendOptions::default() }
}

/// Messages of 1000 bytes of the groups 1 to 3, three of each in turn; the window holds two.
fn waiting(transport: TransportConfig) -> (TestPair, Arc<Mutex<Orders>>) {
    let (mut w, orders) = connected_pair(transport, 2000);
    for n in 0..9 {
        let group = n % 3 + 1;
        w.send(CLIENT, vec![group as u8; 1000], of(group));
    }
    (w, orders)
}

/// Gives up `group` with the next signal.
fn drop_group(w: &mut TestPair, orders: &Mutex<Orders>, group: u64) {
    orders.lock().expect("no test panics with it").drop.push(group);
    w.run(ms(60));
    w.association(CLIENT).assert_consistent();
}

fn arrived(w: &TestPair) -> Vec<u8> {
    let mut groups: Vec<u8> = w.apps[SERVER].messages.iter().map(|m| m.payload[0]).collect();
    groups.sort_unstable();
    groups
}

/// The first message of group 1 is in flight on a path that lost it: it is also given up, and so are messages that are
/// submitted later.
#[test]
fn a_group_is_given_up_sent_or_not() {
    let (mut w, orders) = connected_pair(config(), 2000);
    w.wires[0].up[CLIENT] = false;
    for n in 0..9 {
        w.send(CLIENT, vec![n % 3 + 1; 1000], of(u64::from(n % 3 + 1)));
    }
    orders.lock().expect("no test panics with it").drop.push(1);
    w.run(ms(1500));
    w.wires[0].up[CLIENT] = true;
    let stats = w.association(CLIENT).stats();
    assert_eq!((stats.messages_dropped(), stats.messages_abandoned()), (2, 1));
    let before = w.association(CLIENT).send_buffered();
    w.send(CLIENT, vec![1; 1000], of(1));
    assert_eq!(w.association(CLIENT).stats().messages_dropped(), 3);
    assert_eq!(w.association(CLIENT).send_buffered(), before, "it is not kept");
    w.run(ms(20_000));
    w.association(CLIENT).assert_consistent();
    assert_eq!(arrived(&w), [2, 2, 2, 3, 3, 3]);
    assert_eq!(w.association(CLIENT).send_buffered(), 0);
}

#[test]
fn a_group_that_arrived_can_not_be_given_up() {
    let (mut w, orders) = waiting(config());
    w.run(ms(5000));
    drop_group(&mut w, &orders, 1);
    w.send(CLIENT, vec![4; 1000], of(4));
    w.run(ms(1000));
    let stats = w.association(CLIENT).stats();
    assert_eq!((stats.messages_dropped(), stats.messages_abandoned()), (0, 0));
    assert_eq!(arrived(&w), [1, 1, 1, 2, 2, 2, 3, 3, 3, 4]);
}

/// Towards a peer without RFC 3758, sent messages stay sent.
#[test]
fn without_partial_reliability_only_what_waits_is_dropped() {
    let (mut w, orders) = waiting(TransportConfig { partial_reliability: false, ..config() });
    drop_group(&mut w, &orders, 1);
    w.run(ms(5000));
    let stats = w.association(CLIENT).stats();
    assert_eq!(stats.messages_abandoned(), 0);
    let ones = arrived(&w).iter().filter(|g| **g == 1).count() as u64;
    assert_eq!((ones + stats.messages_dropped(), arrived(&w).len() as u64), (3, 6 + ones));
    assert!(stats.messages_dropped() > 0, "some of it waited");
}

/// The rest of a message that was begun is given up with its group, and the next one begins.
#[test]
fn a_message_in_the_middle_of_its_chunks_is_given_up() {
    let (mut w, orders) = connected_pair(config(), 2000);
    w.send(CLIENT, vec![1; 10_000], SendOptions { importance: Importance::Key, ..of(1) });
    w.send(CLIENT, vec![2; 1000], of(2));
    drop_group(&mut w, &orders, 1);
    w.run(ms(5000));
    assert_eq!(arrived(&w), [2]);
    let stats = w.association(CLIENT).stats();
    assert_eq!((stats.messages_dropped(), stats.messages_abandoned()), (0, 1));
}

#[test]
fn advice_reaches_the_application_when_it_changes() {
    let (mut w, orders) = connected_pair(config(), 10_000);
    let say = |w: &mut TestPair, rate_bps| {
        let advice = Advice { rate_bps, safe_bps: rate_bps / 2 };
        orders.lock().expect("no test panics with it").advice = Some(advice);
        for n in 0..10 {
            w.send(CLIENT, pattern(n, 1000), SendOptions::default());
            w.run(ms(50));
        }
    };
    say(&mut w, 1_000_000);
    say(&mut w, 1_010_000);
    say(&mut w, 900_000);
    let heard = w.apps[CLIENT].events.iter().filter_map(|e| match e {
        Event::Advice(advice) => Some((advice.rate_bps, advice.safe_bps)),
        _ => None,
    });
    assert_eq!(heard.collect::<Vec<_>>(), [(1_000_000, 500_000), (900_000, 450_000)]);
    let last = w.association(CLIENT).stats().advice.expect("it was given");
    assert_eq!(last.rate_bps, 900_000);
}
