//! AES-CTR: a key stream that is used twice gives both payloads away. Payloads of zeros show it as it is.

use std::collections::{BTreeMap, BTreeSet};

use strandcast_srt::{Config, Direction, KeySize};

use crate::common::*;
use crate::vectors;

const BLOCK: usize = 16;
/// Seven transport packets.
const PAYLOAD: usize = 1316;

/// Sends zeros from one end, with keys that change every 64 packets, over a network that loses a tenth. Returns the data
/// packets.
fn zeros(caller: Direction, size: KeySize, seed: u64) -> Vec<Vec<u8>> {
    let config = |direction| Config {
        refresh_packets: 64,
        announce_packets: 16,
        key_size: Some(size),
        latency: std::time::Duration::from_millis(400),
        ..encrypted(direction)
    };
    let other = if caller == Direction::Send { Direction::Receive } else { Direction::Send };
    let mut net = Net::new(config(caller), config(other), Path { loss: 0.1, ..IDEAL }, seed);
    net.connect();
    let from = usize::from(caller == Direction::Receive);
    let id = net.connected[from].expect("it is connected");
    for _ in 0..1000 {
        net.ends[from].send(at(net.now_ms), id, &[0; PAYLOAD]).expect("room");
        net.run(2);
    }
    net.run(1000);
    assert!(net.stats(from).retransmitted > 50 && net.stats(from).refreshes > 10, "{:?}", net.stats(from));
    net.seen
}

/// RFC 3686 §1: a key stream must not be used for two messages. No block of it comes twice, over changes of keys, in both
/// roles and over two connections with the same passphrase; what is sent again is what was sent before.
#[test]
fn no_block_of_a_key_stream_is_used_twice() {
    for size in [KeySize::Aes128, KeySize::Aes256] {
        let mut blocks = BTreeSet::new();
        for (n, caller) in (1..).zip([Direction::Send, Direction::Receive, Direction::Send]) {
            let mut packets = BTreeMap::new();
            for packet in zeros(caller, size, n) {
                assert_ne!(word(&packet, 1) >> 27 & 3, 0, "no packet is clear");
                let payload = packet[16..].to_vec();
                let before = packets.entry(word(&packet, 0)).or_insert_with(|| payload.clone());
                assert!(*before == payload, "a retransmission has the key of its original");
            }
            assert_eq!(packets.len(), 1000);
            let whole = packets.values().flat_map(|payload| payload.chunks_exact(BLOCK));
            assert!(whole.into_iter().all(|block| blocks.insert(block.to_vec())), "a block came twice");
        }
        assert_eq!(blocks.len(), 3 * 1000 * (PAYLOAD / BLOCK));
    }
}

/// libsrt 1.5.1 as a caller opens an announcement only after it has decrypted a packet.
#[test]
fn keys_are_not_announced_before_the_peer_has_acknowledged_a_packet() {
    let config = Config { refresh_packets: 40, announce_packets: 20, ..encrypted(Direction::Send) };
    let mut peer = Scripted::connect(config, &[(3, vectors::material(16))]);
    for n in 0..50 {
        peer.listener.send(at(1), peer.id, &payload(n)).expect("room");
    }
    let announcements =
        |out: &[(u64, Vec<u8>)]| out.iter().filter(|(_, data)| word(data, 0) == KM_REQUEST).count();
    let before = peer.until(1, 300);
    assert!(before.iter().filter(|(_, data)| data[0] & 0x80 == 0).count() >= 50);
    assert_eq!(announcements(&before), 0);
    // The caller's first number is 100: one packet is acknowledged.
    let ack = [101, 1000, 100, 8000, 1, 1, 1].map(u32::to_be_bytes).concat();
    peer.handle(300, &control(0x0002_0000, 1, 0, peer.to, &ack));
    assert_eq!(announcements(&peer.until(300, 300)), 1);
    // Without an answer it comes again.
    assert!(announcements(&peer.until(301, 1000)) >= 1);
}

/// Control type 0x7fff with the subtype of a key material request.
const KM_REQUEST: u32 = 0xffff_0003;
