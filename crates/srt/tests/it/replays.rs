//! Recorded handshakes, which somebody without the passphrase repeats.

use strandcast_proto::seeds::Seeds;
use strandcast_srt::{Direction, Endpoint, Refusal};

use crate::common::*;
use crate::vectors;

const ODD: u32 = 2;

/// Packets of a type: key material, or data by their key.
fn material(packets: &[(u64, Vec<u8>)]) -> Vec<Vec<u8>> {
    let asks = packets.iter().filter(|(_, p)| word(p, 0) == 0xffff_0003);
    asks.map(|(_, p)| p[16..].to_vec()).collect()
}

fn keys(packets: &[(u64, Vec<u8>)]) -> Vec<u32> {
    packets.iter().filter(|(_, p)| p[0] & 0x80 == 0).map(|(_, p)| word(p, 1) >> 27 & 3).collect()
}

/// A caller that receives proposes key, salt and packet numbers. Under them the listener would repeat the key stream of the
/// recorded connection: it sends media only under a key of its own, which the peer has confirmed.
#[test]
fn media_are_not_sent_under_the_key_of_a_caller() {
    let mut peer = Scripted::connect(encrypted(Direction::Send), &[(3, vectors::material(16))]);
    peer.listener.send(at(0), peer.id, b"secret").unwrap();
    // The first request has followed the answer to the handshake.
    let first = peer.until(0, 200);
    assert_eq!(keys(&first), []);
    let asked = material(&first);
    assert_eq!(asked.len(), 4, "each 50 ms");
    assert!(asked.iter().all(|contents| contents == &asked[0] && contents[3] == 3), "both keys");
    // A refusal, and another message.
    peer.handle(201, &control(0x7fff_0004, 0, 0, peer.to, &[0, 0, 0, 4]));
    peer.handle(201, &control(0x7fff_0004, 0, 0, peer.to, &vectors::material(16)));
    assert_eq!(keys(&peer.until(201, 240)), []);
    peer.handle(241, &control(0x7fff_0004, 0, 0, peer.to, &asked[0]));
    assert_eq!(keys(&peer.until(241, 241)), [ODD]);
}

/// A listener accepts key material once. A caller whose answer was lost still gets it again.
#[test]
fn a_recorded_handshake_opens_no_second_connection() {
    for direction in [Direction::Send, Direction::Receive] {
        let config = strandcast_srt::Config { max_connections: 4, ..encrypted(direction) };
        let mut listener = Endpoint::listen(config, &Seeds::new(1, 0));
        let request = [(1, hs_message(LIVE, 120, 120)), (3, vectors::material(16))];
        let hs = Hs { extension: 3, ..Hs::conclusion(CALLER_ID, 0) };
        let mut ask = |ms, from, hs| {
            conclude(&mut listener, at(ms), from, hs, &request).iter().map(|p| word(p, 9)).collect::<Vec<_>>()
        };
        assert_eq!(ask(0, CALLER, hs), [CONCLUSION]);
        assert_eq!(ask(250, CALLER, hs), [CONCLUSION], "its answer was lost");
        let recorded = Hs { id: 99, ..hs };
        assert_eq!(ask(300, "198.51.100.7:4000", recorded), [Refusal::ROGUE.code()]);
        assert_eq!(ask(4000, CALLER, recorded), [Refusal::ROGUE.code()], "its first connection is silent");
        assert_eq!(listener.connections(), 1);
    }
}
