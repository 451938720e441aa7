//! Loss, reordering and duplication between two endpoints; reports and retransmissions by hand.

use std::time::Duration;

use strandcast_srt::{Config, Direction, Ended, Event, KeySize};

use crate::common::*;

/// Configurations of the four roles: direction of the caller, encryption.
fn roles() -> Vec<[Config; 2]> {
    let mut all = Vec::new();
    for (caller, listener) in [(Direction::Send, Direction::Receive), (Direction::Receive, Direction::Send)] {
        all.push([Config::new(caller), Config::new(listener)]);
        for size in [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256] {
            let refresh =
                |c| Config { refresh_packets: 200, announce_packets: 50, key_size: Some(size), ..c };
            all.push([refresh(encrypted(caller)), refresh(encrypted(listener))]);
        }
    }
    all
}

fn sender(config: &[Config; 2]) -> usize {
    usize::from(config[1].direction == Direction::Send)
}

fn with_latency([caller, listener]: [Config; 2], ms: u64) -> [Config; 2] {
    let latency = Duration::from_millis(ms);
    [Config { latency, ..caller }, Config { latency, ..listener }]
}

#[test]
fn all_roles_and_key_sizes_deliver_everything_in_order() {
    for config in roles() {
        let from = sender(&config);
        let refreshes = if config[0].passphrase.is_some() { 4 } else { 0 };
        let [caller, listener] = config;
        let mut net = Net::new(caller, listener, IDEAL, 1);
        net.connect();
        let sent = net.stream(from, 1000, 2);
        net.run(400);
        assert_eq!(net.played(), payloads(&sent));
        assert_eq!(net.stats(from).refreshes, refreshes, "keys change every 200 packets");
        assert_eq!(net.stats(1 - from).undecryptable, 0);
    }
}

/// 5 % loss in both directions, 40 ms in each direction, latency 500: nothing is lost, and at most one and a half
/// retransmissions follow a loss. A packet has five retransmissions within the latency; all of them, or their reports,
/// are lost with a probability of 0.05 × 0.0975⁵ = 4 × 10⁻⁷.
fn recovers(seed: u64, config: [Config; 2]) {
    let from = sender(&config);
    let [caller, listener] = with_latency(config, 500);
    let path = Path { delay_ms: 40, loss: 0.05, ..IDEAL };
    let mut net = Net::new(caller, listener, path, seed);
    net.connect();
    let sent = net.stream(from, 3000, 2);
    net.run(1500);
    let played = net.played();
    let lost = payloads(&sent).iter().filter(|p| !played.contains(p)).count();
    assert_eq!((lost, played.len()), (0, sent.len()), "seed {seed}");
    assert!(played == payloads(&sent), "seed {seed}: order");
    let stats = net.stats(from);
    assert!(2 * stats.retransmitted <= 3 * net.lost + 10, "seed {seed}: {stats:?} for {} losses", net.lost);
}

#[test]
fn losses_are_recovered_within_the_latency() {
    for (seed, config) in (1..).zip(roles()) {
        recovers(seed, config);
    }
}

/// Reordering within the tolerance costs no retransmissions once the tolerance has grown.
#[test]
fn reordered_packets_are_not_reported_with_a_tolerance() {
    let path = Path { jitter_ms: 12, ..IDEAL };
    let mut retransmitted = Vec::new();
    for reorder_tolerance in [0, 30] {
        let listener = Config { reorder_tolerance, ..Config::new(Direction::Receive) };
        let mut net = Net::new(Config::new(Direction::Send), listener, path, 5);
        net.connect();
        let sent = net.stream(0, 2000, 2);
        net.run(1000);
        assert_eq!(net.played(), payloads(&sent));
        retransmitted.push(net.stats(0).retransmitted);
    }
    assert!(retransmitted[0] > 500 && retransmitted[1] < 50, "{retransmitted:?}");
}

#[test]
fn duplicates_are_delivered_once() {
    let path = Path { duplicates: 0.5, jitter_ms: 5, loss: 0.02, ..IDEAL };
    let mut net = Net::new(Config::new(Direction::Send), Config::new(Direction::Receive), path, 9);
    net.connect();
    let sent = net.stream(0, 1000, 2);
    net.run(1000);
    assert_eq!(net.played(), payloads(&sent));
    assert!(net.stats(1).duplicates + net.stats(1).late > 300, "{:?}", net.stats(1));
}

/// Packet numbers have 31 bits.
#[test]
fn numbers_wrap_under_loss() {
    let caller = Config { first_number: Some(0x7fff_ffff - 500), ..encrypted(Direction::Send) };
    recovers(77, [caller, encrypted(Direction::Receive)]);
}

/// No packet follows the last one, so that its loss cannot be reported: the sender sends it again.
#[test]
fn the_last_packet_is_recovered() {
    let mut net = Net::new(Config::new(Direction::Send), Config::new(Direction::Receive), IDEAL, 2);
    net.ends[0] = strandcast_srt::Endpoint::call(
        at(0),
        Config { latency: Duration::from_millis(800), ..Config::new(Direction::Send) },
        address(LISTENER),
        &strandcast_proto::seeds::Seeds::new(4, 0),
    );
    net.connect();
    let mut sent = net.stream(0, 100, 5);
    net.path.loss = 1.0;
    sent.extend(net.stream(0, 3, 1));
    net.path.loss = 0.0;
    net.run(1500);
    assert_eq!(net.played().len(), sent.len());
}

/// A receiver skips what does not come in time, a sender drops what cannot arrive in time, and both continue.
#[test]
fn an_outage_costs_its_own_time_alone() {
    let mut net = Net::new(Config::new(Direction::Send), Config::new(Direction::Receive), IDEAL, 3);
    net.connect();
    let begin = net.now_ms;
    net.path.outage = (begin + 1000, begin + 3500);
    let sent = net.stream(0, 3000, 2);
    net.run(500);
    let played = net.played();
    let lost = sent.iter().filter(|(_, payload)| !played.contains(payload)).collect::<Vec<_>>();
    let (first, last) = (lost.first().unwrap().0 - begin, lost.last().unwrap().0 - begin);
    // A packet that the sender keeps for 1.02 s comes late, but before anything later is played.
    assert!((990..1010).contains(&first) && (2470..2510).contains(&last), "{first} to {last} ms");
    assert!(net.stats(1).lost as usize == lost.len(), "{:?}", net.stats(1));
    assert!(net.stats(0).dropped > 500, "{:?}", net.stats(0));
}

/// The draft: a NAK at once after a gap, with a single number or a range.
#[test]
fn a_gap_is_reported_at_once() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    for (seq, list) in [(100, None), (102, Some(vec![101])), (106, Some(vec![0x8000_0000 | 103, 105]))] {
        peer.handle(5, &data_packet(seq, 1, 5000, peer.to, b"x"));
        let naks: Vec<_> =
            peer.until(5, 5).into_iter().map(|(_, p)| p).filter(|p| word(p, 0) == 0x8003_0000).collect();
        let words = naks.iter().flat_map(|p| (4..p.len() / 4).map(|n| word(p, n))).collect::<Vec<_>>();
        assert_eq!(words, list.unwrap_or_default(), "after {seq}");
    }
}

/// The draft: periodic reports name what is still missing, at most once per round trip.
#[test]
fn missing_packets_are_reported_again() {
    let mut peer = Scripted::connect(Config { latency: 10 * SECOND, ..Config::new(Direction::Receive) }, &[]);
    peer.handle(5, &data_packet(100, 1, 5000, peer.to, b"x"));
    peer.handle(5, &data_packet(102, 1, 5000, peer.to, b"x"));
    let naks: Vec<u64> = peer
        .until(5, 1005)
        .into_iter()
        .filter(|(_, p)| word(p, 0) == 0x8003_0000)
        .map(|(ms, _)| ms)
        .collect();
    // (100 ms + 4 × 50 ms) / 2 before the first measurement.
    assert_eq!(naks, [5, 155, 305, 455, 605, 755, 905]);
    peer.handle(1006, &data_packet(101, 1 << 26 | 1, 5000, peer.to, b"x"));
    let later = peer.until(1006, 3000);
    assert!(later.iter().all(|(_, p)| word(p, 0) != 0x8003_0000));
}

/// The draft: a drop request ends the wait for a range of packets.
#[test]
fn a_drop_request_ends_the_wait() {
    let mut peer = Scripted::connect(Config::new(Direction::Receive), &[]);
    peer.handle(5, &data_packet(100, 1, 5000, peer.to, b"x"));
    peer.handle(5, &data_packet(110, 1, 5000, peer.to, b"y"));
    peer.until(5, 5);
    let range = [101_u32, 109].map(u32::to_be_bytes).concat();
    peer.handle(6, &control(0x0007_0000, 0, 6000, peer.to, &range));
    let acks: Vec<u32> = peer
        .until(6, 30)
        .into_iter()
        .filter(|(_, p)| word(p, 0) == 0x8002_0000)
        .map(|(_, p)| word(&p, 4))
        .collect();
    assert_eq!(acks.last(), Some(&111));
    assert_eq!(peer.played(5000).len(), 2);
    assert_eq!(peer.listener.stats(peer.id).unwrap().lost, 9);
}

/// A sender answers a report of packets that it no longer has with a drop request, and ignores reports of packets that
/// it has not sent.
#[test]
fn a_sender_answers_reports() {
    let mut peer = Scripted::connect(Config::new(Direction::Send), &[]);
    for n in 0..10 {
        peer.listener.send(at(0), peer.id, &payload(n)).unwrap();
    }
    let first: Vec<u32> = peer.until(0, 0).iter().map(|(_, p)| word(p, 0)).collect();
    assert_eq!(first, (100..110).collect::<Vec<_>>());
    let nak = |words: &[u32]| {
        let list: Vec<u8> = words.iter().copied().flat_map(u32::to_be_bytes).collect();
        control(0x0003_0000, 0, 0, 0, &list)
    };
    let report = |peer: &mut Scripted, ms: u64, words: &[u32]| {
        let mut packet = nak(words);
        packet[12..16].copy_from_slice(&peer.to.to_be_bytes());
        peer.handle(ms, &packet);
        peer.until(ms, ms).iter().map(|(_, p)| (word(p, 0), word(p, 1) >> 26 & 1)).collect::<Vec<_>>()
    };
    assert_eq!(
        report(&mut peer, 20, &[101, 0x8000_0000 | 104, 106]),
        [(101, 1), (104, 1), (105, 1), (106, 1)]
    );
    // 101 was sent again a moment ago; 102 was not.
    assert_eq!(report(&mut peer, 21, &[101, 102]), [(102, 1)]);
    assert_eq!(report(&mut peer, 22, &[0x8000_0000 | 200, 300]), []);
    assert_eq!(report(&mut peer, 22, &[0x8000_0000 | 109, 104]), [], "backwards");
    let ack = [105_u32, 40_000, 1000, 8000, 1, 1, 1].map(u32::to_be_bytes).concat();
    peer.handle(23, &control(0x0002_0000, 1, 0, peer.to, &ack));
    let answers = peer.until(23, 23);
    assert_eq!((word(&answers[0].1, 0), word(&answers[0].1, 1)), (0x8006_0000, 1), "ACKACK");
    assert_eq!(report(&mut peer, 24, &[0x8000_0000 | 102, 103])[0].0, 0x8007_0000);
}

/// A sender that closes waits until the last packet is played, then says so.
#[test]
fn a_close_comes_after_the_last_packet() {
    let path = Path { delay_ms: 40, loss: 0.05, ..IDEAL };
    let latency = Duration::from_millis(500);
    let config = |direction| Config { latency, ..Config::new(direction) };
    let mut net = Net::new(config(Direction::Send), config(Direction::Receive), path, 21);
    net.connect();
    let sent = net.stream(0, 500, 2);
    let id = net.connected[0].unwrap();
    net.ends[0].close(at(net.now_ms), id);
    assert!(net.ends[0].send(at(net.now_ms), id, b"late").is_err());
    net.path.loss = 0.0;
    net.run(3000);
    assert_eq!(net.played(), payloads(&sent));
    let ended = |end: usize| match net.events[end].last() {
        Some(Event::Ended { why, .. }) => *why,
        other => panic!("{other:?}"),
    };
    assert_eq!((ended(0), ended(1)), (Ended::Closed, Ended::ByPeer));
    assert!(net.ends.iter().all(|e| e.connections() == 0));
}

mod thorough {
    #[test]
    fn losses_are_recovered_within_the_latency() {
        for seed in 100..120 {
            for config in super::roles() {
                super::recovers(seed, config);
            }
        }
    }
}
