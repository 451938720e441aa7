//! Admission while lists of senders change, and the share of a receiver that one sender may take.

use std::net::SocketAddr;
use std::sync::Arc;

use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_seal::{Access, Lost, MOST_SENDERS, PublicKey, SealConfig, SealEvent, SealedEndpoint};

use crate::common::*;

fn add_sender(w: &mut Harness, label: &str) -> usize {
    let identity = secret(&w.seeds, label);
    let node = w.add_client(identity);
    w.add_uplink(node, 0, 20);
    node
}

fn set_access(w: &mut Harness, access: Access) {
    let now = w.now;
    w.nodes[0].end.set_access(now, access);
    w.pump();
}

fn lost(w: &Harness, node: usize, why: Lost) -> usize {
    w.count(node, |e| matches!(e, SealEvent::Lost { why: w, .. } if *w == why))
}

/// The replacing list was made before the enrolment was entered.
#[test]
fn a_list_from_before_an_enrolment_does_not_reopen_a_token_for_one() {
    let mut w = Harness::new(1);
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

/// The end of a grant ends its sessions at once; the sender is notified and does not return.
#[test]
fn a_session_ends_with_the_grant_that_admitted_it() {
    let other = open_access(&Seeds::new(77, 0));
    for (what, access) in [("no grant", Access::default()), ("another grant", other)] {
        let mut w = Harness::pair(2, &[20]);
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

/// A closed grant keeps its senders, even one that the list does not have yet; a sender that the list has
/// dropped is out.
#[test]
fn a_session_goes_on_when_its_grant_is_closed_to_others() {
    let mut w = Harness::pair(3, &[20]);
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

/// All notifications are lost: the sender asks whether its session continues, and gets the answer.
#[test]
fn a_sender_that_was_taken_out_of_its_grant_is_refused_when_it_renews() {
    let mut w = Harness::pair(4, &[20]);
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

/// The limit of a grant holds end to end; its present senders still connect.
#[test]
fn an_open_grant_admits_a_thousand_senders() {
    let mut w = Harness::new(5);
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

/// A revoked person with the token would return with another key.
#[test]
fn revoking_a_sender_closes_the_grant_that_it_came_by() {
    let mut w = Harness::pair(6, &[20]);
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

fn add_small_server(w: &mut Harness, max_sessions: usize) {
    w.add_server(open_access(&w.seeds.clone()));
    let config = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
    w.nodes[0].end = w.endpoint(Some(SealConfig { max_sessions, ..config }), true, "receiver");
}

/// A sender that connects repeatedly and leaves without notice takes no more than its own places.
#[test]
fn one_key_cannot_take_every_place() {
    let mut w = Harness::new(7);
    add_small_server(&mut w, 20);
    for _ in 0..21 {
        let node = add_sender(&mut w, "same");
        let id = w.connect(node);
        w.run(ms(200));
        assert!(w.connected(node, id), "the newest is let in");
        let gone = w.uplinks.iter_mut().filter(|u| u.node == node);
        gone.for_each(|uplink| uplink.up = false);
        assert!(w.stats(0).sessions <= 8);
    }
    let node = add_sender(&mut w, "other");
    let id = w.connect(node);
    w.run(ms(200));
    assert!(w.connected(node, id));
    assert_eq!(w.stats(0).sessions, 9);
    assert_eq!(lost(&w, 0, Lost::Replaced), 21 - 8);
}

/// The session in use stays at any age; the sender of the one that ends is notified.
#[test]
fn of_too_many_sessions_of_a_key_the_one_that_was_silent_for_longest_ends() {
    let mut w = Harness::new(8);
    add_small_server(&mut w, 20);
    let nodes: Vec<_> = (0..9).map(|_| add_sender(&mut w, "same")).collect();
    let ids: Vec<_> = nodes[..8].iter().map(|node| w.connect(*node)).collect();
    w.run(ms(2000));
    for (node, id) in nodes.iter().zip(&ids) {
        if *node != nodes[3] {
            w.send(*node, *id, pattern(0, 1000));
            w.run(ms(100));
        }
    }
    let id = w.connect(nodes[8]);
    w.run(ms(200));
    assert!(w.connected(nodes[8], id));
    for (n, node) in nodes.iter().enumerate() {
        assert_eq!(lost(&w, *node, Lost::Replaced), usize::from(n == 3), "{n}");
    }
    assert_eq!((lost(&w, 0, Lost::Replaced), w.stats(0).sessions), (1, 8));
}

/// A full receiver answers with "no room"; a key at its limit replaces its own session.
#[test]
fn a_receiver_without_room_says_so() {
    let mut w = Harness::new(9);
    add_small_server(&mut w, 9);
    let mut connect = |label: &str| {
        let node = add_sender(&mut w, label);
        let id = w.connect(node);
        w.run(ms(200));
        (node, id)
    };
    for _ in 0..8 {
        connect("same");
    }
    connect("other");
    let (late, late_id) = connect("late");
    let (newest, newest_id) = connect("same");
    assert!(!w.connected(late, late_id) && w.connected(newest, newest_id));
    let closed = Event::Closed(CloseReason::SealLost(Lost::Busy.to_string()));
    assert!(w.nodes[late].events.contains(&(late_id, closed)), "{:?}", w.nodes[late].events);
    assert_eq!((lost(&w, 0, Lost::Replaced), w.stats(0).busy, w.stats(0).sessions), (1, 1, 9));
}

/// The endpoint has fewer places than the seal.
#[test]
fn an_endpoint_without_room_says_so() {
    let mut w = Harness::new(10);
    w.add_server(open_access(&w.seeds.clone()));
    let config = EndpointConfig {
        transport: Arc::new(live()),
        accept: Some(Arc::new(|_| Box::new(rfc::scheme()))),
        port: PORT,
        max_associations: 1,
        ..EndpointConfig::default()
    };
    let seal = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
    w.nodes[0].end = SealedEndpoint::new(config, Some(seal), &w.seeds.child("receiver"));
    let nodes = ["first", "late"].map(|label| add_sender(&mut w, label));
    let ids = nodes.map(|node| {
        let id = w.connect(node);
        w.run(ms(500));
        id
    });
    assert!(w.connected(nodes[0], ids[0]) && !w.connected(nodes[1], ids[1]));
    let refused = |e: &(_, Event)| e.0 == ids[1] && matches!(e.1, Event::Closed(CloseReason::PeerAborted(_)));
    assert!(w.nodes[nodes[1]].events.iter().any(refused), "{:?}", w.nodes[nodes[1]].events);
}

fn refused(w: &Harness) -> Vec<(PublicKey, SocketAddr)> {
    let of = |e: &SealEvent| match e {
        SealEvent::Refused { key, from } => Some((*key, *from)),
        _ => None,
    };
    w.nodes[0].seal_events.iter().filter_map(of).collect()
}

/// The receiver gets the refused key, so that its owner can admit the sender.
#[test]
fn a_sender_that_is_refused_is_reported_once_a_minute() {
    let mut w = Harness::new(20);
    let mut access = open_access(&w.seeds);
    access.grants[0].open = false;
    w.add_server(access);
    let node = add_sender(&mut w, "unknown");
    let (key, from) = (secret(&w.seeds, "unknown").public(), w.uplinks[1].outside);
    for minute in 1..=2 {
        for _ in 0..5 {
            let id = w.connect(node);
            w.run(ms(1000));
            assert!(!w.connected(node, id));
            w.nodes[node].end.endpoint_mut().release(id);
        }
        assert_eq!(refused(&w), vec![(key, from); minute]);
        w.run(ms(60_000));
    }
    assert_eq!((w.stats(0).handshakes.refused, lost(&w, node, Lost::Refused)), (10, 10));
}

/// A host with the token makes ever new keys: neither events nor memory grow with them.
#[test]
fn a_flood_of_refused_keys_is_reported_eight_times_a_minute() {
    let mut w = Harness::new(21);
    let mut access = open_access(&w.seeds);
    access.grants[0].open = false;
    w.add_server(access);
    for n in 0..60 {
        let node = add_sender(&mut w, &format!("unknown {n}"));
        w.connect(node);
        w.run(ms(100));
    }
    assert_eq!(w.stats(0).handshakes.refused, 60);
    assert_eq!(refused(&w).len(), 8);
}

/// Two senders use a single-use token at once. Both are answered; the first to send a datagram has it, and
/// the other one is notified.
#[test]
fn who_comes_second_with_a_token_for_one_gets_an_answer() {
    let mut w = Harness::new(22);
    let mut access = open_access(&w.seeds);
    access.grants[0].once = true;
    w.add_server(access);
    let nodes = ["first", "second"].map(|label| add_sender(&mut w, label));
    let ids = nodes.map(|node| w.connect(node));
    w.run(ms(500));
    let connected = [0, 1].map(|n| w.connected(nodes[n], ids[n]));
    let told = nodes.map(|node| lost(&w, node, Lost::Revoked) > 0);
    assert!(connected[0] != connected[1], "{connected:?}");
    assert_eq!(told, [!connected[0], !connected[1]]);
    assert_eq!((w.stats(0).sessions, w.stats(0).refused_late), (1, 1));
}
