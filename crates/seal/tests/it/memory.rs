//! Memory of sessions: heap of an idle one, allocations of a busy one.

use bytes::BytesMut;
use strandcast_proto::association::Transmit;
use strandcast_proto::path::FourTuple;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_seal::{Access, Peer, Seal, SealConfig, SealedEndpoint, Sealing};

use crate::common::*;

/// Heap that dropping an endpoint frees.
fn heap(end: SealedEndpoint) -> i64 {
    -allocation_counter::measure(|| drop(end)).bytes_current
}

/// A receiver and one sender with `n` sealed associations that idle.
fn idle(n: usize) -> [i64; 2] {
    let mut w = Harness::pair(1, &[]);
    let receiver = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
    let receiver = SealConfig { max_sessions_of_key: n, ..receiver };
    w.nodes[0].end = w.endpoint(Some(receiver), true, "receiver");
    for n in 0..n {
        let uplink = w.add_uplink(1, n as u8, 10);
        let Uplink { link, inside, .. } = w.uplinks[uplink];
        w.connect_over(1, vec![FourTuple::new(link, inside, server_address())]);
        w.run(ms(20));
    }
    w.run(ms(120_000));
    assert_eq!((w.stats(0).sessions, w.stats(1).sessions), (n as u64, n as u64));
    let mut ends = w.nodes.into_iter().map(|node| heap(node.end));
    core::array::from_fn(|_| ends.next().expect("two"))
}

/// A sealed association that idles takes at most 20 KiB on each side.
#[test]
fn an_idle_sealed_association_takes_at_most_20_kib() {
    let (few, many) = (idle(50), idle(200));
    let each = [0, 1].map(|side| (many[side] - few[side]) / 150);
    println!("{} bytes at the receiver, {} at the sender", each[0], each[1]);
    assert!(each.iter().all(|bytes| *bytes <= 20 * 1024), "{each:?}");
}

/// A session without an association ends although its peer sends control messages in it.
#[test]
fn a_session_of_nothing_ends_although_its_peer_talks() {
    let mut w = Harness::pair(1, &[10]);
    let sending = w.up();
    let id = w.accepted();
    // The sender receives nothing: neither the end of its association nor answers to later datagrams.
    w.deaf = Some(1);
    w.nodes[0].end.endpoint_mut().abort(id, "enough");
    w.run(ms(100));
    w.nodes[0].end.endpoint_mut().release(id);
    for sessions in [1, 0] {
        let opened = w.stats(0).opened;
        for _ in 0..24 {
            w.send(1, sending, pattern(1, 100));
            w.run(ms(1000));
        }
        assert!(sessions == 0 || w.stats(0).opened > opened + 10, "it talks");
        assert_eq!(w.stats(0).sessions, sessions);
    }
}

/// A packet with room for its envelope, as an endpoint writes it.
fn packets(n: usize) -> Vec<u8> {
    let mut one = vec![0; DATAGRAM];
    one[13..13 + 1000].copy_from_slice(&pattern(1, 1000));
    // Source port 5000, and an INIT as the first chunk.
    (one[13], one[13 + 12]) = (0x13, 1);
    one.repeat(n)
}

const DATAGRAM: usize = 13 + 1000 + 16;

fn transmit(tuple: FourTuple, len: usize) -> Transmit {
    Transmit { tuple, len, segment_size: DATAGRAM, fragment: false }
}

/// Datagrams of a session are sealed and opened where they lie.
#[test]
fn batches_are_sealed_and_opened_without_an_allocation() {
    let seeds = Seeds::new(3, 0);
    let receiver = SealConfig::new(secret(&seeds, "receiver"), open_access(&seeds));
    let mut receiver = Seal::new(receiver, &seeds.child("receiver"));
    let mut sender =
        Seal::new(SealConfig::new(secret(&seeds, "sender"), Access::default()), &seeds.child("sender"));
    let now = Instant::from_millis(1000);
    let peer = Peer { key: secret(&seeds, "receiver").public(), token: token(&seeds) };
    let [there, back] = [FourTuple::loopback(1, 2), FourTuple::loopback(2, 1)];
    let there = FourTuple { sealed: sender.connect(now, peer), ..there };
    let (mut out, mut buf) = (Vec::new(), Vec::new());
    // A handshake that carries a packet in each direction.
    assert_eq!(sender.seal(now, &transmit(there, DATAGRAM), &mut packets(1)), Sealing::Carried);
    let first = sender.poll_output(now, &mut buf).expect("message 1");
    receiver.open(now, back, BytesMut::from(&buf[..]), first.len, &mut out);
    let asked = out.pop().expect("the packet in it");
    assert!(asked.data[..] == packets(1));
    assert_eq!(receiver.seal(now, &transmit(asked.tuple, DATAGRAM), &mut packets(1)), Sealing::Carried);
    buf.clear();
    let second = receiver.poll_output(now, &mut buf).expect("message 2");
    let there_in_the_clear = FourTuple::loopback(1, 2);
    sender.open(now, there_in_the_clear, BytesMut::from(&buf[..]), second.len, &mut out);
    assert!(out.pop().expect("the packet in it").data[..] == packets(1));

    let mut run = |n: usize| {
        let mut data = packets(n);
        let sealing = allocation_counter::measure(|| {
            assert_eq!(sender.seal(now, &transmit(there, data.len()), &mut data), Sealing::Sealed);
        });
        // A shared buffer as in a driver's arena, so that a part of it is handed on without a copy.
        let mut batch = BytesMut::from(&data[..]);
        let rest = batch.split_off(data.len());
        let opening = allocation_counter::measure(|| receiver.open(now, back, batch, DATAGRAM, &mut out));
        drop(rest);
        let opened = out.pop().expect("one run");
        assert!(out.is_empty() && opened.data.len() == n * DATAGRAM);
        for (opened, packet) in opened.data.chunks(DATAGRAM).zip(packets(n).chunks(DATAGRAM)) {
            assert!(opened[13..DATAGRAM - 16] == packet[13..DATAGRAM - 16]);
        }
        sealing.count_total + opening.count_total
    };
    run(32);
    assert_eq!((0..100).map(|_| run(32)).sum::<u64>(), 0);
}
