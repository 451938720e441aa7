//! Sessions between sealed endpoints: opening, data, several paths, moving, renewal, silence.

use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::PathState;
use strandcast_seal::{Lost, SealConfig, SealEvent};

use crate::common::*;

#[test]
fn an_association_opens_within_two_round_trips() {
    let mut w = Harness::pair(1, &[20]);
    let start = w.now;
    let id = w.connect(1);
    assert!(w.run_until(ms(1000), |w| w.connected(1, id)));
    // Message 1 with INIT, message 2 with INIT ACK; COOKIE ECHO, COOKIE ACK.
    assert_eq!(w.now - start, ms(80));
    let peer = secret(&w.seeds, "sender").public();
    let accepted = w.accepted();
    assert_eq!(w.nodes[0].end.peer(accepted), Some(peer));
    assert!(
        matches!(w.nodes[0].seal_events[..], [SealEvent::Enrolled { key, .. }, SealEvent::Established { peer: p, .. }] if key == peer && p == peer)
    );
    assert!(matches!(w.nodes[1].seal_events[..], [SealEvent::Established { .. }]));
}

#[test]
fn transfers_survive_bad_networks() {
    for seed in 0..8 {
        let mut w = Harness::pair(seed, &[10, 25, 40]);
        let id = w.up();
        let back = w.accepted();
        for uplink in &mut w.uplinks[1..] {
            (uplink.loss, uplink.duplicate, uplink.jitter) = (0.05, 0.05, ms(15));
        }
        for n in 0..40 {
            w.send(1, id, pattern(n * 9000, 9000));
            w.send(0, back, pattern(n * 700, 700));
            w.run(ms(20));
        }
        w.run(ms(60_000));
        assert!(w.nodes[0].received[&back] == pattern(0, 40 * 9000), "seed {seed}");
        assert!(w.nodes[1].received[&id] == pattern(0, 40 * 700), "seed {seed}");
        assert_eq!(w.states(1, id), [PathState::Active; 3], "seed {seed}");
        assert_eq!(w.states(0, back), [PathState::Active; 3], "seed {seed}");
        let now = w.now;
        w.nodes[1].end.endpoint_mut().shutdown(now, id);
        w.pump();
        w.run(ms(30_000));
        for node in [0, 1] {
            let closed = |(_, e): &(_, Event)| *e == Event::Closed(CloseReason::Shutdown);
            assert!(w.nodes[node].events.iter().any(closed), "seed {seed}, node {node}");
            assert_eq!(
                w.stats(node).sessions,
                0,
                "seed {seed}: a session is let go when no association needs it"
            );
            assert_eq!(w.stats(node).failed, 0, "seed {seed}");
        }
    }
}

/// 1000 senders of one association each, on one port of the receiver.
#[test]
fn a_thousand_associations_on_one_port_lose_nothing() {
    let mut w = Harness::new(3);
    w.add_server(open_access(&w.seeds.clone()));
    let mut ids = Vec::new();
    for n in 0..1000 {
        let identity = secret(&w.seeds, &format!("sender {n}"));
        let node = w.add_client(identity);
        w.add_uplink(node, 0, 10 + n % 7);
        ids.push(w.connect(node));
        // Fewer handshakes per second than need cookies.
        w.run(ms(12));
    }
    w.run(ms(2000));
    for (n, id) in ids.iter().enumerate() {
        w.send(n + 1, *id, pattern(n, 3000));
    }
    w.run(ms(5000));
    assert_eq!(w.stats(0).sessions, 1000);
    let mut got: Vec<_> = w.nodes[0].received.values().cloned().collect();
    let mut sent: Vec<_> = (0..1000).map(|n| pattern(n, 3000)).collect();
    got.sort();
    sent.sort();
    assert!(got == sent);
}

#[test]
fn a_receiver_that_was_restarted_is_known_within_a_second_and_a_half_and_connected_to_again() {
    let mut w = Harness::pair(4, &[20, 30]);
    let id = w.up();
    w.send(1, id, pattern(0, 5000));
    w.run(ms(2000));
    let access = open_access(&w.seeds);
    let config = SealConfig::new(secret(&w.seeds, "receiver"), access);
    let fresh = w.endpoint(Some(config), true, "receiver again");
    w.nodes[0].end = fresh;
    (w.nodes[0].events, w.nodes[0].received) = Default::default();
    let restarted = w.now;
    w.send(1, id, pattern(0, 5000));
    let lost = |w: &Harness| w.count(1, |e| matches!(e, SealEvent::Lost { why: Lost::Unknown, .. })) == 1;
    assert!(w.run_until(ms(3000), lost));
    assert!(w.now - restarted <= ms(1500 + 40), "{:?}", w.now - restarted);
    let closed = Event::Closed(CloseReason::SealLost(Lost::Unknown.to_string()));
    assert!(w.nodes[1].events.contains(&(id, closed)));
    let again = w.connect(1);
    w.send_when_up(1, again, pattern(7, 5000));
    w.run(ms(1000));
    assert!(w.nodes[0].received[&w.accepted()] == pattern(7, 5000));
}

/// An hourly handshake renews the keys under load without an effect on the association.
#[test]
fn keys_are_renewed_hourly_and_nothing_is_lost() {
    let mut w = Harness::pair(5, &[20, 60]);
    let id = w.up();
    w.run(ms(3_590_000));
    let mut sent = 0;
    let losses = |w: &Harness| {
        let paths = w.nodes[1].end.endpoint().association(id).expect("open").paths().len();
        (0..paths as u8)
            .map(|p| w.path_stats(1, id, p).timeouts + w.path_stats(1, id, p).lost_fast)
            .sum::<u64>()
    };
    let before = losses(&w);
    for _ in 0..1000 {
        w.send(1, id, pattern(sent, 4000));
        sent += 4000;
        w.run(ms(20));
    }
    w.run(ms(2000));
    let accepted = w.accepted();
    assert!(w.nodes[0].received[&accepted] == pattern(0, sent));
    let renewed = |e: &SealEvent| matches!(e, SealEvent::Renewed { .. });
    assert_eq!((w.count(0, renewed), w.count(1, renewed)), (1, 1));
    assert_eq!(losses(&w), before, "no packet was taken for lost");
    assert_eq!((w.stats(0).failed, w.stats(1).failed), (0, 0));
    assert_eq!((w.stats(0).unknown_ids, w.stats(1).unknown_ids), (0, 0));
    assert_eq!(w.nodes[1].events.iter().filter(|(_, e)| matches!(e, Event::Connected { .. })).count(), 1);
    // The previous keys are dropped after half a minute.
    w.run(ms(40_000));
    w.send(1, id, pattern(0, 1000));
    w.run(ms(1000));
    assert_eq!(w.nodes[0].received[&accepted].len(), sent + 1000);
}

#[test]
fn a_silence_of_a_minute_ends_and_the_session_goes_on() {
    for seed in 0..4 {
        let mut w = Harness::pair(seed, &[20, 60]);
        let id = w.up();
        for (n, up) in [(0, false), (1, true)] {
            w.uplinks[1..].iter_mut().for_each(|u| u.up = up);
            w.send(1, id, pattern(n * 3000, 3000));
            w.run(ms(if up { 10_000 } else { 60_000 }));
        }
        let accepted = w.accepted();
        assert!(w.nodes[0].received[&accepted] == pattern(0, 6000), "seed {seed}: {:?}", w.nodes[1].events);
        assert_eq!(w.count(1, |e| matches!(e, SealEvent::Lost { .. })), 0, "seed {seed}");
        assert_eq!(w.stats(0).sessions, 1, "seed {seed}");
    }
}

/// A receiver's answers are all lost while the sender's datagrams arrive. The sender's keys are renewed as
/// soon as an answer arrives, for any state of the handshakes in between.
#[test]
fn a_return_path_that_fails_for_a_minute_does_not_end_the_session() {
    for seed in 0..4 {
        let mut w = Harness::pair(seed, &[20]);
        let id = w.up();
        w.deaf = Some(1);
        w.send(1, id, pattern(0, 3000));
        w.run(ms(45_000));
        w.deaf = None;
        w.send(1, id, pattern(3000, 3000));
        w.run(ms(10_000));
        let accepted = w.accepted();
        assert!(w.nodes[0].received[&accepted] == pattern(0, 6000), "seed {seed}: {:?}", w.nodes[1].events);
        assert_eq!(w.count(1, |e| matches!(e, SealEvent::Lost { .. })), 0, "seed {seed}");
    }
}

/// Generations change every two minutes while a slow path lags far after a fast one.
#[test]
fn generations_change_while_paths_are_skewed() {
    for skew in [500, 5000] {
        let mut w = Harness::pair(6, &[10, skew]);
        w.uplinks[1..].iter_mut().for_each(|u| u.jitter = ms(100));
        let id = w.up();
        w.run(ms(2 * skew));
        let mut sent = 0;
        for _ in 0..660 {
            w.send(1, id, pattern(sent, 4000));
            sent += 4000;
            w.run(ms(1000));
        }
        w.run(ms(20_000));
        assert!(w.nodes[0].received[&w.accepted()] == pattern(0, sent), "skew {skew}");
        assert_eq!((w.stats(0).failed, w.stats(1).failed), (0, 0), "skew {skew}");
        assert_eq!((w.stats(0).sessions, w.stats(1).sessions), (1, 1), "skew {skew}");
    }
}

/// An idle session adds little to its association's heartbeats.
#[test]
fn an_idle_session_is_quiet() {
    let mut w = Harness::pair(7, &[20]);
    w.up();
    w.run(ms(20_000));
    w.record = Some(Vec::new());
    w.run(ms(600_000));
    // Each side sends a heartbeat every half minute and gets an answer. No datagram follows the sender's
    // answer, so a ping and a pong are added.
    let sent = w.record.as_ref().expect("kept").len();
    assert!(sent <= 6 * 20 + 6, "{sent} datagrams in ten minutes");
    assert!(w.record.iter().flatten().all(|seen| seen.bytes[0] == 1), "no handshake");
}

#[test]
fn a_sender_whose_key_is_revoked_is_told_and_gets_no_answer_any_more() {
    let mut w = Harness::pair(8, &[20]);
    let id = w.up();
    let mut access = open_access(&w.seeds);
    access.revoked.insert(secret(&w.seeds, "sender").public());
    let now = w.now;
    w.nodes[0].end.set_access(now, access);
    w.pump();
    w.run(ms(100));
    for node in [0, 1] {
        assert_eq!(w.count(node, |e| matches!(e, SealEvent::Lost { why: Lost::Revoked, .. })), 1);
        assert_eq!(w.stats(node).sessions, 0);
    }
    assert!(
        w.nodes[1].events.contains(&(id, Event::Closed(CloseReason::SealLost(Lost::Revoked.to_string()))))
    );
    let again = w.connect(1);
    w.run(ms(1000));
    assert!(!w.connected(1, again));
    assert_eq!(w.count(1, |e| matches!(e, SealEvent::Lost { why: Lost::Refused, .. })), 1);
    assert_eq!(w.stats(0).sessions, 0);
}

/// The notification may be lost: the sender still finds out.
#[test]
fn a_revoked_sender_that_was_not_told_finds_out() {
    let mut w = Harness::pair(9, &[20]);
    let id = w.up();
    let mut access = open_access(&w.seeds);
    access.revoked.insert(secret(&w.seeds, "sender").public());
    w.uplinks[1].up = false;
    let now = w.now;
    w.nodes[0].end.set_access(now, access);
    w.pump();
    w.uplinks[1].up = true;
    w.send(1, id, pattern(0, 1000));
    let refused = |w: &Harness| w.count(1, |e| matches!(e, SealEvent::Lost { why: Lost::Refused, .. })) == 1;
    assert!(w.run_until(ms(1500), refused), "{:?}", w.nodes[1].seal_events);
}

#[test]
fn a_token_for_one_admits_one() {
    let mut w = Harness::new(10);
    let mut access = open_access(&w.seeds);
    access.grants[0].once = true;
    w.add_server(access);
    for label in ["first", "second"] {
        let identity = secret(&w.seeds, label);
        let node = w.add_client(identity);
        w.add_uplink(node, 0, 20);
    }
    let (first, second) = (w.connect(1), w.connect(2));
    w.run(ms(3000));
    assert!(w.connected(1, first));
    assert!(!w.connected(2, second));
    assert_eq!(w.stats(0).sessions, 1);
    assert_eq!(w.count(0, |e| matches!(e, SealEvent::Enrolled { .. })), 1);
    // The receiver admits the sender's own key, which was enrolled: it may return.
    let again = w.connect_again(1);
    w.run(ms(1000));
    assert!(w.connected(1, again));
}

/// The first path to deliver differs between datagrams: the handshake is still one.
#[test]
fn one_handshake_serves_all_paths() {
    for seed in 0..20 {
        let mut w = Harness::pair(seed, &[10, 10, 10]);
        for uplink in &mut w.uplinks[1..] {
            (uplink.loss, uplink.jitter, uplink.duplicate) = (0.2, ms(40), 0.2);
        }
        let id = w.connect(1);
        w.send_when_up(1, id, pattern(0, 20_000));
        w.run(ms(20_000));
        assert!(w.nodes[0].received[&w.accepted()] == pattern(0, 20_000), "seed {seed}");
        assert_eq!((w.stats(0).sessions, w.stats(1).sessions), (1, 1), "seed {seed}");
    }
}

/// The first uplink delivers nothing: neither INIT nor any later packet may depend on it.
#[test]
fn a_dead_uplink_does_not_keep_the_handshake_from_the_other() {
    let mut w = Harness::pair(11, &[10, 30]);
    w.uplinks[1].up = false;
    let start = w.now;
    let id = w.connect(1);
    assert!(w.run_until(ms(1000), |w| w.connected(1, id)));
    assert_eq!(w.now - start, ms(120));
}

/// An uplink that repeatedly joins and leaves gets another path number each time: handshakes bring new ones
/// in time.
#[test]
fn path_numbers_do_not_run_out() {
    let mut w = Harness::pair(12, &[20]);
    let id = w.up();
    let mut sent = 0;
    for n in 0..100u16 {
        let uplink = w.add_uplink(1, 1, 30);
        let inside = address([10, 7, (n >> 8) as u8, n as u8], 40_000);
        (w.uplinks[uplink].inside, w.uplinks[uplink].outside) = (inside, address([203, 0, 113, 9], 2000 + n));
        let tuple = FourTuple::new(w.uplinks[uplink].link, inside, server_address());
        let now = w.now;
        let path = w.nodes[1].end.add_path(now, id, tuple, None).expect("room for a path");
        w.pump();
        w.send(1, id, pattern(sent, 4000));
        sent += 4000;
        w.run(ms(1000));
        assert_eq!(w.states(1, id)[path.index()], PathState::Active, "path {n}");
        let now = w.now;
        w.nodes[1].end.endpoint_mut().with(id, |a| a.remove_path(now, path)).expect("removed");
        w.pump();
        w.run(ms(1000));
        w.uplinks.pop();
    }
    assert!(w.nodes[0].received[&w.accepted()] == pattern(0, sent));
    let renewed = w.count(1, |e| matches!(e, SealEvent::Renewed { .. }));
    // A handshake is due when 24 numbers are assigned; the 16 paths used last keep theirs in the next one.
    assert!((4..=13).contains(&renewed), "{renewed}");
    assert_eq!(w.stats(0).sessions, 1);
}

/// Sessions beyond the limit are not opened, and existing ones continue.
#[test]
fn sessions_are_limited() {
    let mut w = Harness::new(13);
    let access = open_access(&w.seeds);
    w.add_server(access);
    let mut config = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
    config.max_sessions = 3;
    w.nodes[0].end = w.endpoint(Some(config), true, "receiver");
    let ids: Vec<_> = (0..6)
        .map(|n| {
            let identity = secret(&w.seeds, &format!("sender {n}"));
            let node = w.add_client(identity);
            w.add_uplink(node, 0, 20);
            let id = w.connect(node);
            w.run(ms(200));
            (node, id)
        })
        .collect();
    let connected: Vec<bool> = ids.iter().map(|(node, id)| w.connected(*node, *id)).collect();
    assert_eq!(connected, [true, true, true, false, false, false]);
    assert_eq!(w.stats(0).sessions, 3);
}

/// Answers to unknown sources are limited to 100 per second and address; sealed senders are not unknown
/// sources.
#[test]
fn two_hundred_senders_a_second_from_one_address_all_connect_at_once() {
    let mut w = Harness::new(23);
    let access = open_access(&w.seeds);
    w.add_server(access);
    let mut ids = Vec::new();
    for n in 0..400 {
        let identity = secret(&w.seeds, &format!("sender {n}"));
        let node = w.add_client(identity);
        let uplink = w.add_uplink(node, 0, 20);
        w.uplinks[uplink].outside = address([198, 51, 100, 7], 10_000 + n);
        ids.push((node, w.connect(node), w.now));
        w.run(ms(5));
        if let Some((node, id, began)) = ids.iter().find(|(_, _, began)| *began + ms(1500) == w.now) {
            assert!(w.connected(*node, *id), "sender {node}, after {:?}", w.now - *began);
        }
    }
    w.run(ms(1500));
    assert!(ids.iter().all(|(node, id, _)| w.connected(*node, *id)));
}

/// Satellites and queues of mobile networks that hold seconds: each direction takes half of the round trip,
/// and more at times.
#[test]
fn round_trips_of_eight_seconds_are_no_obstacle() {
    for (seed, rtt, jitter) in [(14, 600, 0), (15, 3000, 200), (16, 5000, 300), (17, 8000, 500)] {
        let mut w = Harness::pair(seed, &[rtt / 2, rtt / 2]);
        w.uplinks[1..].iter_mut().for_each(|uplink| uplink.jitter = ms(jitter));
        let began = w.now;
        let id = w.connect(1);
        assert!(w.run_until(ms(60_000), |w| w.connected(1, id)), "{rtt}: {:?}", w.nodes[1].seal_events);
        assert!(w.now - began <= ms(3 * (rtt + 2 * jitter)), "{rtt}: after {:?}", w.now - began);
        w.run(ms(2 * rtt));
        let back = w.accepted();
        for n in 0..10 {
            w.send(1, id, pattern(n * 2000, 2000));
            w.send(0, back, pattern(n * 500, 500));
            w.run(ms(1500));
        }
        w.run(ms(60_000));
        assert!(w.nodes[0].received[&back] == pattern(0, 20_000), "{rtt}");
        assert!(w.nodes[1].received[&id] == pattern(0, 5000), "{rtt}");
        assert_eq!(w.count(1, |e| matches!(e, SealEvent::Lost { .. })), 0, "{rtt}");
        assert_eq!((w.stats(0).sessions, w.stats(1).sessions), (1, 1), "{rtt}");
    }
}

/// The return path works only for moments during a renewal, so that sender and receiver are at different
/// handshakes: the session still continues.
#[test]
fn a_renewal_over_a_return_path_that_flaps_ends_nothing() {
    fn stream(w: &mut Harness, ids: [AssociationId; 2], mut until: impl FnMut(&Harness) -> bool, most: u64) {
        for k in 0..most {
            if until(w) {
                return;
            }
            if k % 10 == 0 {
                let now = w.now;
                for (n, id) in ids.into_iter().enumerate() {
                    // The send buffer may be full.
                    let _ = w.nodes[n].end.endpoint_mut().send(
                        now,
                        id,
                        vec![1; 100].into(),
                        SendOptions::default(),
                    );
                }
                w.pump();
            }
            w.run(ms(1));
        }
    }
    let mut w = Harness::pair(5, &[20]);
    let id = w.up();
    let ids = [w.accepted(), id];
    w.run(ms(3_590_000));
    stream(&mut w, ids, |w| w.stats(1).begun == 2, 60_000);
    // Message 2 arrives, but the answer to the first datagrams under the new keys does not.
    stream(&mut w, ids, |_| false, 42);
    w.deaf = Some(1);
    stream(&mut w, ids, |w| w.stats(0).renewed == 1, 60_000);
    stream(&mut w, ids, |w| w.stats(1).begun == 3, 60_000);
    stream(&mut w, ids, |_| false, 60);
    w.deaf = None;
    stream(&mut w, ids, |w| w.stats(1).renewed == 1, 60_000);
    stream(&mut w, ids, |w| w.stats(0).renewed == 2, 3000);
    w.deaf = Some(1);
    let begun = w.stats(1).begun;
    stream(&mut w, ids, |w| w.stats(1).begun > begun, 6000);
    stream(&mut w, ids, |_| false, 60);
    w.deaf = None;
    stream(&mut w, ids, |_| false, 3000);
    assert!(w.stats(1).begun > begun, "the return path failed again");
    let lost = w.count(1, |e| matches!(e, SealEvent::Lost { .. }));
    assert_eq!((lost, w.stats(0).unknown_sessions), (0, 0));
}
