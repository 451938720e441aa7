//! Who may connect while lists of senders come and go, and how much of a receiver a sender may take.

mod common;

use common::*;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::seeds::Seeds;
use strandcast_seal::{Access, Lost, MOST_SENDERS, PublicKey, SealConfig, SealEvent};

fn add_sender(w: &mut World, label: &str) -> usize {
    let identity = secret(&w.seeds, label);
    let node = w.add_client(identity);
    w.add_uplink(node, 0, 20);
    node
}

fn set_access(w: &mut World, access: Access) {
    let now = w.now;
    w.nodes[0].end.set_access(now, access);
    w.pump();
}

fn lost(w: &World, node: usize, why: Lost) -> usize {
    w.count(node, |e| matches!(e, SealEvent::Lost { why: w, .. } if *w == why))
}

/// The list that takes the place of the first one was made before the enrolment was entered.
#[test]
fn a_list_from_before_an_enrolment_does_not_reopen_a_token_for_one() {
    let mut w = World::new(1);
    let mut access = open_access(&w.seeds);
    access.grants[0].once = true;
    w.add_server(access.clone());
    let nodes = ["first", "second"].map(|label| add_sender(&mut w, label));
    let first = w.connect(nodes[0]);
    w.run(ms(1000));
    set_access(&mut w, access);
    let second = w.connect(nodes[1]);
    w.run(ms(1000));
    assert!(w.connected(nodes[0], first) && !w.connected(nodes[1], second));
    assert_eq!((lost(&w, nodes[1], Lost::Refused), w.stats(0).sessions), (1, 1));
    let again = w.connect_again(nodes[0]);
    w.run(ms(1000));
    assert!(w.connected(nodes[0], again), "it is the token's sender");
}

/// What a pairing admitted ends with it, at once; the sender is told, and does not come back.
#[test]
fn a_session_ends_with_the_grant_that_admitted_it() {
    let other = open_access(&Seeds::new(77, 0));
    for (what, access) in [("no grant", Access::default()), ("another grant", other)] {
        let mut w = World::pair(2, &[20]);
        let id = w.up();
        set_access(&mut w, access);
        w.run(ms(100));
        for node in [0, 1] {
            assert_eq!((lost(&w, node, Lost::Revoked), w.stats(node).sessions), (1, 0), "{what}");
        }
        let closed = Event::Closed(CloseReason::SealLost(Lost::Revoked.to_string()));
        assert!(w.nodes[1].events.contains(&(id, closed)), "{what}");
        let again = w.connect(1);
        w.run(ms(3000));
        assert!(!w.connected(1, again), "{what}");
    }
}

/// A grant that is closed keeps its senders, also one that the list does not know yet; one that the list had and has no
/// more is out.
#[test]
fn a_session_goes_on_when_its_grant_is_closed_to_others() {
    let mut w = World::pair(3, &[20]);
    let id = w.up();
    let mut closed = open_access(&w.seeds);
    closed.grants[0].open = false;
    set_access(&mut w, closed.clone());
    let mut listed = closed.clone();
    listed.grants[0].senders.insert(secret(&w.seeds, "sender").public());
    set_access(&mut w, listed);
    w.send(1, id, pattern(0, 4000));
    w.run(ms(1000));
    assert!(w.nodes[0].received[&w.accepted()] == pattern(0, 4000));
    assert_eq!(w.stats(0).sessions, 1);
    set_access(&mut w, closed);
    w.run(ms(100));
    assert_eq!([0, 1].map(|node| (lost(&w, node, Lost::Revoked), w.stats(node).sessions)), [(1, 0); 2]);
}

/// Nothing that says so arrives: the sender asks whether its session goes on, and gets the answer.
#[test]
fn a_sender_that_was_taken_out_of_its_grant_is_refused_when_it_renews() {
    let mut w = World::pair(4, &[20]);
    let id = w.up();
    let mut access = open_access(&w.seeds);
    access.grants[0].open = false;
    let mut listed = access.clone();
    listed.grants[0].senders.insert(secret(&w.seeds, "sender").public());
    set_access(&mut w, listed);
    w.uplinks[1].up = false;
    set_access(&mut w, access);
    w.uplinks[1].up = true;
    w.send(1, id, pattern(0, 1000));
    assert!(w.run_until(ms(1500), |w| lost(w, 1, Lost::Refused) == 1), "{:?}", w.nodes[1].seal_events);
    assert!(w.stats(0).handshakes.refused >= 1);
}

/// The bound of a grant holds end to end; those that it has still come.
#[test]
fn an_open_grant_admits_a_thousand_senders() {
    let mut w = World::new(5);
    let mut access = open_access(&w.seeds);
    let others = 0..MOST_SENDERS as u32 - 1;
    access.grants[0].senders =
        others.map(|n| PublicKey(core::array::from_fn(|i| n.to_be_bytes()[i % 4]))).collect();
    w.add_server(access);
    let nodes = ["last", "late"].map(|label| add_sender(&mut w, label));
    for (node, connects) in [(nodes[0], true), (nodes[1], false), (nodes[0], true)] {
        let id = w.connect_again(node);
        w.run(ms(1000));
        assert_eq!(w.connected(node, id), connects, "{node}");
    }
    assert_eq!((lost(&w, nodes[1], Lost::Refused), w.stats(0).handshakes.refused), (1, 1));
    assert_eq!(w.count(0, |e| matches!(e, SealEvent::Enrolled { .. })), 1);
}

/// With the token a person who is revoked would come back with another key.
#[test]
fn revoking_a_sender_closes_the_grant_that_it_came_by() {
    let mut w = World::pair(6, &[20]);
    w.up();
    let mut access = open_access(&w.seeds);
    access.revoked.insert(secret(&w.seeds, "sender").public());
    set_access(&mut w, access);
    w.run(ms(100));
    assert_eq!(lost(&w, 1, Lost::Revoked), 1);
    let node = add_sender(&mut w, "the same with another key");
    let id = w.connect(node);
    w.run(ms(1000));
    assert!(!w.connected(node, id));
    assert_eq!(lost(&w, node, Lost::Refused), 1);
}
