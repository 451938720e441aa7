//! The store contains everything that a running receiver learns about pairing strings and their senders.

use std::time::Duration;

use nix::sys::signal::Signal;
use strandcast_net::driver::{ClientSeal, SealHooks};
use strandcast_proto::seeds::Seeds;
use strandcast_seal::SecretKey;

use crate::common::home::Home;
use crate::common::peer::PeerRuntime;
use crate::common::{Running, pairing, port};

/// Senders that enrol at once: those that others push out after them have enrolled as well.
const SENDERS: u64 = 150;
/// Maximum number of threads meanwhile: those of the command, and one that writes.
const THREADS: usize = 12;

fn threads(of: &Running) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", of.id())).map_or(0, Iterator::count)
}

#[test]
fn a_burst_of_enrolments_is_written_whole_and_by_one_thread() {
    let home = Home::new("burst");
    let port = port();
    let text = home.pairing(&format!("127.0.0.1:{port}"), "");
    let receiver = home.start(&format!("receive 127.0.0.1:{port} /dev/null"));
    receiver.says("listening");
    let (world, peer) = (PeerRuntime::start(), pairing::peer(&text));
    let mut most = 0;
    let all: Vec<_> = (0..SENDERS)
        .map(|n| {
            let identity = SecretKey::generate(&mut Seeds::new(n, 3).stream("enrols"));
            let seal = ClientSeal { identity, peer: peer.clone(), hooks: SealHooks::default() };
            most = most.max(threads(&receiver));
            world.connect_with(1, port, Some(seal))
        })
        .collect();
    let stored = || {
        let text = std::fs::read_to_string(home.store().join("identity.senders")).unwrap_or_default();
        text.matches("[[sender]]").count() as u64
    };
    receiver.until("all of them in the store", || stored() == SENDERS);
    drop(all);
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    receiver.succeeds();
    println!("{most} threads, {} lines", receiver.err.lines().count());
    assert!(!receiver.err.contains("could not be stored"), "{}", receiver.err);
    assert!(most <= THREADS, "{most} threads");
    let lines = receiver.err.matches("new sender").count();
    assert!((50..=120).contains(&lines), "{lines} lines");
}

/// A clock that goes back does not open it again.
#[test]
fn a_pairing_string_that_was_seen_to_expire_is_closed_for_good() {
    let home = Home::new("expires");
    let port = port();
    home.pairing(&format!("127.0.0.1:{port}"), "--expires 1h");
    let path = home.store().join("identity.senders");
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().find(|line| line.starts_with("expires")).unwrap();
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    std::fs::write(&path, text.replace(line, &format!("expires = {}", now + 6))).unwrap();
    assert!(text.contains("open = true"), "{text}");
    let receiver = home.start(&format!("receive 127.0.0.1:{port} /dev/null"));
    receiver.says("listening");
    let closed = || std::fs::read_to_string(&path).unwrap().contains("open = false");
    assert!(!closed(), "not yet");
    receiver.until("the end of it in the store", closed);
    std::thread::sleep(Duration::from_millis(200));
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
}
