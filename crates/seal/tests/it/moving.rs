//! Changing addresses: NATs that drop mappings, uplinks that share a NAT, addresses that are only claimed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::PathState;
use strandcast_seal::SealEvent;

use crate::common::*;

fn moved(w: &Harness) -> usize {
    w.count(0, |e| matches!(e, SealEvent::Moved { .. }))
}

/// Sends a message of `len` bytes `n` times, one each `every` milliseconds, and calls `meanwhile` before
/// each.
fn stream(w: &mut Harness, n: usize, every: u64, mut meanwhile: impl FnMut(&mut Harness, usize)) -> usize {
    let id = w.nodes[1].events[0].0;
    for i in 0..n {
        meanwhile(w, i);
        w.send(1, id, pattern(i * 4000, 4000));
        w.run(ms(every));
    }
    w.run(ms(15_000));
    n * 4000
}

#[test]
fn a_path_goes_on_behind_a_nat_that_forgot_it() {
    for seed in 0..5 {
        let mut w = Harness::pair(seed, &[20, 30]);
        let id = w.up();
        let sent = stream(&mut w, 200, 10, |w, i| {
            if i == 100 {
                w.uplinks[1].outside = address([203, 0, 113, 9], 1234);
            }
        });
        let accepted = w.accepted();
        assert!(w.nodes[0].received[&accepted] == pattern(0, sent), "seed {seed}");
        assert_eq!(moved(&w), 1, "seed {seed}");
        let remotes = [0, 1].map(|p| w.remote(0, accepted, p));
        assert!(remotes.contains(&address([203, 0, 113, 9], 1234)), "seed {seed}: {remotes:?}");
        assert_eq!(w.states(0, accepted), [PathState::Active; 2], "seed {seed}");
        assert_eq!(w.states(1, id), [PathState::Active; 2], "seed {seed}");
    }
}

#[test]
fn an_address_that_changes_each_second_loses_nothing() {
    let mut w = Harness::pair(1, &[50]);
    w.up();
    let sent = stream(&mut w, 600, 50, |w, i| {
        if i % 20 == 0 {
            w.uplinks[1].outside = address([203, 0, 113, 9], 2000 + i as u16);
        }
    });
    assert!(w.nodes[0].received[&w.accepted()] == pattern(0, sent));
    assert_eq!(moved(&w), 30);
}

/// Both uplinks have one public address, and ports that the NAT exchanges between them.
#[test]
fn two_uplinks_behind_one_nat_stay_two_paths_even_if_it_exchanges_them() {
    let mut w = Harness::pair(2, &[20, 45]);
    let [a, b] = [1000, 1001].map(|port| address([203, 0, 113, 9], port));
    (w.uplinks[1].outside, w.uplinks[2].outside) = (a, b);
    let id = w.up();
    let accepted = w.accepted();
    assert_eq!(w.states(0, accepted), [PathState::Active; 2]);
    let sent = stream(&mut w, 400, 10, |w, i| {
        if i == 200 {
            (w.uplinks[1].outside, w.uplinks[2].outside) = (b, a);
        }
    });
    assert!(w.nodes[0].received[&accepted] == pattern(0, sent));
    assert_eq!(w.states(0, accepted), [PathState::Active; 2]);
    assert_eq!(w.states(1, id), [PathState::Active; 2]);
}

/// This side's own address changes: the driver has another socket for the path.
#[test]
fn a_path_keeps_its_number_when_this_sides_address_changes() {
    let mut w = Harness::pair(3, &[20, 30]);
    let id = w.up();
    let path = w.nodes[1].end.endpoint().association(id).expect("open").paths()[0].id;
    let sent = stream(&mut w, 200, 10, |w, i| {
        if i == 100 {
            let inside = address([10, 9, 9, 9], 41_000);
            let local =
                w.nodes[1].end.endpoint().association(id).and_then(|a| a.tuple(path)).expect("a path").local;
            let uplink = w.uplinks.iter_mut().find(|u| u.inside == local).expect("its uplink");
            (uplink.inside, uplink.outside) = (inside, address([203, 0, 113, 77], 7));
            let tuple = strandcast_proto::path::FourTuple::new(uplink.link, inside, server_address());
            let now = w.now;
            w.nodes[1].end.move_path(now, id, path, tuple).expect("moved");
            w.pump();
        }
    });
    let accepted = w.accepted();
    assert!(w.nodes[0].received[&accepted] == pattern(0, sent));
    assert_eq!(moved(&w), 1);
    assert_eq!(w.states(0, accepted), [PathState::Active; 2], "no third path");
}

/// A host on the path forwards each datagram of the sender from a foreign address before the real one
/// arrives: data stay on the old address, and the victim gets no more than three times the bytes that the
/// receiver counted from it.
#[test]
fn datagrams_sent_on_from_elsewhere_move_nothing_and_amplify_nothing() {
    let mut w = Harness::pair(4, &[40]);
    w.up();
    let accepted = w.accepted();
    let real = w.remote(0, accepted, 0);
    w.record = Some(Vec::new());
    let victim = address([203, 0, 113, 66], 53);
    let sent = stream(&mut w, 200, 10, |w, _| {
        for seen in core::mem::take(w.record.as_mut().expect("kept")) {
            if seen.to == server_address() {
                w.inject(victim, server_address(), &seen.bytes);
            }
        }
        let (out, came) = (w.towards.get(&victim), w.arrived.get(&victim));
        assert!(out.unwrap_or(&0) <= &(3 * came.unwrap_or(&0)), "{out:?} {came:?}");
    });
    assert!(w.nodes[0].received[&accepted] == pattern(0, sent));
    assert_eq!((moved(&w), w.remote(0, accepted, 0)), (0, real));
    assert!(w.arrived[&victim] > 100_000, "the attack took place");
}

/// The previous attack with a new address each time: each claims to be the newest.
#[test]
fn many_claimed_addresses_get_three_times_what_came_from_each() {
    let mut w = Harness::pair(5, &[40]);
    w.up();
    w.record = Some(Vec::new());
    let mut port = 0;
    let sent = stream(&mut w, 300, 10, |w, _| {
        for seen in core::mem::take(w.record.as_mut().expect("kept")) {
            if seen.to == server_address() {
                port += 1;
                w.inject(address([203, 0, 113, 66], port), server_address(), &seen.bytes);
            }
        }
    });
    assert!(w.nodes[0].received[&w.accepted()] == pattern(0, sent));
    assert!(port > 500, "the attack took place");
    let claimed: BTreeMap<_, _> =
        w.towards.iter().filter(|(to, _)| to.ip() == address([203, 0, 113, 66], 0).ip()).collect();
    assert!(!claimed.is_empty());
    for (to, out) in claimed {
        assert!(*out <= 3 * w.arrived[to], "{to}: {out} for {}", w.arrived[to]);
    }
}

/// The first datagrams of a new path are forwarded from a foreign address.
#[test]
fn a_new_path_that_seems_to_come_from_elsewhere_amplifies_nothing() {
    let mut w = Harness::pair(6, &[40]);
    let id = w.up();
    let uplink = w.add_uplink(1, 1, 60);
    let tuple = FourTuple::new(w.uplinks[uplink].link, w.uplinks[uplink].inside, server_address());
    w.record = Some(Vec::new());
    let now = w.now;
    w.nodes[1].end.add_path(now, id, tuple, None).expect("added");
    w.pump();
    let shown = Arc::new(AtomicU64::new(0));
    let (count, before) = (Arc::clone(&shown), w.stats(0));
    let tap = move |_, _: &FourTuple, sent: bool, _: &[u8]| {
        count.fetch_add(u64::from(sent), Ordering::Relaxed);
    };
    w.nodes[0].end.set_tap(Some(Box::new(tap)));
    let victim = address([203, 0, 113, 66], 53);
    let outside = w.uplinks[uplink].outside;
    let first = w.record.take().expect("kept").into_iter().find(|s| s.from == outside).expect("JOIN");
    w.inject(victim, server_address(), &first.bytes);
    let sent = stream(&mut w, 200, 10, |_, _| {});
    let accepted = w.accepted();
    assert!(w.nodes[0].received[&accepted] == pattern(0, sent));
    assert!(w.towards[&victim] <= 3 * w.arrived[&victim], "{} {}", w.towards[&victim], w.arrived[&victim]);
    assert!([0, 1].map(|p| w.remote(0, accepted, p)).contains(&outside), "the path is where it is");
    assert_eq!(w.states(1, id), [PathState::Active; 2]);
    // A capture holds the packets that left, and not those that the seal withheld.
    let after = w.stats(0);
    assert!(after.withheld > before.withheld);
    assert_eq!(shown.load(Ordering::Relaxed), after.sealed - before.sealed);
}

/// An observer with a faster path forwards each datagram of the sender from its own address, passes the
/// challenges that it gets there on to the sender, and later falls silent. RFC 9000 §9.3.3: the sender never
/// follows the observer, and the receiver returns to the sender's address.
#[test]
fn an_observer_that_passes_challenges_on_takes_no_path_over() {
    for paths in [&[40][..], &[40, 50][..]] {
        let mut w = Harness::pair(4, paths);
        let id = w.up();
        let accepted = w.accepted();
        let (real, client) = (w.remote(0, accepted, 0), w.uplinks[1].outside);
        let mallory = address([203, 0, 113, 66], 53);
        w.record = Some(Vec::new());
        let (from, mut passed) = (w.now, 0);
        let mut relay = |w: &mut Harness| {
            let active = w.now - from < ms(1000);
            for _ in 0..10 {
                for seen in core::mem::take(w.record.as_mut().expect("kept")) {
                    if active && seen.from == client {
                        w.inject(mallory, server_address(), &seen.bytes);
                    } else if active && seen.to == mallory && seen.bytes.len() == 40 {
                        passed += 1;
                        w.inject(mallory, client, &seen.bytes);
                    }
                }
                w.run(ms(1));
            }
        };
        let mut sent = 0;
        for _ in 0..300 {
            w.send(1, id, pattern(sent, 1000));
            sent += 1000;
            relay(&mut w);
            assert_eq!(w.remote(1, id, 0), server_address(), "the sender stays");
        }
        w.record = None;
        w.run(ms(5000));
        assert!(passed > 0, "the attack took place");
        assert!(
            w.nodes[0].received[&accepted].len() == sent,
            "{} of {sent}",
            w.nodes[0].received[&accepted].len()
        );
        assert_eq!(w.remote(0, accepted, 0), real);
    }
}
