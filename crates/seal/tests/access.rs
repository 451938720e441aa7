//! Who may connect while lists of senders come and go, and how much of a receiver a sender may take.

mod common;

use common::*;
use strandcast_proto::association::{CloseReason, Event};
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
