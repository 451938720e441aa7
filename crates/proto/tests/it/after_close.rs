//! Packets for an association that is closed at one end only.

use std::sync::mpsc::channel;

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::endpoint::Input;
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::wire::{Chunk, Packet};
use strandcast_testing::endpoints::*;

const SHUTDOWN_COMPLETE: u8 = 14;
const HEARTBEAT_ACK: u8 = 5;

/// An association that the client closed; the server did not receive the last packet.
fn half_closed() -> TestPair {
    let mut w = TestPair::new(&[10], config(), 1);
    w.up();
    let mut lost = false;
    w.filter = Box::new(move |_, _, _, bytes| {
        let drop = bytes[12] == SHUTDOWN_COMPLETE && !lost;
        lost |= drop;
        !drop
    });
    let id = w.apps[CLIENT].id.expect("connected");
    w.ends[CLIENT].shutdown(w.now, id);
    w.pump();
    w.run(ms(100));
    assert!(w.saw(CLIENT, &Event::Closed(CloseReason::Shutdown)));
    assert!(!w.saw(SERVER, &Event::Closed(CloseReason::Shutdown)), "SHUTDOWN COMPLETE was lost");
    w
}

/// RFC 9260 §8.5.1 E: a SHUTDOWN ACK for no association is answered by SHUTDOWN COMPLETE.
#[test]
fn a_lost_shutdown_complete_is_said_again() {
    let mut w = half_closed();
    w.run(ms(1500));
    assert!(w.saw(SERVER, &Event::Closed(CloseReason::Shutdown)), "{:?}", w.apps[SERVER].events);
}

/// RFC 9260 §8.4: packets out of the blue are not answered as if the association lived.
#[test]
fn a_closed_association_answers_no_heartbeat() {
    let mut w = TestPair::new(&[10], config(), 1);
    w.up();
    let id = w.apps[CLIENT].id.expect("connected");
    w.ends[CLIENT].abort(id, "enough");
    w.filter = Box::new(|_, from, _, bytes| from == SERVER || bytes[12] != 6);
    w.pump();
    w.filter = Box::new(|_, from, _, bytes| {
        assert!(from == SERVER || bytes[12] != HEARTBEAT_ACK, "the closed association answers");
        true
    });
    w.run(ms(60_000));
    let seen = |e: &Event| matches!(e, Event::Closed(CloseReason::PeerAborted(_)));
    assert!(w.apps[SERVER].events.iter().any(seen), "its heartbeat was answered by an ABORT");
}

#[test]
fn its_addresses_are_free_again() {
    let mut w = half_closed();
    w.run(ms(1500));
    let id = w.connect();
    w.apps[SERVER].id = None;
    w.run(ms(1000));
    w.send(CLIENT, &b"again"[..], SendOptions::default());
    w.run(ms(1000));
    assert_eq!(w.apps[CLIENT].id, Some(id));
    assert_eq!(w.received(SERVER), b"again");
}

/// RFC 9260 §3.3.7: a chunk after an ABORT would be ignored.
#[test]
fn nothing_follows_an_abort() {
    let mut w = TestPair::new(&[10], config(), 1);
    w.up();
    let (taken, packets) = channel();
    w.filter = Box::new(move |_, from, _, bytes| from == SERVER || taken.send(bytes.to_vec()).is_err());
    for from in [0, 1000] {
        w.send(CLIENT, pattern(from, 1000), SendOptions::default());
    }
    let data: Vec<u8> = packets.try_iter().flatten().collect();
    let tuple = FourTuple::new(LinkId(0), SERVER_ADDRESS, w.wires[0].outside);
    let segment_size = data.len() / 2;
    let id = w.apps[SERVER].id.expect("connected");
    let server = &mut w.ends[SERVER];
    // Two packets of data: an acknowledgement is due.
    server.handle_input(w.now, Input::Datagrams { tuple, data: data.into(), segment_size });
    server.abort(id, "enough");
    let mut out = Vec::new();
    server.poll_output(w.now, &mut out).expect("the ABORT");
    let packet = Packet::parse(Bytes::from(out)).expect("a packet");
    let chunks: Vec<Chunk> = packet.chunks().map(|c| c.expect("a chunk").1).collect();
    assert!(matches!(chunks[..], [Chunk::Abort(_)]), "{chunks:?}");
}
