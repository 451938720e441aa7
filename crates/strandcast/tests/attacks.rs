//! Attackers between a sender and a real `receive`: what they do has no effect.

mod common;

use common::home::Home;
use common::wire::{Way, Wire};
use common::{Running, file, port, seconds};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use strandcast_net::pcap::PcapWriter;

/// A receiver behind a wire, and its sender.
struct Scene {
    studio: Home,
    van: Home,
    receiver: Running,
    wire: Wire,
    out: PathBuf,
}

impl Scene {
    fn set(name: &str, attack: impl FnMut(Way, &[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Scene {
        let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
        let (port, out) = (port(), file(&format!("{name}.ts")));
        let wire = Wire::start(port, attack);
        let text = studio.pairing(&format!("127.0.0.1:{}", wire.port()), "");
        van.reads("key add studio", &text).succeeds();
        let receiver = studio.start(&format!("receive 127.0.0.1:{port} {} --once --json", out.display()));
        receiver.says("listening");
        Scene { studio, van, receiver, wire, out }
    }

    /// Sends two seconds of the clip; `during` happens in the middle. Nothing is lost, and neither side notices.
    fn plays_on(self, name: &str, options: &str, during: impl FnOnce(&Scene)) -> Wire {
        let (input, bytes) = seconds(2, &format!("{name}-in.ts"));
        let sender =
            self.van.start(&format!("send {} @studio --latency 500 --json {options}", input.display()));
        self.receiver.until("data", || std::fs::metadata(&self.out).is_ok_and(|m| m.len() > 20_000));
        during(&self);
        let sender = sender.end();
        sender.succeeds();
        let Scene { receiver, wire, out, studio, .. } = self;
        let receiver = receiver.end();
        receiver.succeeds();
        assert!(std::fs::read(&out).unwrap() == bytes, "{}", receiver.err);
        let (sent, got) = (sender.json(), receiver.json());
        assert_eq!((&got["identical"], &got["reconnects"]), (&true.into(), &0.into()), "{got}");
        assert_eq!(sent["reconnects"], 0, "{sent}");
        assert_eq!(receiver.err.matches("receiving from").count(), 1, "{}", receiver.err);
        drop(studio);
        wire
    }
}

/// Passes a datagram on unchanged.
fn as_it_is(bytes: &[u8]) -> Vec<Vec<u8>> {
    vec![bytes.to_vec()]
}

#[test]
fn every_recorded_datagram_replayed_at_once_and_later_has_no_effect() {
    let scene = Scene::set("replayed", |_, bytes| vec![bytes.to_vec(), bytes.to_vec()]);
    scene.plays_on("replayed", "", |scene| {
        for recorded in scene.wire.recorded() {
            scene.wire.forge(recorded.way, &recorded.bytes);
        }
    });
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
        all.map(flipped).chain(as_it_is(bytes)).collect()
    });
    scene.plays_on("flipped", "", |_| ());
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
    scene.plays_on("cut", "", |_| ());
}

#[test]
fn datagrams_in_another_order_lose_nothing() {
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut passed = 0;
    let scene = Scene::set("order", move |way, bytes| {
        passed += 1;
        // The handshake passes; later four each arrive in the reverse order.
        if way == Way::ToSender || passed < 20 {
            return as_it_is(bytes);
        }
        held.push(bytes.to_vec());
        if held.len() < 4 { Vec::new() } else { held.drain(..).rev().collect() }
    });
    scene.plays_on("order", "--retry 20", |_| ());
}

#[test]
fn an_answer_that_claims_to_be_plain_does_not_downgrade() {
    let scene = Scene::set("downgrade", |way, bytes| match (way, bytes.first()) {
        // Type 5 (ADR 17), with the initiator's id of what it answers, in front of the receiver's own answer.
        (Way::ToSender, Some(3)) => {
            let hint = [&[5, 1, 0, 0], &bytes[4..12]].concat();
            vec![hint, bytes.to_vec()]
        }
        _ => as_it_is(bytes),
    });
    let wire = scene.plays_on("downgrade", "", |_| ());
    // Nothing of SCTP was in the clear: all datagrams are of types 1 to 5, and a plain one begins with a port.
    assert!(wire.recorded().iter().all(|r| (1..=4).contains(&r.bytes[0])));
}

#[test]
fn clear_sctp_between_sealed_ends_is_not_heard() {
    use bytes::Bytes;
    use strandcast_proto::wire::chunk::Abort;
    use strandcast_proto::wire::{Cause, Header, PacketWriter, VerificationTag};
    let scene = Scene::set("clear", |_, bytes| as_it_is(bytes));
    scene.plays_on("clear", "", |scene| {
        for tag in [0, 1, u32::MAX] {
            let mut packet = Vec::new();
            let (source_port, destination_port) = (5000, 5000);
            let verification_tag = VerificationTag(tag);
            let header = Header { source_port, destination_port, verification_tag };
            let mut writer = PacketWriter::new(&mut packet, header);
            let causes = vec![Cause::UserInitiatedAbort(Bytes::from_static(b"refused: forged"))];
            writer.chunk(&Abort { reflected_tag: true, causes });
            writer.finish();
            for way in [Way::ToReceiver, Way::ToSender] {
                scene.wire.forge(way, &packet);
            }
        }
    });
}

#[test]
fn a_recorded_stream_replayed_to_a_new_receiver_admits_no_sender() {
    let scene = Scene::set("later", |_, bytes| as_it_is(bytes));
    let studio = scene.studio.path().to_owned();
    let (input, _) = seconds(1, "later-in.ts");
    scene.van.run(&format!("send {} @studio --latency 200", input.display())).succeeds();
    let Scene { receiver, wire, studio: home, .. } = scene;
    receiver.end().succeeds();
    let (port, out) = (port(), file("later-again.ts"));
    let receiver = home.start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let attacker = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for recorded in wire.recorded().iter().filter(|r| r.way == Way::ToReceiver) {
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
    let scene = Scene::set("decrypted", |_, bytes| as_it_is(bytes));
    let [keys, pcap, sealed, clear] = ["keys.txt", "clear.pcap", "sealed.pcap", "decrypted.pcap"]
        .map(|name| file(&format!("decrypted-{name}")));
    let options = format!("--keylog {} --pcap {}", keys.display(), pcap.display());
    let wire = scene.plays_on("decrypted", &options, |_| ());
    let mut file = PcapWriter::new(std::fs::File::create(&sealed).unwrap()).unwrap();
    let (van, studio) = ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:9899".parse().unwrap());
    for recorded in wire.recorded() {
        let (from, to) = if recorded.way == Way::ToReceiver { (van, studio) } else { (studio, van) };
        file.datagram(recorded.at, from, to, &recorded.bytes).unwrap();
    }
    let decrypt = |keys: &std::path::Path| {
        common::run(&format!("decrypt {} {} --keylog {}", sealed.display(), clear.display(), keys.display()))
    };
    decrypt(&keys).succeeds();
    // What `--pcap` saw within: every packet behind the handshake, without its checksum.
    let (seen, decrypted) = (packets(&pcap), packets(&clear));
    assert!(decrypted.len() > 100, "{}", decrypted.len());
    assert!(decrypted.is_subset(&seen), "{} {}", decrypted.len(), seen.len());
    // INIT and INIT ACK are in the handshake, whose keys are not logged.
    assert!(seen.len() - decrypted.len() <= 4, "{} {}", decrypted.len(), seen.len());
    decrypt(&sealed.with_extension("none")).fails(3, &["cannot read"]);
    let none = common::file("decrypted-none.txt");
    std::fs::write(&none, "").unwrap();
    let before = std::fs::read(&clear).unwrap();
    decrypt(&none).fails(1, &["no keys", "is not written"]);
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

/// The SCTP packets of a capture as Strandcast writes it, over IPv4, with zero for the checksum.
fn packets(path: &std::path::Path) -> BTreeSet<Vec<u8>> {
    let file = std::fs::read(path).unwrap();
    let (mut rest, mut found) = (&file[24..], BTreeSet::new());
    while rest.len() >= 16 {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let mut packet = rest[16 + 28..16 + len].to_vec();
        packet[8..12].fill(0);
        found.insert(packet);
        rest = &rest[16 + len..];
    }
    found
}
