//! No peer fills a disk with lines, and none makes a sender connect without a pause.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use strandcast_media::MediaTime;
use strandcast_media::pack::{Body, Header, Message};

use crate::common::peer::PeerRuntime;
use crate::common::{clip, file, port, start};

/// Lines and events that may come at once, and a few of other kinds.
const MOST: usize = 120;

/// A broken clock of an encoder does it without any intent.
#[test]
fn a_clock_that_jumps_with_each_message_is_few_lines_and_few_events() {
    let world = PeerRuntime::start();
    let (port, stats) = (port(), file("jumps.jsonl"));
    let receiver = start(&format!("receive 127.0.0.1:{port} /dev/null --stats={}", stats.display()));
    receiver.says("listening");
    let peer = world.connect(1, port);
    let mut packet = vec![0; 188];
    packet[0] = 0x47;
    for n in 0..400u32 {
        let sent = MediaTime::from_micros(u64::from(n) * 2_000_000_000);
        let lifetime = Some(Duration::from_millis(100));
        let header = Header { session: 7, sequence: n, sent, lifetime, ..Header::default() };
        peer.says(0, Message { header, body: Body::Data(packet.clone().into()) }.encode());
        std::thread::sleep(Duration::from_millis(8));
    }
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    receiver.succeeds();
    let lines = receiver.err.matches("clock jumped").count();
    let events = std::fs::read_to_string(&stats).unwrap().matches("clock-jump").count();
    println!("{lines} lines, {events} events");
    assert!((20..MOST).contains(&lines) && (20..MOST).contains(&events), "{lines} lines, {events} events");
}

#[test]
fn a_receiver_that_ends_each_association_gets_few_of_them() {
    let world = PeerRuntime::start();
    let port = port();
    let mut door = world.listen(port);
    let sender = start(&format!("send {} 127.0.0.1:{port} --retry forever", clip().display()));
    let begun = Instant::now();
    let mut associations = 0;
    while begun.elapsed() < Duration::from_secs(6) {
        door.accept().abort("no");
        associations += 1;
    }
    sender.signal(Signal::SIGTERM);
    let sender = sender.end();
    println!("{associations} associations, {} lines", sender.err.lines().count());
    // At once, and after 1, 2 and 4 s.
    assert!((2..=6).contains(&associations), "{associations}: {}", sender.err);
}
