//! Sessions between sealed endpoints: opening, data, several paths, moving, renewal, silence.

mod common;

use common::*;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::policy::PathState;
use strandcast_seal::SealEvent;

#[test]
fn an_association_opens_within_two_round_trips() {
    let mut w = World::pair(1, &[20]);
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
        let mut w = World::pair(seed, &[10, 25, 40]);
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
            assert_eq!(w.stats(node).sessions, 0, "seed {seed}: a session is let go when nobody needs it");
            assert_eq!(w.stats(node).failed, 0, "seed {seed}");
        }
    }
}
