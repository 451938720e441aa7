//! QAOMDV and MPR cases with expected values: Algorithm 1, estimates, the paths of originals and of
//! retransmissions.

use core::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use super::config::{Bandwidth, Idle, QaomdvConfig};
use super::estimators::Estimators;
use super::quality::{improves, replaceable, usable_bandwidth};
use crate::address::Address;
use crate::aomdv::Path;
use crate::datagram::{Class, Packet};
use crate::message::{Message, Quality};
use crate::node::{Context, Transmission};
use crate::output::{DropCause, NextHop};
use crate::testing::Net;

#[test]
fn algorithm_1_divides_by_the_hops_up_to_four() {
    let megabyte = 1e6;
    assert_eq!(usable_bandwidth(megabyte, 1), 1e6);
    assert_eq!(usable_bandwidth(megabyte, 2), 5e5);
    assert_eq!(usable_bandwidth(megabyte, 4), 2.5e5);
    assert_eq!(usable_bandwidth(megabyte, 5), 2.5e5);
    assert_eq!(usable_bandwidth(megabyte, 0), 1e6, "there is no path without a hop");
}

/// The context at second `now`, with a total idle time of `idle` seconds.
fn at(now: f64, idle: f64) -> Context {
    Context { now: Instant::from_secs_f64(now), idle: Duration::from_secs_f64(idle), room: 50 }
}

fn estimators(change: impl FnOnce(&mut QaomdvConfig)) -> Estimators {
    let mut config = QaomdvConfig::usual();
    config.probes = 0;
    change(&mut config);
    Estimators::new(&config, &Seeds::new(1, 0))
}

#[test]
fn the_residual_bandwidth_is_capacity_times_smoothed_idle_share() {
    let mut estimators = estimators(|_| {});
    let raw = 11e6 / 8.0;
    assert_eq!(estimators.bandwidth(&at(0.5, 0.0)), raw, "nothing is known yet");
    estimators.handle_timeout(&at(1.0, 0.5));
    assert_eq!(estimators.bandwidth(&at(1.5, 0.5)), raw * 0.5);
    estimators.handle_timeout(&at(2.0, 1.5));
    assert_eq!(estimators.bandwidth(&at(2.5, 1.5)), raw * 0.625, "0.5 + 1/4 · (1 - 0.5)");
    for second in 3..60 {
        estimators.handle_timeout(&at(f64::from(second), 1.5));
    }
    assert_eq!(estimators.bandwidth(&at(60.0, 1.5)), 1000.0, "never less");
}

#[test]
fn the_true_share_is_that_of_the_last_one_to_two_seconds() {
    let mut estimators = estimators(|config| config.bandwidth = Bandwidth::True);
    let raw = 11e6 / 8.0;
    estimators.handle_timeout(&at(1.0, 1.0));
    estimators.handle_timeout(&at(2.0, 1.5));
    let share = (1.75 - 1.0) / 1.5;
    assert!((estimators.bandwidth(&at(2.5, 1.75)) - raw * share).abs() < 1e-6);
}

#[test]
fn own_gaps_are_idle_whatever_others_do() {
    let mut estimators = estimators(|config| config.idle = Idle::OwnGap);
    // Half a second at 11 Mbit/s.
    estimators.sent(687_500);
    estimators.handle_timeout(&at(1.0, 0.0));
    assert!((estimators.bandwidth(&at(1.0, 0.0)) - 687_500.0).abs() < 1e-3);
}

#[test]
fn the_delay_of_a_link_is_smoothed_and_5_ms_while_unknown() {
    let mut estimators = estimators(|_| {});
    let ms = Duration::from_millis;
    assert_eq!(estimators.delay(Address(1)), ms(5));
    estimators.on_received(Address(1), ms(8));
    assert_eq!(estimators.delay(Address(1)), ms(8));
    estimators.on_received(Address(1), ms(16));
    assert_eq!(estimators.delay(Address(1)), ms(10));
}

fn path(node: u32, bandwidth: f64, delay_ms: u64) -> Path {
    let quality = Quality { bandwidth, delay: Duration::from_millis(delay_ms) };
    Path {
        next_hop: Address(node),
        last_hop: Address(100 + node),
        hops: 3,
        expires: Instant::MAX,
        quality: Some(quality),
    }
}

#[test]
fn a_better_path_takes_the_place_of_one_that_is_neither_widest_nor_fastest() {
    let kept = [path(1, 900.0, 90), path(2, 300.0, 10), path(3, 400.0, 50)];
    assert_eq!(replaceable(&kept, &path(4, 500.0, 50)), Some(2), "wider");
    assert_eq!(replaceable(&kept, &path(4, 400.0, 40)), Some(2), "faster");
    assert_eq!(replaceable(&kept, &path(4, 420.0, 48)), None, "by less than a tenth");
    assert_eq!(
        replaceable(&kept, &path(3, 999.0, 1)),
        Some(2),
        "it would share the hops of the one that goes"
    );
    assert_eq!(replaceable(&kept, &path(1, 999.0, 1)), None, "it shares the hops of one that stays");
    assert_eq!(replaceable(&kept[..2], &path(4, 999.0, 1)), None, "the widest and the fastest stay");
}

/// §5.2: a path is inserted if it is "a better path, e.g., a path with higher bandwidth or lower delay".
#[test]
fn a_path_is_better_if_it_is_wider_or_faster_than_all_others() {
    let kept = [path(1, 900.0, 90), path(2, 300.0, 10)];
    assert!(improves(&kept, &path(3, 901.0, 100)), "wider");
    assert!(improves(&kept, &path(3, 100.0, 9)), "faster");
    assert!(!improves(&kept, &path(3, 600.0, 50)), "in between");
    assert!(!improves(&kept, &path(3, 900.0, 10)), "as good");
    assert!(improves(&[], &path(3, 1.0, 1000)), "the first");
}

/// With `insert=better` a path that is neither wider nor faster than those before it is refused, so that some searches
/// find fewer than the three paths of the network.
#[test]
fn paths_that_are_no_better_are_refused_on_request() {
    let found = |spec: &str, seed| {
        eight_nodes_with(spec, seed).router(0).paths(Instant::from_millis(9000), Address(7)).len()
    };
    let (all, better): (Vec<_>, Vec<_>) =
        (1..=20).map(|seed| (found("qaomdv", seed), found("qaomdv,insert=better", seed))).unzip();
    assert!(all.iter().all(|n| *n == 3), "{all:?}");
    assert!(better.contains(&2) && better.contains(&3), "{better:?}");
}

/// Two paths meet in node 3: one over node 1, and one over node 2, which is busy. If the request takes node 1 first,
/// each path has the bandwidth of its own nodes. If the request takes node 2 first, the reply has the bandwidth of node
/// 2, and so have both paths.
#[test]
fn bandwidths_of_paths_that_meet_are_their_own() {
    let links = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (4, 6), (3, 5), (5, 6)];
    let raw = 11e6 / 8.0 / 4.0;
    let wide = |bandwidth: f64| {
        let is_wide = (0.9 * raw..=raw).contains(&bandwidth);
        assert!(is_wide || (0.18 * raw..=0.21 * raw).contains(&bandwidth), "{bandwidth} of {raw}");
        is_wide
    };
    let mut first = Vec::new();
    for seed in 1..=20 {
        let mut net = Net::new("qaomdv", 7, &links, seed);
        net.busy.insert(2, 0.8);
        net.send(8.0, 0, 6);
        net.run(9.0);
        let way = |of: u32, to: u32, over: u32| {
            let paths = net.router(of).paths(net.now, Address(to));
            paths.iter().find(|p| p.next_hop.0 == over).and_then(|p| p.bandwidth)
        };
        let replied = way(3, 6, 4).or_else(|| way(3, 6, 5)).map(wide).expect("a reply came");
        let widths = (way(0, 6, 1).map(wide), way(0, 6, 2).map(wide));
        assert!(widths.0.is_none_or(|it| it == replied), "seed {seed}");
        assert!(widths.1.is_none_or(|it| !it), "seed {seed}");
        first.push((replied, widths));
    }
    for case in [(true, (Some(true), Some(false))), (false, (Some(false), Some(false)))] {
        assert!(first.contains(&case), "{first:?}");
    }
}

/// Eight nodes, as in Guo, Liu and Lian 2010, Fig. 3, with new numbers. Three paths lead from 0 to 7: the one
/// over 1 and 2 is wide and slow, that over 3 and 4 narrow and fast, that over 5 and 6 in between.
fn eight_nodes(spec: &str) -> Net {
    eight_nodes_with(spec, 1)
}

fn eight_nodes_with(spec: &str, seed: u64) -> Net {
    let links = [(0, 1), (1, 2), (2, 7), (0, 3), (3, 4), (4, 7), (0, 5), (5, 6), (6, 7)];
    let mut net = Net::new(spec, 8, &links, seed);
    for (nodes, busy, delay) in [([1, 2], 0.2, 20), ([3, 4], 0.8, 2), ([5, 6], 0.5, 10)] {
        for (from, to) in [(0, nodes[0]), (nodes[0], nodes[1]), (nodes[1], 7)] {
            net.extra.insert((from, to), Duration::from_millis(delay));
            net.extra.insert((to, from), Duration::from_millis(delay));
        }
        net.busy.extend(nodes.map(|node| (node, busy)));
    }
    net.send(8.0, 0, 7);
    net.run(9.0);
    net
}

/// Next hops of the data that node 0 sent after 9 s, with class and label.
fn sent(net: &Net) -> Vec<(u32, Class, Option<u32>)> {
    let data = net.air.iter().filter_map(|(at, from, to, packet)| match (from, to, packet) {
        (0, NextHop::Neighbour(to), Packet::Data(datagram)) if at.as_secs_f64() > 9.0 => {
            Some((to.0, datagram.class, datagram.label.map(|label| label.0)))
        }
        _ => None,
    });
    data.collect()
}

fn segment(net: &mut Net, at: f64, end: u32) {
    net.send_transmission(at, 0, 7, Some(Transmission { flow: 1, end }));
}

#[test]
fn paths_are_known_with_the_least_bandwidth_and_the_sum_of_delays() {
    let net = eight_nodes("qaomdv");
    let paths = net.router(0).paths(net.now, Address(7));
    let known: Vec<_> =
        paths.iter().map(|p| (p.next_hop.0, p.bandwidth.unwrap(), p.delay.unwrap())).collect();
    assert_eq!(known.iter().map(|path| path.0).collect::<Vec<_>>(), [1, 5, 3], "the widest first");
    // Fractions of idle time over three hops; the nodes' own packets take a little of it. Each hop adds 1 ms
    // to the delay.
    for ((_, bandwidth, delay), (share, ms)) in known.into_iter().zip([(0.8, 63.0), (0.5, 33.0), (0.2, 9.0)])
    {
        let expected = 11e6 / 8.0 * share / 3.0;
        assert!((0.97 * expected..=expected).contains(&bandwidth), "{bandwidth} for {expected}");
        assert!((delay.as_secs_f64() * 1e3 - ms).abs() < 2.0, "{delay:?} for {ms} ms");
    }
    let onward = net.router(2).paths(net.now, Address(7));
    assert!((onward[0].delay.unwrap().as_secs_f64() - 0.021).abs() < 0.001, "what lies ahead: {onward:?}");
}

#[test]
fn originals_go_the_wide_way_and_retransmissions_the_fast_one() {
    let mut net = eight_nodes("qaomdv,split=mpr");
    for (packet, end) in [1000, 2000, 3000, 2000, 4000].into_iter().enumerate() {
        segment(&mut net, 9.1 + packet as f64 * 0.1, end);
    }
    net.finish(10.0);
    let original = (1, Class::Original, Some(2));
    assert_eq!(sent(&net), [original, original, original, (3, Class::Retransmission, Some(4)), original]);
    assert_eq!(net.delivered.len(), 6);
    let counted = net.router(0).counters();
    assert_eq!((counted.apart, counted.together), (5, 1), "the first had the only path known by then");
    let data = net.air.iter().find(|(_, _, _, packet)| matches!(packet, Packet::Data(_)));
    assert_eq!(data.map(|(.., packet)| packet.bytes()), Some(1004), "the label");
}

#[test]
fn the_ablations_send_all_on_one_path() {
    for (spec, next_hop) in
        [("qaomdv", 1), ("qaomdv,split=mpr,rtx=widest", 1), ("qaomdv,split=mpr,original=fastest", 3)]
    {
        let mut net = eight_nodes(spec);
        [1000, 2000, 1000].into_iter().for_each(|end| segment(&mut net, 9.1, end));
        net.finish(10.0);
        assert!(sent(&net).iter().all(|hop| hop.0 == next_hop), "{spec}: {:?}", sent(&net));
    }
}

#[test]
fn retransmissions_overtake_originals_that_wait_for_room() {
    let mut net = eight_nodes("qaomdv,split=mpr");
    (1..=60).for_each(|number| segment(&mut net, 9.1, 1000 * number));
    segment(&mut net, 9.1, 1000);
    net.finish(10.0);
    let at = sent(&net).iter().position(|hop| hop.1 == Class::Retransmission);
    assert_eq!(at, Some(50), "behind the fifty of the interface queue, before the ten that wait");
}

#[test]
fn more_than_fifty_that_wait_are_dropped() {
    let mut net = eight_nodes("qaomdv,split=mpr");
    (1..=110).for_each(|number| segment(&mut net, 9.1, 1000 * number));
    net.finish(10.0);
    assert_eq!(net.dropped.iter().map(|(_, cause)| *cause).collect::<Vec<_>>(), [DropCause::SplitQueue; 10]);
    assert_eq!(net.delivered.len(), 101);
}

#[test]
fn on_the_way_a_datagram_stays_on_the_path_of_its_label() {
    // Two diamonds in a row: node 3 has two paths to the destination, a slow one over 4 and a narrow one over
    // 5, and the label decides.
    let links = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (4, 6), (3, 5), (5, 6)];
    let mut net = Net::new("qaomdv,split=mpr", 7, &links, 1);
    net.extra.extend([(3, 4), (4, 6)].map(|link| (link, Duration::from_millis(20))));
    net.busy.insert(5, 0.5);
    net.send(8.0, 0, 6);
    net.run(9.0);
    assert_eq!(net.hops(3, 6).len(), 2);
    for packet in 0..6 {
        let end = if packet % 2 == 0 { 1000 * packet + 5000 } else { 1000 };
        net.send_transmission(9.1 + 0.1 * f64::from(packet), 0, 6, Some(Transmission { flow: 1, end }));
    }
    net.finish(10.0);
    let labels = |node: u32| {
        let data = net.air.iter().filter_map(move |(at, from, to, packet)| match (to, packet) {
            (NextHop::Neighbour(to), Packet::Data(d)) if *from == node && at.as_secs_f64() > 9.0 => {
                Some((to.0, d.label.map(|label| label.0)))
            }
            _ => None,
        });
        data.collect::<Vec<_>>()
    };
    assert_eq!(labels(3).len(), 6);
    assert!(labels(3).iter().all(|(to, label)| Some(*to) == *label), "{:?}", labels(3));
    assert_eq!(
        labels(0).iter().filter(|(_, label)| *label == Some(5)).count(),
        3,
        "the fast way: {:?}",
        labels(0)
    );
}

#[test]
fn paths_in_use_are_measured_again_every_ten_seconds() {
    let mut net = eight_nodes("qaomdv,split=mpr");
    let before = net.router(0).paths(net.now, Address(7))[0].sequence.unwrap();
    for packet in 0..150 {
        net.send(9.1 + f64::from(packet) * 0.1, 0, 7);
    }
    // The widest path becomes the narrowest.
    net.busy.insert(1, 0.95);
    net.finish(25.0);
    let searches = net.messages(|message| match message {
        Message::Request(request) if request.source.0 == 0 => Some(request.destination_sequence),
        _ => None,
    });
    let own: Vec<_> =
        searches.iter().filter(|(_, from, _)| *from == 0).map(|(at, _, number)| (*at, *number)).collect();
    assert_eq!(own.len(), 2, "{own:?}");
    assert!((18.0..18.2).contains(&own[1].0) && own[1].1 == before + 1, "{own:?}");
    assert_eq!(net.next_hop(0, 7), Some(5));
    assert_eq!(net.delivered.len(), 151, "nothing is lost by it");
}
