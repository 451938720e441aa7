//! Senders that may not take part knock at a receiver with keys while it plays a stream.

use std::path::Path;

use strandcast_media::pack::{self, Message};
use strandcast_net::driver::{ClientSeal, SealHooks};
use strandcast_proto::association::CloseReason;
use strandcast_proto::wire::{Chunk, Packet};
use strandcast_seal::SecretKey;

use crate::common::home::Home;
use crate::common::peer::PeerRuntime;
use crate::common::scene::{Scene, as_it_is};
use crate::common::{captured, clip, file, pairing};

/// A sender that has this pairing string as `@studio`.
fn paired(name: &str, text: &str) -> Home {
    let home = Home::new(name);
    home.reads("key add studio", text).succeeds();
    home
}

/// It tries to send, and ends with these words.
fn ends(home: &Home, options: &str, words: &str) {
    home.run(&format!("send {} @studio --latency 200 {options}", clip().display())).fails(5, &[words]);
}

/// It is refused at once.
fn refused(home: &Home, words: &str) {
    ends(home, "", words);
}

/// Changes a file of a store.
fn edit(file: &Path, change: impl Fn(&str) -> String) {
    let before = std::fs::read_to_string(file).unwrap();
    let after = change(&before);
    assert_ne!(before, after, "something was changed");
    std::fs::write(file, after).unwrap();
}

/// The line of a file that begins with this key and an equals sign.
fn line<'a>(text: &'a str, key: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(&format!("{key} ="))).expect("a line")
}

#[test]
fn a_wrong_key_and_a_wrong_token_get_no_answer() {
    let scene = Scene::set("wrong", as_it_is);
    let host = scene.receiver_at().to_string();
    // It takes itself for the receiver: the message is for another key.
    let key = paired("wrong-key", &scene.studio.pairing(&host, ""));
    let own = key.run("key show --json").json()["key"].as_str().unwrap().to_owned();
    edit(&key.store().join("identity.receivers"), |text| {
        text.replace(line(text, "key"), &format!("key = \"{own}\""))
    });
    // A machine with the receiver's identity made the token, which the receiver does not have.
    let twin = Home::new("wrong-twin");
    std::fs::create_dir_all(twin.store()).unwrap();
    std::fs::copy(scene.studio.store().join("identity"), twin.store().join("identity")).unwrap();
    let token = paired("wrong-token", &twin.pairing(&host, ""));
    scene.plays_on(6, "", |_| {
        std::thread::scope(|scope| {
            for home in [&key, &token] {
                scope.spawn(|| ends(home, "--retry 3", "no answer from @studio"));
            }
        });
    });
}

#[test]
fn an_expired_token_and_a_used_one_admit_no_sender() {
    let scene = Scene::set("expired", as_it_is);
    let host = scene.receiver_at().to_string();
    let once = scene.studio.pairing(&host, "--once");
    let [first, second] = ["once-first", "once-second"].map(|name| paired(name, &once));
    let late = paired("expired-late", &scene.studio.pairing(&host, "--expires 1h"));
    edit(&scene.studio.store().join("identity.senders"), |text| {
        text.replace(line(text, "expires"), "expires = 1")
    });
    scene.plays_on(7, "", |_| {
        refused(&first, "already receiving");
        std::thread::scope(|scope| {
            for home in [&second, &late] {
                scope.spawn(|| refused(home, "does not admit this machine"));
            }
        });
    });
}

/// It has a token, a key that is admitted, and the number of the running stream.
#[test]
fn an_admitted_sender_that_names_the_stream_does_not_take_it_over() {
    let scene = Scene::set("named", as_it_is);
    let peer = pairing::peer(&scene.studio.pairing(&scene.receiver_at().to_string(), ""));
    let pcap = file("named.pcap");
    let runtime = PeerRuntime::start();
    scene.plays_on(5, &format!("--pcap {}", pcap.display()), |scene| {
        scene.receiver.until("a message in the capture", || media(&pcap).is_some());
        let session = media(&pcap).unwrap().session;
        for host in [1, 2] {
            let identity = SecretKey::from_bytes([host; 32]);
            let seal = ClientSeal { identity, peer: peer.clone(), hooks: SealHooks::default() };
            let other = runtime.connect_with(host, scene.port, Some(seal));
            let _talk = other.talks(session, b'z');
            let busy = "refused: already receiving from another sender";
            assert_eq!(other.closed(), CloseReason::PeerAborted(busy.into()), "{}", scene.receiver.said());
        }
    });
}

/// The header of the first media message of a capture.
fn media(pcap: &Path) -> Option<pack::Header> {
    captured::packets(pcap).into_iter().find_map(|packet| {
        let packet = Packet::authentic(packet.into()).unwrap();
        packet.chunks().find_map(|chunk| match chunk.unwrap().1 {
            Chunk::Data(data) => Message::decode(data.payload).ok().map(|message| message.header),
            _ => None,
        })
    })
}

#[test]
fn a_revoked_key_does_not_return_while_another_sender_is_received() {
    let scene = Scene::set("gone", as_it_is);
    let host = scene.receiver_at().to_string();
    let text = scene.studio.pairing(&host, "");
    let [gone, again] = ["gone-gone", "gone-again"].map(|name| paired(name, &text));
    scene.plays_on(7, "", |scene| {
        refused(&gone, "already receiving");
        let key = gone.run("key show --json").json()["fingerprint"].as_str().unwrap().to_owned();
        scene.studio.run(&format!("key revoke {key}")).succeeds();
        std::thread::sleep(std::time::Duration::from_secs(1));
        // With another key it is the same person.
        for home in [&gone, &again] {
            refused(home, "does not admit this machine");
        }
    });
}
