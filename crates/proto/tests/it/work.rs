//! Bounds of a packet's cost by its length.

use bytes::Bytes;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::wire::{Param, padded};
use strandcast_proto::work;
use strandcast_testing::raw::{RawPeer, reseal};

/// Most bytes that a UDP datagram holds.
const LONGEST: usize = 65_504;

/// A peer that signs, and whose association is open.
fn signing() -> RawPeer {
    let params = vec![
        Param::Random(Bytes::from_static(&[7; 32])),
        Param::HmacAlgo(smallvec::smallvec![3]),
        Param::Chunks(Bytes::from_static(&[0xc1, 0x80])),
        Param::SupportedExtensions(Bytes::from_static(&[0xc0, 0x0f, 0xc1, 0x80, 0xb1])),
    ];
    RawPeer::accepted(TransportConfig::default(), params)
}

/// A packet of AUTH chunks alone, each of which signs everything after it.
fn signatures(l: &RawPeer, right: bool) -> Vec<u8> {
    let (id, empty) = l.association().sign(&[]).expect("there are keys");
    let len = 8 + empty.len();
    let (count, mut chunks) = ((LONGEST - 12) / len, vec![0; LONGEST / len * len]);
    let mut from = count * len;
    chunks.truncate(from);
    while from > 0 {
        from -= len;
        let mut head = vec![0x0f, 0, 0, len as u8, 0, 0];
        head.extend_from_slice(&id.to_be_bytes());
        chunks[from..from + 8].copy_from_slice(&head);
        if right {
            let (_, hmac) = l.association().sign(&chunks[from..]).expect("there are keys");
            chunks[from + 8..from + len].copy_from_slice(&hmac);
        }
    }
    let mut packet =
        strandcast_testing::raw::packet(l.tag, &[strandcast_proto::wire::chunk::CookieAck.into()]);
    packet.truncate(12);
    packet.extend_from_slice(&chunks);
    packet.resize(padded(packet.len()), 0);
    reseal(&mut packet);
    packet
}

/// 64 KiB of signatures, right or wrong, from the peer's own address and from an unknown one: each would be computed
/// over everything after it, 50 MB in all.
#[test]
fn one_signature_of_a_packet_is_verified() {
    for right in [true, false] {
        for port in [None, Some(4321)] {
            let mut l = signing();
            let packet = signatures(&l, right);
            let (len, before) = (packet.len() as u64, work::done());
            let mut tuple = l.tuple;
            if let Some(port) = port {
                tuple.remote.set_port(port);
            }
            l.give_bytes(tuple, packet);
            let done = work::done() - before;
            println!("right {right}, port {port:?}: {done} work for {len} bytes");
            assert!(done <= 8 * len, "right {right}, port {port:?}: {done} for {len} bytes");
        }
    }
}
