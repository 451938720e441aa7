//! AOMDV cases with expected values: diamonds, announcements, salvage, HELLOs.

use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::datagram::Packet;
use crate::message::{Message, Reply, Request, Trace, Unreachable};
use crate::output::{DropCause, NextHop};
use crate::testing::Net;

const DIAMOND: [(u32, u32); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];
/// Two diamonds that share node 3.
const DOUBLE: [(u32, u32); 8] = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (4, 6), (3, 5), (5, 6)];

fn next_hops(net: &Net, node: u32, destination: u32) -> Vec<u32> {
    let mut hops: Vec<u32> = net.hops(node, destination).iter().map(|(hop, _)| *hop).collect();
    hops.sort_unstable();
    hops
}

fn errors(net: &Net) -> usize {
    net.messages(|message| matches!(message, Message::Error(_)).then_some(())).len()
}

#[test]
fn a_diamond_has_two_paths() {
    for spec in ["aomdv", "aomdv,profile=ns2", "qaomdv"] {
        let mut net = Net::new(spec, 4, &DIAMOND, 1);
        net.send(1.0, 0, 3);
        net.finish(2.0);
        assert_eq!(next_hops(&net, 0, 3), [1, 2], "{spec}");
        assert_eq!(next_hops(&net, 3, 0), [1, 2], "{spec}: and the reverse route");
        assert_eq!(net.delivered.len(), 1, "{spec}");
    }
}

#[test]
fn link_disjoint_paths_may_share_a_node_and_node_disjoint_ones_may_not() {
    let paths = |spec| {
        let mut net = Net::new(spec, 7, &DOUBLE, 1);
        net.send(1.0, 0, 6);
        net.finish(2.0);
        let paths = net.router(0).paths(net.now, Address(6));
        let mut ends: Vec<_> =
            paths.iter().map(|p| (p.next_hop.0, p.last_hop.map(|hop| hop.0), p.hops)).collect();
        ends.sort_unstable();
        ends
    };
    let link = paths("aomdv");
    assert_eq!(link.iter().map(|end| end.0).collect::<Vec<_>>(), [1, 2]);
    let mut last: Vec<_> = link.iter().map(|end| end.1).collect();
    last.sort_unstable();
    assert_eq!(last, [Some(4), Some(5)]);
    assert!(link.iter().all(|end| end.2 == 4));
    assert_eq!(paths("aomdv,disjoint=node").len(), 1);
}

#[test]
fn a_source_whose_first_link_fails_goes_on_by_the_other_path() {
    let mut net = Net::new("aomdv", 4, &DIAMOND, 1);
    net.send(1.0, 0, 3);
    net.run(2.0);
    let first = net.next_hop(0, 3).expect("two paths");
    net.set_link(2.0, 0, first, false);
    for packet in 0..10 {
        net.send(2.1 + f64::from(packet) * 0.0002, 0, 3);
    }
    net.finish(3.0);
    assert_eq!(next_hops(&net, 0, 3), [3 - first]);
    assert_eq!(net.delivered.len(), 11, "including those that waited for the lost neighbour");
    assert_eq!(errors(&net), 0);
    let counters = net.router(0).counters();
    assert_eq!(counters.discoveries, 1);
    assert!(counters.salvages > 1, "{counters:?}");
    assert!(net.delivered[1].0.salvaged == 1);
}

#[test]
fn an_error_takes_one_path_and_goes_no_further_while_there_is_another() {
    let mut net = Net::new("aomdv", 4, &DIAMOND, 1);
    net.send(1.0, 0, 3);
    net.run(2.0);
    let first = net.next_hop(0, 3).expect("two paths");
    net.set_link(2.0, first, 3, false);
    net.send(2.1, 0, 3);
    net.send(2.2, 0, 3);
    net.finish(3.0);
    assert_eq!(next_hops(&net, 0, 3), [3 - first]);
    assert_eq!(errors(&net), 1, "of the node before the lost link only");
    assert_eq!((net.delivered.len(), net.dropped.len()), (2, 1), "the first has nowhere to go from there");
    assert_eq!(net.dropped[0].1, DropCause::LinkFailed);
    assert_eq!(net.router(0).counters().discoveries, 1);
}

#[test]
fn in_the_middle_of_two_diamonds_a_datagram_is_salvaged() {
    let mut net = Net::new("aomdv", 7, &DOUBLE, 1);
    net.send(1.0, 0, 6);
    net.run(2.0);
    let onward = net.next_hop(3, 6).expect("two paths");
    net.set_link(2.0, 3, onward, false);
    net.send(2.1, 0, 6);
    net.finish(3.0);
    assert_eq!((net.delivered.len(), errors(&net)), (2, 0));
    assert_eq!(net.router(3).counters().salvages, 1);
}

#[test]
fn after_the_last_path_only_a_newer_one_counts() {
    let mut net = Net::new("aomdv", 4, &DIAMOND, 1);
    net.send(1.0, 0, 3);
    net.run(2.0);
    let sequence = net.router(0).paths(net.now, Address(3))[0].sequence.expect("AOMDV has one");
    net.set_link(2.0, 0, 1, false);
    net.set_link(2.0, 0, 2, false);
    net.send(2.1, 0, 3);
    net.send(2.2, 0, 3);
    net.finish(2.5);
    let wanted = net.messages(|message| match message {
        Message::Request(request) if request.source == Address(0) => Some(request.destination_sequence),
        _ => None,
    });
    assert_eq!(wanted.last().map(|(.., number)| *number), Some(sequence + 1));
    assert_eq!(errors(&net), 0, "no other node used node 0");
}

fn reply(destination_sequence: u32, hops: u8, first_hop: u32) -> Message {
    Message::Reply(Reply {
        source: Address(0),
        destination: Address(9),
        destination_sequence,
        hops,
        ttl: 30,
        lifetime: Duration::from_secs(10),
        sent: Instant::ZERO,
        trace: Some(Trace { id: 1, first_hop: Address(first_hop) }),
        quality: None,
    })
}

fn request(id: u32, from: u32) -> Message {
    Message::Request(Request {
        source: Address(8),
        source_sequence: 2 * id,
        id,
        destination: Address(9),
        destination_sequence: 0,
        hops: 1,
        ttl: 5,
        sent: Instant::ZERO,
        first_hop: Some(Address(from)),
        quality: None,
    })
}

#[test]
fn of_equally_new_paths_those_are_kept_that_share_no_hop_and_are_not_too_long() {
    let star = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)];
    let mut net = Net::new("aomdv", 6, &star, 1);
    net.tell(0, 1, reply(10, 2, 91));
    net.tell(0, 1, reply(10, 2, 92));
    assert_eq!(net.hops(0, 9), [(1, 3)], "the same next hop");
    net.tell(0, 2, reply(10, 2, 91));
    assert_eq!(net.hops(0, 9), [(1, 3)], "the same last hop");
    net.tell(0, 2, reply(10, 4, 92));
    assert_eq!(net.hops(0, 9), [(1, 3)], "longer by two");
    net.tell(0, 2, reply(10, 3, 92));
    assert_eq!(net.hops(0, 9), [(1, 3), (2, 4)], "longer by one");
    net.tell(0, 3, reply(10, 1, 93));
    net.tell(0, 4, reply(10, 1, 94));
    assert_eq!(net.hops(0, 9), [(1, 3), (2, 4), (3, 2)], "three at most");
    net.tell(0, 5, reply(8, 0, 95));
    assert_eq!(net.hops(0, 9).len(), 3, "older");
    net.tell(0, 5, reply(12, 9, 95));
    assert_eq!(net.hops(0, 9), [(5, 10)], "newer: all others are gone");
}

#[test]
fn what_was_announced_bounds_what_is_taken() {
    // Marina and Das 2001: the announced length is that of the longest path at the first announcement, and is
    // fixed.
    let star = [(0, 1), (0, 2), (0, 3), (0, 4)];
    let mut net = Net::new("aomdv", 5, &star, 1);
    net.tell(0, 1, reply(10, 2, 91));
    net.tell(0, 2, reply(10, 3, 92));
    let answer = net.tell(0, 4, request(1, 80));
    let Packet::Control(Message::Reply(answer)) = &answer[0].packet else { panic!("{answer:?}") };
    assert_eq!((answer.hops, answer.trace), (4, Some(Trace { id: 1, first_hop: Address(91) })));
    net.tell(0, 3, reply(10, 4, 93));
    assert_eq!(net.hops(0, 9), [(1, 3), (2, 4)], "a neighbour that is as far away may lead back here");
    net.tell(0, 3, reply(10, 3, 93));
    assert_eq!(net.hops(0, 9), [(1, 3), (2, 4), (3, 4)]);
    for neighbour in [2, 3] {
        net.tell(0, neighbour, Message::Error(vec![Unreachable { destination: Address(9), sequence: 11 }]));
    }
    assert_eq!(net.hops(0, 9), [(1, 3)]);
    let answer = net.tell(0, 4, request(2, 80));
    let Packet::Control(Message::Reply(answer)) = &answer[0].packet else { panic!("{answer:?}") };
    assert_eq!(answer.hops, 4, "although the longer paths are gone");
}

#[test]
fn a_destination_answers_different_neighbours_whatever_the_first_hop() {
    let answered = |spec: &str| {
        let mut net = Net::new(spec, 6, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)], 1);
        let copies = [(1, 2, 80), (2, 2, 80), (3, 3, 80), (4, 4, 81), (5, 3, 81)];
        copies.map(|(from, hops, first_hop)| {
            let request = Request {
                source: Address(8),
                source_sequence: 2,
                id: 1,
                destination: Address(0),
                destination_sequence: 0,
                hops,
                ttl: 5,
                sent: Instant::ZERO,
                first_hop: Some(Address(first_hop)),
                quality: None,
            };
            !net.tell(0, from, Message::Request(request)).is_empty()
        })
    };
    // Equal length, longer by one, longer by two; the last is the fourth.
    assert_eq!(answered("aomdv"), [true, true, true, false, false], "up to three");
    assert_eq!(answered("aomdv,paths=4"), [true, true, true, false, true]);
    assert_eq!(
        answered("aomdv,profile=ns2"),
        [true, true, false, false, true],
        "not longer with the same first hop"
    );
}

#[test]
fn a_node_on_the_way_announces_each_path_once_per_request() {
    let star = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)];
    let mut net = Net::new("aomdv", 6, &star, 1);
    net.tell(0, 1, reply(10, 2, 91));
    net.tell(0, 2, reply(10, 2, 92));
    let answers: Vec<_> = [(3, 81), (3, 81), (4, 82), (5, 83)]
        .iter()
        .flat_map(|(by, hop)| net.tell(0, *by, request(1, *hop)))
        .collect();
    let shown: Vec<_> = answers
        .iter()
        .map(|sent| match &sent.packet {
            Packet::Control(Message::Reply(reply)) => (sent.to, reply.trace.map(|trace| trace.first_hop.0)),
            other => panic!("{other:?}"),
        })
        .collect();
    let to = |node| NextHop::Neighbour(Address(node));
    assert_eq!(shown, [(to(3), Some(91)), (to(4), Some(92))]);
}

#[test]
fn messages_have_ns2s_sizes() {
    let bytes = |spec: &str| {
        let mut net = Net::new(spec, 3, &[(0, 1), (1, 2)], 1);
        net.send(2.0, 0, 2);
        net.run(4.0);
        net.set_link(4.0, 1, 2, false);
        net.send(4.1, 0, 2);
        net.run(12.0);
        let size = |which: fn(&Message) -> bool| {
            let mut found = net.air.iter().filter_map(|(.., packet)| match packet {
                Packet::Control(message) if which(message) => Some(packet.bytes()),
                _ => None,
            });
            found.next()
        };
        [
            size(|m| matches!(m, Message::Request(_))),
            size(|m| matches!(m, Message::Reply(_))),
            size(|m| matches!(m, Message::Error(_))),
            size(|m| matches!(m, Message::Hello { .. })),
            size(|m| matches!(m, Message::Probe)),
        ]
    };
    assert_eq!(bytes("aodv"), [Some(48), Some(44), Some(32), None, None]);
    assert_eq!(bytes("aomdv"), [Some(52), Some(52), Some(32), None, None]);
    assert_eq!(bytes("aomdv,profile=ns2"), [Some(52), Some(52), Some(32), Some(44), None]);
    assert_eq!(bytes("qaomdv"), [Some(60), Some(60), Some(32), None, Some(84)]);
}

#[test]
fn without_link_layer_detection_a_lost_link_is_noticed_by_silence() {
    // RFC 3561 §6.10 with ns-2.35's constants: 4.5 s after the last HELLO, checked every second.
    let mut net = Net::new("aomdv,profile=ns2", 3, &[(0, 1), (1, 2)], 1);
    net.run(3.0);
    assert_eq!(
        net.messages(|m| matches!(m, Message::Hello { .. }).then_some(())).len(),
        0,
        "nothing is in use"
    );
    for packet in 0..100 {
        net.send(3.0 + f64::from(packet) * 0.1, 0, 2);
    }
    net.set_link(8.0, 1, 2, false);
    net.run(10.9);
    assert_eq!(net.next_hop(1, 2), Some(2), "at least 3.25 s after the last HELLO that came");
    net.run(13.6);
    assert_eq!((net.next_hop(1, 2), net.next_hop(0, 2)), (None, None));
    assert!(net.dropped.iter().all(|(_, cause)| matches!(cause, DropCause::LinkFailed | DropCause::NoRoute)));
    let hellos = net.messages(|m| matches!(m, Message::Hello { .. }).then_some(()));
    let times: Vec<f64> = hellos.iter().filter(|(_, from, ())| *from == 0).map(|(at, ..)| *at).collect();
    assert!(times.len() >= 7 && times.windows(2).all(|w| (0.74..1.26).contains(&(w[1] - w[0]))), "{times:?}");
}

#[test]
fn an_even_split_alternates_between_two_paths() {
    let mut net = Net::new("aomdv,split=even", 4, &DIAMOND, 1);
    net.send(1.0, 0, 3);
    for packet in 0..10 {
        net.send(2.0 + f64::from(packet) * 0.01, 0, 3);
    }
    net.finish(3.0);
    let hops: Vec<u32> = net
        .air
        .iter()
        .filter_map(|(_, from, to, packet)| match (from, to, packet) {
            (0, NextHop::Neighbour(to), Packet::Data(_)) => Some(to.0),
            _ => None,
        })
        .skip(1)
        .collect();
    assert_eq!(hops.len(), 10);
    assert!(hops.windows(2).all(|pair| pair[0] != pair[1]), "{hops:?}");
}
