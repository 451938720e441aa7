//! Datagrams of a hostile network or peer.

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_srt::{Config, Direction, SendError};

use crate::common::*;

/// Changes bytes, cuts, repeats and joins datagrams. Ids of sockets often stay, so that a connection gets them.
fn mutate(random: &mut Random, data: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let len = data.len().max(1) as u64;
        match random.below(6) {
            0 => data.truncate(random.below(len) as usize),
            1 => data.extend((0..random.below(40)).map(|_| 0xff)),
            2 => {
                let place = random.below(len) as usize & !3;
                let word = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, random.u32()][random.below(6) as usize];
                if let Some(bytes) = data.get_mut(place..place + 4) {
                    bytes.copy_from_slice(&word.to_be_bytes());
                }
            }
            _ => {
                let place = random.below(len) as usize;
                if let Some(byte) = data.get_mut(place) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
}

/// Mutates what two ends say to each other. Neither panics, and memory stays bounded.
fn survives(seed: u64, packets: u64) {
    let mut random = Seeds::new(seed, 0).stream("mutations");
    let config = |direction| match seed % 2 {
        0 => Config::new(direction),
        _ => Config { refresh_packets: 64, announce_packets: 16, ..encrypted(direction) },
    };
    let mut done = 0;
    let mut round = 0;
    while done < packets {
        round += 1;
        let mut net =
            Net::new(config(Direction::Send), config(Direction::Receive), IDEAL, seed * 1000 + round);
        for ms in 0..400 {
            net.step();
            let addresses = [address(CALLER), address(LISTENER)];
            for (end, from) in addresses.iter().enumerate() {
                let mut original = if let Some(id) = net.connected[0] {
                    let _ = net.ends[0].send(at(net.now_ms), id, &payload(ms));
                    // A packet for either end's connection: data, or a control packet of any type.
                    let to = net.ids[1 - end];
                    let kinds =
                        [0, 1 << 16, 2 << 16, 3 << 16, 5 << 16, 6 << 16, 7 << 16, 0x7fff_0003, 0x7fff_0004];
                    let contents: Vec<u8> = (0..random.below(60)).map(|_| random.u32() as u8).collect();
                    let kind = kinds[random.below(9) as usize];
                    match random.below(3) {
                        0 => data_packet(random.u32() >> 1, random.u32() & 0x0fff_ffff, 0, to, &contents),
                        _ => control(kind, random.u32() & 3, random.u32(), to, &contents),
                    }
                } else {
                    Hs::conclusion(random.u32(), 0).packet(0, 0, &[(1, hs_message(LIVE, 1, 1))])
                };
                for _ in 0..50 {
                    mutate(&mut random, &mut original);
                    net.ends[1 - end].handle_datagram(at(net.now_ms), *from, &original);
                    done += 1;
                    if original.len() > 2000 {
                        original.truncate(64);
                    }
                }
            }
        }
    }
}

#[test]
fn mutated_packets_break_nothing() {
    survives(1, 40_000);
    survives(2, 40_000);
}

/// A list of losses that names packets again and again costs no more than one that names each once.
#[test]
fn a_list_of_losses_has_bounded_work() {
    let mut peer = Scripted::connect(Config::new(Direction::Send), &[]);
    for n in 0..4000 {
        peer.listener.send(at(0), peer.id, &payload(n)).unwrap();
    }
    peer.until(0, 1000);
    let list: Vec<u8> =
        (0..180).flat_map(|_| [0x8000_0000 | 100_u32, 4099]).flat_map(u32::to_be_bytes).collect();
    let before = peer.listener.stats(peer.id).unwrap();
    peer.handle(1001, &control(0x0003_0000, 0, 0, peer.to, &list));
    let after = peer.listener.stats(peer.id).unwrap();
    assert_eq!(after.bad, before.bad + 1, "the list was cut");
}

/// A peer that reports all packets as lost, each millisecond, gets no more than thrice the stream: it cannot make a sender
/// fill its network.
#[test]
fn reports_without_losses_cost_a_bounded_rate() {
    let mut peer = Scripted::connect(Config::new(Direction::Send), &[]);
    for ms in 0..1000_u32 {
        peer.listener.send(at(u64::from(ms)), peer.id, &[7; 1316]).unwrap();
        peer.until(u64::from(ms), u64::from(ms));
        // A round-trip time of a microsecond, so that no report seems to come too early.
        let ack = [100, 1, 1, 8000, 1, 1, 1].map(u32::to_be_bytes).concat();
        peer.handle(u64::from(ms), &control(0x0002_0000, 1 + ms, 0, peer.to, &ack));
        let list = [0x8000_0000 | 100, 100 + ms].map(u32::to_be_bytes).concat();
        peer.handle(u64::from(ms), &control(0x0003_0000, 0, 0, peer.to, &list));
    }
    let stats = peer.listener.stats(peer.id).unwrap();
    assert_eq!(stats.sent, 1000);
    assert!(stats.retransmitted <= 64 + 2 * 1000, "{stats:?}");
}

/// A packet far ahead does not stop the stream: it is dropped while others wait, and taken when none does.
#[test]
fn numbers_far_ahead_are_dropped_or_followed() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    peer.handle(5, &data_packet(100, 1, 5000, peer.to, b"first"));
    peer.handle(6, &data_packet(900_000, 1, 6000, peer.to, b"forged"));
    peer.handle(7, &data_packet(101, 2, 7000, peer.to, b"second"));
    assert_eq!(peer.played(400), [&b"first"[..], b"second"]);
    // The peer was away and dropped what was too late.
    peer.handle(500, &data_packet(950_000, 3, 500_000, peer.to, b"third"));
    assert_eq!(peer.played(700), [b"third"]);
}

/// Packets of other addresses reach no connection, even with its id.
#[test]
fn packets_from_elsewhere_are_strays() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    let before = peer.listener.endpoint_stats().strays;
    for packet in [
        data_packet(100, 1, 0, peer.to, b"forged"),
        control(0x0005_0000, 0, 0, peer.to, &[0; 4]),
        control(0x0001_0000, 0, 0, peer.to, &[0; 4]),
    ] {
        peer.listener.handle_datagram(at(5), address("192.0.2.1:5001"), &packet);
    }
    assert_eq!(peer.listener.endpoint_stats().strays, before + 3);
    assert_eq!((peer.played(1000).len(), peer.listener.connections()), (0, 1));
}

/// Somebody who sends from the address of a peer, but cannot read datagrams to it, has no cookie and gets no answer, with
/// the peer's id or another one.
#[test]
fn the_address_of_a_peer_is_not_enough() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    peer.until(0, 5);
    let before = peer.listener.endpoint_stats();
    for (n, id) in (0..).zip([CALLER_ID, CALLER_ID + 1, peer.to]) {
        let packet = Hs::conclusion(id, 0x1234 + n).packet(0, 0, &[(1, hs_message(LIVE, 120, 120))]);
        peer.handle(6, &packet);
        // A handshake for the connection itself.
        peer.handle(6, &Hs { kind: 1002, ..Hs::conclusion(id, 0) }.packet(peer.to, 0, &[]));
    }
    assert_eq!(peer.until(6, 6), []);
    let after = peer.listener.endpoint_stats();
    assert_eq!((after.bad_cookies - before.bad_cookies, after.strays - before.strays), (2, 3));
    peer.handle(7, &data_packet(100, 1, 7000, peer.to, b"still here"));
    assert_eq!(peer.played(200), [b"still here"]);
}

/// On a clear connection nothing that claims a key is played, and keys are not taken.
#[test]
fn a_clear_connection_takes_no_keys() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    for key in [1, 2, 3] {
        peer.handle(5, &data_packet(100, key << 27 | 1, 5000, peer.to, b"forged"));
    }
    peer.handle(5, &control(0x7fff_0003, 0, 0, peer.to, &crate::vectors::material(16)));
    assert!(peer.until(5, 5).iter().all(|(_, p)| word(p, 0) != 0xffff_0004));
    let stats = peer.listener.stats(peer.id).unwrap();
    assert_eq!((stats.undecryptable, stats.bad, peer.played(5000).len()), (3, 1, 0));
}

/// Packets that are parts of longer messages are not live media.
#[test]
fn parts_of_messages_are_dropped() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    for position in [0, 1, 2_u32] {
        let mut packet = data_packet(100, 1, 5000, peer.to, b"part");
        packet[4..8].copy_from_slice(&(position << 30 | 1).to_be_bytes());
        peer.handle(5, &packet);
    }
    assert_eq!(peer.listener.stats(peer.id).unwrap().bad, 3);
}

#[test]
fn payloads_of_wrong_sizes_and_times_are_refused() {
    let mut peer = Scripted::connect(Config { buffer_packets: 32, ..Config::new(Direction::Send) }, &[]);
    assert_eq!(peer.listener.send(at(0), peer.id, b""), Err(SendError::Size));
    assert_eq!(peer.listener.send(at(0), peer.id, &[0; 1457]), Err(SendError::Size));
    for _ in 0..32 {
        assert_eq!(peer.listener.send(at(0), peer.id, &[0; 1456]), Ok(()));
    }
    assert_eq!(peer.listener.send(at(0), peer.id, &[0; 1456]), Err(SendError::Full));
    // Packets that are too late make room: 1 s and 20 ms.
    assert_eq!(peer.listener.send(at(1021), peer.id, &[0; 1456]), Ok(()));
    let mut receiver = Scripted::connect(Config::new(Direction::Receive), &[]);
    assert_eq!(receiver.listener.send(at(0), receiver.id, b"x"), Err(SendError::NotSending));
}

mod thorough {
    #[test]
    fn ten_million_mutated_packets_break_nothing() {
        for seed in 10..20 {
            super::survives(seed, 1_000_000);
        }
    }
}
