//! Times: delivery, acknowledgements, keep-alives, ends.

use std::time::Duration;

use strandcast_srt::{Config, Direction, Ended, Event};

use crate::common::*;

/// Each payload is played at its send time plus the path's delay plus the latency, with jitter and loss.
#[test]
fn payloads_are_played_at_a_constant_delay() {
    let path = Path { delay_ms: 20, jitter_ms: 15, loss: 0.03, ..IDEAL };
    let config = |direction| Config { latency: Duration::from_millis(300), ..Config::new(direction) };
    let mut net = Net::new(config(Direction::Send), config(Direction::Receive), path, 4);
    net.connect();
    let sent = net.stream(0, 2000, 3);
    net.run(1000);
    assert_eq!(net.played(), payloads(&sent));
    let delays: Vec<u64> = sent.iter().zip(&net.played).map(|((at, _), (played, _))| played - at).collect();
    let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    // The handshake took 20 to 35 ms; drift may correct by 5 ms.
    assert!(*least >= 313 && *most <= 341 && most - least <= 12, "{least} to {most}");
}

/// The draft: full acknowledgements every 10 ms, numbered from 1, with RTT 100 ms and variance 50 ms at first.
#[test]
fn acknowledgements_are_those_of_the_draft() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    let mut acks = Vec::new();
    for ms in 0..30 {
        peer.handle(ms, &data_packet(100 + ms as u32, 1 + ms as u32, ms as u32 * 1000, peer.to, b"x"));
        acks.extend(peer.until(ms, ms).into_iter().filter(|(_, p)| word(p, 0) == 0x8002_0000));
    }
    let seen: Vec<_> = acks.iter().map(|(ms, p)| (*ms, word(p, 1), word(p, 4))).collect();
    assert_eq!(seen, [(10, 1, 111), (20, 2, 121)]);
    assert_eq!((word(&acks[0].1, 5), word(&acks[0].1, 6)), (100_000, 50_000));
    assert_eq!(acks[0].1.len(), 16 + 28);
    // An answer after 40 ms.
    peer.handle(60, &control(0x0006_0000, 2, 60_000, peer.to, &[]));
    assert_eq!(peer.listener.stats(peer.id).unwrap().rtt, Duration::from_millis(40));
}

/// The draft: a keep-alive after a second without other packets.
#[test]
fn keep_alives_come_every_second() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    let times: Vec<_> = peer
        .until(1, 4500)
        .into_iter()
        .filter(|(_, p)| word(p, 0) == 0x8001_0000)
        .map(|(ms, _)| ms)
        .collect();
    assert_eq!(times, [1000, 2000, 3000, 4000]);
}

#[test]
fn a_silent_peer_ends_the_connection() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    peer.handle(1000, &control(0x0001_0000, 0, 0, peer.to, &[0; 4]));
    peer.until(1000, 5999);
    assert_eq!(peer.listener.poll_event(), None);
    peer.until(6000, 6000);
    let event = peer.listener.poll_event();
    assert!(matches!(event, Some(Event::Ended { why: Ended::TimedOut, .. })), "{event:?}");
}

/// Payloads that arrived before the peer's shutdown are still played, at their time.
#[test]
fn a_shutdown_leaves_what_was_received() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    peer.handle(5, &data_packet(100, 1, 5000, peer.to, b"x"));
    peer.handle(6, &control(0x0005_0000, 0, 6000, peer.to, &[0; 4]));
    peer.until(6, 124);
    assert_eq!((peer.played(124).len(), peer.listener.connections()), (0, 1));
    assert_eq!(peer.played(125), [b"x"]);
    peer.until(125, 125);
    let event = peer.listener.poll_event();
    assert!(matches!(event, Some(Event::Ended { why: Ended::ByPeer, .. })), "{event:?}");
}

#[test]
fn a_receiver_that_closes_says_so() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    peer.listener.close(at(10), peer.id);
    let out = peer.until(10, 10);
    assert_eq!(out.iter().map(|(_, p)| word(p, 0)).collect::<Vec<_>>(), [0x8005_0000]);
    assert_eq!(peer.listener.connections(), 0);
}

/// A timestamp wraps after 01:11:35 hours; a stream across it is played without a break.
#[test]
fn timestamps_wrap_during_a_stream() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    let wrap_ms = (1_u64 << 32) / 1000;
    // Keep-alives until just before the wrap.
    for ms in (0..wrap_ms - 1000).step_by(4000) {
        peer.handle(ms, &control(0x0001_0000, 0, 0, peer.to, &[0; 4]));
        peer.until(ms, ms);
    }
    let mut played = 0;
    for (n, ms) in (wrap_ms - 1000..wrap_ms + 1000).step_by(10).enumerate() {
        let timestamp = (ms * 1000) as u32;
        peer.handle(ms, &data_packet(100 + n as u32, 1, timestamp, peer.to, b"x"));
        peer.until(ms, ms);
        played += peer.played(ms).len();
        let expected = (n + 1).saturating_sub(12);
        assert_eq!(played, expected, "{ms} ms");
    }
}

/// A sender's rate is limited, retransmissions included; a fixed limit of 1 MB/s for 3 MB.
#[test]
fn a_limit_paces_the_sender() {
    let bandwidth = strandcast_srt::Bandwidth::Fixed(1_000_000);
    let latency = Duration::from_secs(8);
    let caller = Config { bandwidth, latency, ..Config::new(Direction::Send) };
    let mut net = Net::new(caller, Config::new(Direction::Receive), IDEAL, 6);
    net.connect();
    let id = net.connected[0].unwrap();
    for n in 0..2000 {
        net.ends[0].send(at(net.now_ms), id, &vec![n as u8; 1456]).unwrap();
    }
    let before = net.carried;
    net.run(1000);
    // 1500 bytes per packet and 20 ms of credit, at least 16 packets.
    let packets = net.carried - before;
    assert!((665..=690).contains(&packets), "{packets}");
    net.run(9000);
    assert_eq!(net.played.len(), 2000);
}
