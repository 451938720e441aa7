//! Attackers between a sender and a real `receive`: what they do has no effect.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use bytes::Bytes;
use strandcast_net::pcap::PcapWriter;
use strandcast_proto::wire::chunk::Abort;
use strandcast_proto::wire::{Cause, Header, PacketWriter, VerificationTag};
use strandcast_seal::{Cipher, Ciphers};

use crate::common;
use crate::common::home::Home;
use crate::common::scene::{Scene, as_it_is};
use crate::common::wire::Direction;
use crate::common::{captured, clip, file, port, seconds};

#[test]
fn every_recorded_datagram_replayed_at_once_and_later_has_no_effect() {
    let scene = Scene::set("replayed", |_, bytes| vec![bytes.to_vec(), bytes.to_vec()]);
    scene.plays_on(3, "", |scene| {
        // From where it came, and from elsewhere.
        for recorded in scene.wire.recorded() {
            scene.strike(recorded.direction, &recorded.bytes);
        }
    });
}

#[test]
fn datagrams_put_together_have_no_effect() {
    let mut last: [Vec<u8>; 2] = Default::default();
    let scene = Scene::set("together", move |direction, bytes| {
        let last = &mut last[usize::from(direction == Direction::ToSender)];
        let before = std::mem::replace(last, bytes.to_vec());
        vec![[&before, bytes].concat(), [bytes, &before].concat(), [bytes, bytes].concat(), bytes.to_vec()]
    });
    scene.plays_on(3, "", |_| ());
}

#[test]
fn datagrams_with_a_flipped_bit_have_no_effect() {
    let mut n = 0usize;
    let scene = Scene::set("flipped", move |_, bytes| {
        n += 1;
        // Each byte of the first ones, then one that moves on.
        let flipped = |at: usize| {
            let mut bytes = bytes.to_vec();
            let at = at % bytes.len();
            bytes[at] ^= 1 << (n % 8);
            bytes
        };
        let all = if n <= 6 { 0..bytes.len() } else { n..n + 1 };
        all.map(flipped).chain([bytes.to_vec()]).collect()
    });
    scene.plays_on(3, "", |_| ());
}

#[test]
fn cut_and_lengthened_datagrams_have_no_effect() {
    let mut n = 0usize;
    let scene = Scene::set("cut", move |_, bytes| {
        n += 1;
        let lengths = if n <= 6 { 0..bytes.len() } else { n % bytes.len()..n % bytes.len() + 1 };
        let cut = lengths.map(|len| bytes[..len].to_vec());
        let longer = [bytes, &[0; 7]].concat();
        cut.chain([longer, bytes.to_vec()]).collect()
    });
    scene.plays_on(3, "", |_| ());
}

#[test]
fn datagrams_in_another_order_lose_nothing() {
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut passed = 0;
    let scene = Scene::set("order", move |direction, bytes| {
        passed += 1;
        // The handshake passes; later four each arrive in the reverse order.
        if direction == Direction::ToSender || passed < 20 {
            return as_it_is(direction, bytes);
        }
        held.push(bytes.to_vec());
        if held.len() < 4 { Vec::new() } else { held.drain(..).rev().collect() }
    });
    scene.plays_on(3, "--retry 20", |_| ());
}

#[test]
fn an_answer_that_claims_to_be_plain_does_not_downgrade() {
    let scene = Scene::set("downgrade", |direction, bytes| match (direction, bytes.first()) {
        // Type 5 (ADR 17), with the initiator's id, before the receiver's own answer.
        (Direction::ToSender, Some(3)) => {
            let hint = [&[5, 2, 0, 0], &bytes[4..12]].concat();
            vec![hint, bytes.to_vec()]
        }
        _ => as_it_is(direction, bytes),
    });
    let wire = scene.plays_on(3, "", |scene| {
        let first = scene.wire.recorded().swap_remove(0).bytes;
        scene.strike(Direction::ToSender, &[&[5, 2, 0, 0], &first[4..12]].concat());
    });
    // Nothing of SCTP was in the clear: all datagrams are of types 1 to 5, and a plain one begins with a port.
    assert!(wire.recorded().iter().all(|r| (1..=4).contains(&r.bytes[0])));
}

/// Other versions, and fewer ciphers offered and chosen, in place of what the two sides said: they say it again.
#[test]
fn handshakes_with_another_version_or_fewer_ciphers_are_not_heard() {
    // Positions of the encrypted ciphers in message 1 and message 2, after the keys (ADR 17).
    const CIPHERS: [usize; 2] = [12 + 8 + 32 + 48, 12 + 32];
    let mut passed = [0; 2];
    let scene = Scene::set("version", move |direction, bytes| {
        // The answer to another version, which is not a handshake message.
        if bytes[0] == 6 {
            return as_it_is(direction, bytes);
        }
        let side = usize::from(direction == Direction::ToSender);
        passed[side] += 1;
        let mut changed = bytes.to_vec();
        match passed[side] {
            1 => changed[1] = 1,
            2 => changed[CIPHERS[side]] ^= 1,
            _ => {}
        }
        vec![changed]
    });
    let out = scene.plays_on(3, "", |scene| {
        for recorded in scene.wire.recorded().iter().filter(|r| matches!(r.bytes[0], 2 | 3)) {
            for version in [0, 1, 255] {
                let mut other = recorded.bytes.clone();
                other[1] = version;
                scene.strike(recorded.direction, &other);
            }
        }
        let said = scene.receiver.said();
        assert!(said.contains(&best().to_string()), "{said}");
        let other =
            " speaks version 1 of sealed datagrams, this program version 2: update the sender's program";
        assert_eq!(said.matches(other).count(), 1, "{said}");
    });
    let handshakes = out.recorded().iter().filter(|r| matches!(r.bytes[0], 2 | 3)).count();
    assert!(handshakes >= 8, "{handshakes} messages: each changed one was said again");
}

/// The cipher that two machines like this one agree on.
fn best() -> Cipher {
    if Ciphers::available().has(Cipher::Aes128Gcm) { Cipher::Aes128Gcm } else { Cipher::ChaCha20Poly1305 }
}

/// A plain sender, and SCTP in the clear with any tag, while a stream with keys is under way.
#[test]
fn clear_sctp_between_sealed_ends_is_not_heard() {
    let scene = Scene::set("clear", as_it_is);
    scene.plays_on(5, "", |scene| {
        for tag in (0..1000).chain([u32::MAX]) {
            let mut packet = Vec::new();
            let (source_port, destination_port) = (5000, 5000);
            let verification_tag = VerificationTag(tag);
            let header = Header { source_port, destination_port, verification_tag };
            let mut writer = PacketWriter::new(&mut packet, header);
            let causes = vec![Cause::UserInitiatedAbort(Bytes::from_static(b"refused: forged"))];
            writer.chunk(&Abort { reflected_tag: tag % 2 > 0, causes });
            writer.finish();
            for direction in [Direction::ToReceiver, Direction::ToSender] {
                scene.strike(direction, &packet);
            }
        }
        let plain = common::run(&format!("send {} {}", clip().display(), scene.receiver_at()));
        plain.fails(5, &["sealed", "key add", "--plain"]);
    });
}

#[test]
fn a_recorded_stream_replayed_to_a_new_receiver_admits_no_sender() {
    let scene = Scene::set("later", as_it_is);
    let studio = scene.studio.path().to_owned();
    let (input, _) = seconds(1, "later-in.ts");
    scene.van.run(&format!("send {} @studio --latency 200", input.display())).succeeds();
    let Scene { receiver, wire, studio: home, .. } = scene;
    receiver.end().succeeds();
    let (port, out) = (port(), file("later-again.ts"));
    let receiver = home.start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let attacker = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for recorded in wire.recorded().iter().filter(|r| r.direction == Direction::ToReceiver) {
        attacker.send_to(&recorded.bytes, ("127.0.0.1", port)).unwrap();
    }
    // An honest sender is received meanwhile.
    let text = home.pairing(&format!("127.0.0.1:{port}"), "");
    let van = Home::new("later-honest");
    van.reads("key add studio", &text).succeeds();
    van.run(&format!("send {} @studio --latency 200 --retry 10", input.display())).succeeds();
    assert_eq!(receiver.said().matches("receiving from").count(), 1, "{} {studio:?}", receiver.said());
}

#[test]
fn a_recorded_stream_is_decrypted_with_the_keys_of_one_side() {
    let scene = Scene::set("decrypted", as_it_is);
    let [keys, pcap, sealed, clear] = ["keys.txt", "clear.pcap", "sealed.pcap", "decrypted.pcap"]
        .map(|name| file(&format!("decrypted-{name}")));
    let options = format!("--keylog {} --pcap {}", keys.display(), pcap.display());
    let wire = scene.plays_on(3, &options, |_| ());
    let mut file = PcapWriter::new(std::fs::File::create(&sealed).unwrap()).unwrap();
    let (van, studio) = ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:9899".parse().unwrap());
    for recorded in wire.recorded() {
        let (from, to) =
            if recorded.direction == Direction::ToReceiver { (van, studio) } else { (studio, van) };
        file.datagram(recorded.at, from, to, &recorded.bytes).unwrap();
    }
    let decrypt = |keys: &std::path::Path, out: &std::path::Path| {
        common::run(&format!("decrypt {} {} --keylog {}", sealed.display(), out.display(), keys.display()))
    };
    decrypt(&keys, &clear).succeeds();
    // Packets that `--pcap` saw inside: every packet after the handshake, without its checksum.
    let (seen, decrypted) = (packets(&pcap), packets(&clear));
    assert!(decrypted.len() > 100, "{}", decrypted.len());
    assert!(decrypted.is_subset(&seen), "{} {}", decrypted.len(), seen.len());
    // INIT and INIT ACK are in the handshake, whose keys are not logged.
    assert!(seen.len() - decrypted.len() <= 4, "{} {}", decrypted.len(), seen.len());
    let other = common::file("decrypted-other.pcap");
    decrypt(&sealed.with_extension("none"), &other).fails(3, &["cannot read"]);
    let none = common::file("decrypted-none.txt");
    std::fs::write(&none, "").unwrap();
    decrypt(&none, &other).fails(1, &["no keys", "is not written"]);
    assert!(std::fs::metadata(&other).is_err(), "nothing is left of it");
    let before = std::fs::read(&clear).unwrap();
    decrypt(&keys, &clear).fails(2, &["has content"]);
    assert_eq!(std::fs::read(&clear).unwrap(), before, "what is there stays");
    assert_eq!(std::fs::metadata(&clear).unwrap().permissions().mode() & 0o777, 0o600);
    for (capture, out, log) in [(&sealed, &sealed, &keys), (&sealed, &keys, &keys)] {
        let files = [capture, out, log].map(|path| (path, std::fs::read(path).unwrap()));
        let [capture, out, log] = [capture, out, log].map(|path| path.display());
        common::run(&format!("decrypt {capture} {out} --keylog {log}")).fails(2, &["overwritten"]);
        for (path, content) in files {
            assert_eq!(std::fs::read(path).unwrap(), content);
        }
    }
}

/// The SCTP packets of a capture, with zero for the checksum.
fn packets(path: &std::path::Path) -> BTreeSet<Vec<u8>> {
    let mut found = captured::packets(path);
    found.iter_mut().for_each(|packet| packet[8..12].fill(0));
    found.into_iter().collect()
}
