//! Attacks of a host on the path, which can drop datagrams and do nothing else to a session.

use std::collections::BTreeSet;

use proptest::prelude::*;
use strandcast_proto::association::Event;
use strandcast_proto::wire::chunk::{Abort, Init};
use strandcast_proto::wire::{Cause, Chunk, Header, Packet, PacketWriter, Tsn, VerificationTag};
use strandcast_seal::{Cipher, Ciphers, KeyLog, Peer, PlainAnswers, SealConfig, SealEvent};

use crate::common::*;

/// Events and data of an application, and the sessions.
fn effects(w: &Harness) -> String {
    let of = |n: &Node| {
        let lens: Vec<_> = n.received.values().map(Vec::len).collect();
        format!(
            "{:?} {:?} {lens:?} {}",
            n.events,
            n.seal_events,
            n.end.seal_stats().map_or(0, |s| s.sessions)
        )
    };
    let path = |a: &strandcast_proto::association::Association, p| a.tuple(p).map(|t| t.remote);
    let paths = w.nodes[0].events.first().and_then(|(id, _)| w.nodes[0].end.endpoint().association(*id));
    let paths = paths.map(|a| a.paths().iter().map(|p| path(a, p.id)).collect::<Vec<_>>());
    format!("{} {} {paths:?}", of(&w.nodes[0]), of(&w.nodes[1]))
}

/// A recorded session with traffic in both directions.
fn recorded(seed: u64) -> (Harness, Vec<Seen>) {
    let mut w = Harness::pair(seed, &[10, 20]);
    w.record = Some(Vec::new());
    let id = w.up();
    let back = w.accepted();
    for n in 0..20 {
        w.send(1, id, pattern(n * 3000, 3000));
        w.send(0, back, pattern(n * 500, 500));
        w.run(ms(20));
    }
    w.run(ms(2000));
    let record = w.record.take().expect("kept");
    (w, record)
}

/// Every datagram of a session is repeated: from its own address and from others, at once, after two minutes
/// and after a renewal of the keys.
#[test]
fn datagrams_that_come_again_have_no_effect() {
    let (mut w, record) = recorded(1);
    assert!(record.len() > 100);
    for wait in [0, 130_000, 3_600_000] {
        w.run(ms(wait));
        let before = effects(&w);
        let opened = w.stats(0).opened + w.stats(1).opened;
        for seen in &record {
            for from in [seen.from, address([203, 0, 113, 66], 53)] {
                w.inject(from, seen.to, &seen.bytes);
            }
        }
        assert_eq!(w.stats(0).opened + w.stats(1).opened, opened, "after {wait} ms: nothing opens twice");
        assert_eq!(effects(&w), before, "after {wait} ms");
        w.run(ms(8000));
        assert_eq!(effects(&w), before, "after {wait} ms and a while");
    }
    let id = w.nodes[1].events[0].0;
    w.send(1, id, pattern(60_000, 3000));
    w.run(ms(1000));
    assert!(w.nodes[0].received[&w.accepted()] == pattern(0, 63_000));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Datagrams that were changed, cut or extended in transit open as little as invented ones.
    #[test]
    fn changed_datagrams_have_no_effect(seed in 0u64..4, which in any::<prop::sample::Index>(), bit in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let mut w = Harness::pair(seed, &[10]);
        let id = w.up();
        w.record = Some(Vec::new());
        let back = w.accepted();
        w.send(1, id, pattern(0, 3000));
        w.send(0, back, pattern(0, 3000));
        let record = w.record.take().expect("kept");
        let seen = &record[which.index(record.len())];
        let (before, opened) = (effects(&w), w.stats(0).opened + w.stats(1).opened);
        let mut flipped = seen.bytes.clone();
        let bit = bit.index(flipped.len() * 8);
        flipped[bit / 8] ^= 1 << (bit % 8);
        let longer = [&seen.bytes[..], &[0]].concat();
        for bytes in [&flipped[..], &seen.bytes[..cut.index(seen.bytes.len())], &longer] {
            w.inject(seen.from, seen.to, bytes);
        }
        prop_assert_eq!(w.stats(0).opened + w.stats(1).opened, opened);
        prop_assert_eq!(effects(&w), before);
        // Datagrams that were under way still arrive.
        w.run(ms(2000));
        prop_assert!(w.nodes[0].received[&back] == pattern(0, 3000) && w.nodes[1].received[&id] == pattern(0, 3000));
    }
}

/// A holder of the token is still another sender: neither the session nor its association are open to it.
#[test]
fn another_key_opens_a_session_of_its_own_and_touches_no_other() {
    let mut w = Harness::pair(2, &[20]);
    let id = w.up();
    let accepted = w.accepted();
    let other = secret(&w.seeds, "attacker");
    let attacker = w.add_client(other);
    // The datagrams have the sender's own address, because both hosts share its NAT.
    let uplink = w.add_uplink(attacker, 0, 5);
    let sender = w.uplinks[1].outside;
    w.uplinks[uplink].outside = sender;
    w.uplinks[1].outside = address([198, 51, 1, 99], 1);
    let theirs = w.connect(attacker);
    w.run(ms(3000));
    assert!(w.connected(attacker, theirs));
    w.send(attacker, theirs, pattern(500, 1000));
    w.send(1, id, pattern(0, 3000));
    w.run(ms(5000));
    assert!(w.nodes[0].received[&accepted] == pattern(0, 3000));
    assert_eq!(w.nodes[0].received.len(), 2);
    assert_eq!(w.nodes[0].end.peer(accepted), Some(secret(&w.seeds, "sender").public()));
    assert!(!w.nodes[0].events.contains(&(accepted, Event::Restarted)));
}

#[test]
fn wrong_keys_and_tokens_get_no_answer() {
    let mut w = Harness::pair(3, &[20]);
    let good = w.peer();
    let other = strandcast_seal::Token::from_bytes([9; 32]);
    for peer in [
        Peer { token: other, ..good.clone() },
        Peer { key: secret(&w.seeds, "another receiver").public(), ..good },
    ] {
        w.towards.clear();
        let id = w.connect_as(1, peer);
        w.run(ms(1500));
        assert!(!w.connected(1, id));
        assert_eq!(w.towards.get(&w.uplinks[1].outside), None, "no answer at all");
        w.nodes[1].end.endpoint_mut().release(id);
    }
    assert_eq!((w.stats(0).sessions, w.stats(0).established), (0, 0));
    assert!(w.nodes[0].events.is_empty());
}

/// A plain packet with one chunk.
fn plain(chunk: &Chunk, tag: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header { source_port: 5000, destination_port: PORT, verification_tag: VerificationTag(tag) };
    let mut writer = PacketWriter::new(&mut out, header);
    writer.chunk(chunk);
    writer.finish();
    out
}

fn init() -> Init {
    Init {
        initiate_tag: VerificationTag(7),
        a_rwnd: 65_536,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        params: Vec::new(),
    }
}

#[test]
fn a_plain_init_is_told_the_remedy_ten_times_a_second_and_nothing_else_is_answered() {
    let mut w = Harness::pair(4, &[20]);
    let unknown = address([203, 0, 113, 66], 9899);
    let packet = plain(&Chunk::Init(init()), 0);
    w.record = Some(Vec::new());
    for _ in 0..100 {
        w.inject(unknown, server_address(), &packet);
        w.run(ms(10));
    }
    let answers = w.record.take().expect("kept");
    // Ten at once, and ten over the second.
    assert!((15..=20).contains(&answers.len()), "{}", answers.len());
    let abort = Packet::parse(answers[0].bytes.clone().into()).expect("a plain packet");
    assert_eq!(abort.header.verification_tag, VerificationTag(7));
    let (_, chunk) = abort.chunks().next().expect("a chunk").expect("well-formed");
    let Chunk::Abort(Abort { causes, .. }) = chunk else { panic!("{chunk:?}") };
    let Cause::UserInitiatedAbort(words) = &causes[0] else { panic!("{causes:?}") };
    assert!(words.starts_with(b"refused: ") && words.windows(7).any(|w| w == b"--plain"));
    assert!(w.towards[&unknown] <= 3 * w.arrived[&unknown]);
    assert!(answers[0].bytes.len() + 28 <= 3 * (32 + 28), "an INIT of 32 bytes");
    // Other packets, and an INIT with a wrong checksum.
    let mut wrong = packet.clone();
    wrong[8] ^= 1;
    w.record = Some(Vec::new());
    w.run(ms(5000));
    let cookie = plain(&Chunk::CookieAck(strandcast_proto::wire::chunk::CookieAck), 9);
    for bytes in [&wrong[..], &cookie, &packet[..20], &[]] {
        w.inject(unknown, server_address(), bytes);
    }
    assert_eq!(w.record.take().expect("kept").len(), 0);
    assert!(w.nodes[0].events.is_empty() && w.stats(0).sessions == 0);
}

#[test]
fn a_plain_receiver_says_so_and_the_sender_reports_it_once_and_tries_on() {
    let mut w = Harness::pair(5, &[20]);
    w.record = Some(Vec::new());
    w.nodes[0].end = w.endpoint(None, true, "plain receiver");
    let id = w.connect(1);
    let mut answers = PlainAnswers::default();
    let mut said = 0;
    for _ in 0..300 {
        w.run(ms(10));
        for seen in core::mem::take(w.record.as_mut().expect("kept")) {
            let mut out = Vec::new();
            if seen.to == server_address() && answers.answer(w.now, &seen.bytes, &mut out) {
                said += 1;
                assert_eq!(out.len(), 12);
                w.inject(server_address(), seen.from, &out);
            }
        }
    }
    assert!(said > 3, "{said}");
    assert_eq!(w.count(1, |e| matches!(e, SealEvent::PlainPeer { .. })), 1);
    // Any host on the path may have sent it: the attempt continues.
    let config = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
    w.nodes[0].end = w.endpoint(Some(config), true, "sealed receiver");
    w.run(ms(3000));
    assert!(w.connected(1, id));
}

/// Two programs of different versions; this test changes the version in transit. Both ends report it, and an
/// attempt continues, because any host can send the hint.
#[test]
fn both_ends_report_another_version_and_an_attempt_goes_on() {
    for side in [0, 1] {
        let mut w = Harness::pair(5, &[20]);
        w.record = Some(Vec::new());
        // This test delivers the datagrams itself.
        (w.uplinks[0].up, w.uplinks[1].up) = (false, false);
        let id = w.connect(1);
        let message = w.record.as_mut().expect("kept").pop().expect("message 1");
        assert_eq!(message.bytes[0], 2);
        w.uplinks.iter_mut().for_each(|uplink| uplink.up = true);
        let version = |bytes: &[u8]| [&[bytes[0], 9], &bytes[2..]].concat();
        if side == 0 {
            let other = version(&message.bytes);
            for _ in 0..30 {
                w.inject(message.from, message.to, &other);
            }
            let answers = w.record.take().expect("kept");
            assert_eq!(answers.len(), 10, "ten a second");
            for answer in answers {
                let expected = [&[6, 2, 0, 0], &message.bytes[4..12]].concat();
                assert_eq!((answer.to, answer.bytes), (message.from, expected));
            }
            // Answer of a program of that version.
            let hint = [&[6, 9, 0, 0], &message.bytes[4..12]].concat();
            for from in [address([203, 0, 113, 66], 53), message.to, message.to] {
                w.inject(from, message.from, &hint);
            }
        } else {
            let answer = [&[3, 9, 0, 0], &message.bytes[4..12], &[7; 100]].concat();
            for _ in 0..30 {
                w.inject(message.to, message.from, &answer);
            }
        }
        let other = |from| move |e: &SealEvent| *e == SealEvent::OtherVersion { from, version: 9 };
        assert_eq!(w.count(0, other(message.from)), usize::from(side == 0));
        assert_eq!(w.count(1, other(message.to)), 1);
        assert_eq!(w.count(1, |e| matches!(e, SealEvent::OtherVersion { .. })), 1);
        assert!(w.stats(0).sessions == 0 && !w.connected(1, id));
        w.record = None;
        w.run(ms(4000));
        assert!(w.connected(1, id), "{:?}", w.nodes[1].events);
    }
}

/// Answers to a recorded message 1: no address gets more than three times the bytes that the receiver counted
/// from it.
#[test]
fn handshakes_amplify_nothing() {
    let mut w = Harness::pair(6, &[20]);
    w.record = Some(Vec::new());
    w.connect(1);
    let first = w.record.take().expect("kept").remove(0);
    assert_eq!((first.bytes[0], first.bytes.len()), (2, 1200));
    for port in 0..2000 {
        let victim = address([203, 0, 113, 66], port % 100 + 1);
        w.inject(victim, server_address(), &first.bytes);
        w.run(ms(1));
    }
    for (to, out) in w.towards.clone() {
        assert!(to == server_address() || out <= 3 * w.arrived.get(&to).copied().unwrap_or(0), "{to}: {out}");
    }
    assert_eq!(w.stats(0).sessions, 1, "the sender's own");
}

/// A log of keys makes each datagram of a recording readable, in both directions, and with either cipher.
#[test]
fn a_record_is_readable_with_the_log_of_keys() {
    for cipher in [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305] {
        let mut w = Harness::pair(7, &[10, 20]);
        let mut config = SealConfig::new(secret(&w.seeds, "receiver"), open_access(&w.seeds));
        config.ciphers = Ciphers::only(cipher);
        w.nodes[0].end = w.endpoint(Some(config), true, "receiver");
        let log = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let lines = std::sync::Arc::clone(&log);
        let keep = move |line: &str| lines.lock().expect("one thread").push(line.to_owned());
        w.nodes[1].end.set_keylog(Box::new(keep));
        w.record = Some(Vec::new());
        let id = w.up();
        // Covers more than a generation of two minutes, and a recording that begins late.
        for (n, wait) in [100, 700_000, 130_000, 100].into_iter().enumerate() {
            w.send(1, id, pattern(n * 3000, 3000));
            w.run(ms(wait));
        }
        let established = w.nodes[1].seal_events.iter().find_map(|e| match e {
            SealEvent::Established { cipher, .. } => Some(*cipher),
            _ => None,
        });
        assert_eq!(established, Some(cipher));
        let record = w.record.take().expect("kept");
        for skipped in [0, record.len() / 2] {
            let mut keys = KeyLog::default();
            assert!(log.lock().expect("one thread").iter().all(|line| keys.add(line)));
            let (mut packets, mut data) = (0, BTreeSet::new());
            for seen in record[skipped..].iter().filter(|s| s.bytes[0] == 1) {
                let mut bytes = seen.bytes.clone();
                let packet = keys.open(&mut bytes).expect("each is readable");
                if !packet.is_empty() {
                    let packet = Packet::authentic(packet.to_vec().into()).expect("SCTP");
                    packets += 1;
                    data.extend(packet.chunks().filter_map(|c| match c {
                        Ok((_, Chunk::Data(d))) => Some(d.header.tsn.0),
                        _ => None,
                    }));
                }
            }
            assert!(packets > 10 && (skipped > 0 || data.len() >= 8), "{cipher}: {packets} {data:?}");
        }
    }
}

#[test]
fn lines_that_are_no_keys_are_passed_over() {
    let mut keys = KeyLog::default();
    let secret = "00".repeat(32);
    for line in [
        "",
        "# a comment",
        "STRANDCAST1 0011223344556677 0 AES-128-GCM",
        "STRANDCAST2 0011223344556677 0 AES-128-GCM 00",
        &format!("STRANDCAST1 00112233445566 0 AES-128-GCM {secret}"),
        &format!("STRANDCAST1 0011223344556677 0 DES {secret}"),
        &format!("STRANDCAST1 00112233445566é7 0 AES-128-GCM {secret}"),
        &format!("STRANDCAST1 0011223344556677 0 AES-128-GCM {secret} more"),
    ] {
        assert!(!keys.add(line), "{line}");
    }
    assert!(keys.add(&format!("STRANDCAST1 0011223344556677 0 AES-128-GCM {secret}")));
    assert_eq!(keys.open(&mut [1, 0, 0x11]), None);
}
