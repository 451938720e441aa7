//! Associations between two endpoints, as scripts.

use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::policy::PathState;
use strandcast_testing::endpoints::*;

#[test]
fn handshake_joins_and_a_message_each_way() {
    let mut w = TestPair::new(&[10, 30], config(), 1);
    w.up();
    assert!(w.saw(CLIENT, &Event::Connected { peer_is_strandcast: true }));
    assert!(w.saw(SERVER, &Event::Connected { peer_is_strandcast: true }));
    assert_eq!(w.states(CLIENT), [PathState::Active; 2]);
    assert_eq!(w.states(SERVER), [PathState::Active; 2]);
    w.send(CLIENT, &b"ping"[..], SendOptions::default());
    w.send(SERVER, &b"pong"[..], SendOptions { stream: 3, ppid: 7, ..SendOptions::default() });
    w.run(ms(500));
    assert_eq!(w.received(SERVER), b"ping");
    assert_eq!(w.received(CLIENT), b"pong");
    assert_eq!(w.apps[CLIENT].messages[0].ppid.0, 7);
    assert_eq!(w.apps[CLIENT].messages[0].stream.0, 3);
}

#[test]
fn a_large_message_is_cut_and_put_together_again() {
    let mut w = TestPair::new(&[10, 30], config(), 1);
    w.up();
    let message = pattern(0, 300_000);
    w.send(CLIENT, message.clone(), SendOptions::default());
    w.run(ms(3000));
    assert_eq!(w.apps[SERVER].messages.len(), 1);
    assert_eq!(w.received(SERVER), message);
    assert!(w.sent[&(CLIENT, 0)] > 50 && w.sent[&(CLIENT, 1)] > 50, "{:?}", w.sent);
}

#[test]
fn loss_on_both_wires_loses_nothing() {
    let mut w = TestPair::new(&[10, 30], config(), 1);
    w.up();
    for wire in &mut w.wires {
        (wire.loss, wire.jitter) = (0.1, ms(15));
    }
    let mut sent = Vec::new();
    for i in 0..500 {
        let m = pattern(i * 1000, 1000);
        sent.extend_from_slice(&m);
        w.send(CLIENT, m, SendOptions::default());
    }
    w.run(ms(60_000));
    assert_eq!(
        w.received(SERVER).len(),
        sent.len(),
        "{:?} {:?}",
        w.association(CLIENT).stats(),
        w.apps.each_ref().map(|a| a.events.last())
    );
    assert_eq!(w.received(SERVER), sent);
}

#[test]
fn graceful_close_delivers_what_is_queued() {
    let mut w = TestPair::new(&[10], config(), 1);
    w.up();
    for i in 0..100 {
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
    }
    let id = w.apps[CLIENT].id.unwrap();
    w.ends[CLIENT].shutdown(w.now, id);
    w.pump();
    w.run(ms(5000));
    assert_eq!(w.received(SERVER), pattern(0, 100_000));
    assert!(w.saw(CLIENT, &Event::Closed(CloseReason::Shutdown)), "{:?}", w.apps[CLIENT].events);
    assert!(w.saw(SERVER, &Event::Closed(CloseReason::Shutdown)), "{:?}", w.apps[SERVER].events);
    assert!(w.saw(SERVER, &Event::PeerShutdown));
}

#[test]
fn an_abort_reaches_the_peer() {
    let mut w = TestPair::new(&[10], config(), 1);
    w.up();
    let id = w.apps[CLIENT].id.unwrap();
    w.ends[CLIENT].abort(id, "enough");
    w.pump();
    w.run(ms(100));
    assert!(w.saw(CLIENT, &Event::Closed(CloseReason::Aborted)));
    assert!(w.saw(SERVER, &Event::Closed(CloseReason::PeerAborted("enough".into()))));
}
