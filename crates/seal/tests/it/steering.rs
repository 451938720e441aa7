//! Route bytes: a rule without state sends all datagrams of a session to one place.

use std::collections::{BTreeMap, BTreeSet};

use strandcast_seal::{RouteBytes, SealConfig, SealEvent};

use crate::common::*;

/// The rule as a program of a socket or a switch has it.
fn rule(datagram: &[u8]) -> u8 {
    if datagram[0] == 1 { datagram[1] } else { datagram[4] }
}

/// Values of the rule for datagrams to the receiver, by the sender's node.
fn steered(w: &mut Harness) -> (usize, BTreeMap<usize, BTreeSet<u8>>) {
    let mut places: BTreeMap<usize, BTreeSet<u8>> = BTreeMap::new();
    let seen: Vec<_> = w.record.replace(Vec::new()).expect("recorded");
    let seen: Vec<_> = seen.iter().filter(|seen| seen.to == server_address()).collect();
    for seen in &seen {
        // An address of the sender `node`, whatever its NAT's port.
        let uplink = w.uplinks.iter().find(|u| u.outside.ip() == seen.from.ip()).expect("of a sender");
        places.entry(uplink.node).or_default().insert(rule(&seen.bytes));
        let [first, _] = RouteBytes::of_datagram(&seen.bytes).expect("long enough").0;
        assert_eq!(first, rule(&seen.bytes));
    }
    (seen.len(), places)
}

/// 200 sessions of three paths: handshakes with retries and repetitions, data, 1000 changes of an address, hourly renewals.
#[test]
fn one_rule_steers_all_datagrams_of_a_session_to_one_place() {
    const SENDERS: usize = 200;
    let mut w = Harness::new(1);
    w.add_server(open_access(&w.seeds.clone()));
    w.record = Some(Vec::new());
    let ids: Vec<_> = (1..=SENDERS)
        .map(|n| {
            let identity = secret(&w.seeds, &format!("sender {n}"));
            let node = w.add_client(identity);
            (0..3).for_each(|path| {
                w.add_uplink(node, path, 10 + u64::from(path));
            });
            w.uplinks.iter_mut().for_each(|uplink| uplink.loss = 0.1);
            (node, w.connect(node))
        })
        .collect();
    w.run(ms(15_000));
    assert!(w.stats(0).handshakes.retries > 100, "{:?}", w.stats(0));
    for change in 0..1000 {
        let uplink = w.uplinks.iter_mut().filter(|u| u.node != 0).nth(change * 7 % (3 * SENDERS));
        let uplink = uplink.expect("600 uplinks");
        uplink.outside.set_port(uplink.outside.port() + 1);
        let (node, id) = ids[uplink.node - 1];
        w.send(node, id, pattern(change, 3000));
        w.run(ms(20));
    }
    w.run(ms(3_600_000));
    let (datagrams, places) = steered(&mut w);
    assert!(datagrams > 10_000, "{datagrams}");
    assert!(w.stats(0).moved > 500, "{:?}", w.stats(0));
    let renewed = |node| w.count(node, |e| matches!(e, SealEvent::Renewed { .. }));
    assert!((1..=SENDERS).all(|node| renewed(node) >= 1));
    assert_eq!(places.len(), SENDERS);
    assert!(places.values().all(|place| place.len() == 1), "{places:?}");
    let used: BTreeSet<_> = places.values().flatten().collect();
    assert!(used.len() > 100, "senders draw different ones: {used:?}");
}

/// The first handshake has the route bytes that the sender drew, everything later those of message 2.
#[test]
fn a_receiver_gives_its_own_route_bytes() {
    let mut w = Harness::new(2);
    let config = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
    let config = SealConfig { route: Some(RouteBytes([7, 9])), ..config };
    let end = w.endpoint(Some(config), true, "receiver");
    w.add_server_with(end);
    let node = w.add_client(secret(&w.seeds, "sender"));
    (0..2).for_each(|path| {
        w.add_uplink(node, path, 20);
    });
    w.record = Some(Vec::new());
    let id = w.up();
    w.send(node, id, pattern(0, 10_000));
    w.run(ms(3_700_000));
    let record = w.record.take().expect("recorded");
    let to_receiver: Vec<_> = record.iter().filter(|seen| seen.to == server_address()).collect();
    let of = |seen: &Seen| RouteBytes::of_datagram(&seen.bytes).expect("long enough");
    let drawn = of(to_receiver[0]);
    assert_ne!(drawn, RouteBytes([7, 9]));
    let messages: Vec<_> =
        to_receiver.iter().filter(|seen| seen.bytes[0] == 2).map(|seen| of(seen)).collect();
    assert_eq!(messages, [drawn, drawn, RouteBytes([7, 9]), RouteBytes([7, 9])], "two paths, a renewal");
    assert!(to_receiver.iter().filter(|seen| seen.bytes[0] == 1).all(|seen| of(seen) == RouteBytes([7, 9])));
    assert_eq!(w.count(1, |e| matches!(e, SealEvent::Renewed { .. })), 1);
    assert!(w.nodes[0].received[&w.accepted()] == pattern(0, 10_000));
}
