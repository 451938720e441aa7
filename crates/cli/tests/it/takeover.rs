//! Rules for replacing the current sender, as documented in `docs/cli.md`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use strandcast_proto::association::CloseReason;

use crate::common;
use crate::common::peer::PeerRuntime;
use crate::common::{Running, file, port, seconds, start};

const BUSY: &str = "refused: already receiving from another sender";

fn receive(name: &str, options: &str) -> (Running, u16, PathBuf) {
    let (port, out) = (port(), file(name));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} {options}", out.display()));
    receiver.says("listening");
    (receiver, port, out)
}

/// Bytes played so far.
fn played(out: &Path) -> u64 {
    std::fs::metadata(out).map_or(0, |m| m.len())
}

/// Transport packets of the sender with this mark.
fn packets_of(mark: u8, out: &Path) -> usize {
    std::fs::read(out).unwrap().chunks(188).filter(|packet| packet[1] == mark).count()
}

#[test]
fn observing_a_packet_is_not_enough_to_replace_a_sender() {
    let runtime = PeerRuntime::start();
    let (receiver, port, out) = receive("seen.ts", "");
    let own = runtime.connect(1, port);
    let _talk = own.talks(7, b'a');
    receiver.says("receiving from");
    let begun = Instant::now();
    let mut tries = 0;
    while begun.elapsed() < Duration::from_secs(8) {
        // From the sender's own address and from another one, with and without the session number visible in every
        // packet.
        for (host, session) in [(1, 7), (2, 7), (1, 8), (2, 8)] {
            let other = runtime.connect(host, port);
            let _talk = other.talks(session, b'z');
            assert_eq!(other.closed(), CloseReason::PeerAborted(BUSY.into()), "{}", receiver.said());
            tries += 1;
        }
    }
    assert_eq!(own.closes_within(Duration::ZERO), None, "{}", receiver.said());
    assert_eq!(packets_of(b'z', &out), 0, "of {tries} tries");
    assert!(packets_of(b'a', &out) > 100);
}

/// Time from a sender's death until the output grew again with another one, in seconds.
fn follows(runtime: &PeerRuntime, name: &str, host: u8, session: u32, abort: bool) -> f64 {
    let (receiver, port, out) = receive(&format!("{name}.ts"), "--silence 8");
    let first = runtime.connect(1, port);
    let talk = first.talks(7, b'a');
    receiver.until("data", || played(&out) > 1000);
    match abort {
        true => first.abort("forged"),
        false => first.dies(),
    }
    drop(talk);
    let died = Instant::now();
    let second = runtime.connect(host, port);
    let _talk = second.talks(session, b'b');
    receiver.until("the next sender", || packets_of(b'b', &out) > 0);
    died.elapsed().as_secs_f64()
}

#[test]
fn a_silent_sender_is_replaced_by_the_rule() {
    let runtime = PeerRuntime::start();
    // (own address, own stream, the association has ended), at least, at most; in seconds.
    let cases = [
        ("restart", 1, 8, false, 1.7, 4.0),
        ("restart-after-end", 1, 8, true, 1.7, 4.0),
        ("back", 1, 7, false, 1.7, 4.0),
        ("back-after-end", 1, 7, true, 0.0, 1.5),
        ("back-from-elsewhere", 2, 7, false, 4.7, 7.0),
        ("unknown", 2, 8, false, 7.7, 10.5),
    ];
    std::thread::scope(|scope| {
        for (name, host, session, abort, least, most) in cases {
            let runtime = &runtime;
            scope.spawn(move || {
                let took = follows(runtime, name, host, session, abort);
                assert!((least..most).contains(&took), "{name}: {took:.2} s");
                println!("{name}: {took:.2} s");
            });
        }
    });
}

#[test]
fn a_killed_sender_that_starts_again_is_played_within_four_seconds() {
    for options in ["", "--retry forever"] {
        let (receiver, port, out) = receive(&format!("restarted{}.ts", options.len()), "");
        let send = format!("send {} 127.0.0.1:{port} {options}", common::clip().display());
        let first = start(&send);
        receiver.until("data", || played(&out) > 50_000);
        first.signal(Signal::SIGKILL);
        let killed = Instant::now();
        first.end();
        let second = start(&send);
        receiver.says("replaces");
        let before = played(&out);
        receiver.until("its video", || played(&out) > before + 20_000);
        let took = killed.elapsed();
        println!("{options:?}: {:.2} s", took.as_secs_f64());
        assert!(took < Duration::from_secs(4), "it took {took:?}: {}{}", receiver.said(), second.said());
        second.signal(Signal::SIGINT);
        second.end().succeeds();
    }
}

#[test]
fn a_sender_that_may_retry_waits_for_its_turn_and_loses_nothing() {
    let runtime = PeerRuntime::start();
    let (receiver, port, out) = receive("turn.ts", "--silence 3");
    let first = runtime.connect(2, port);
    let talk = first.talks(7, b'a');
    receiver.says("receiving from");
    let (input, bytes) = seconds(2, "turn-in.ts");
    let sender = start(&format!("send {} 127.0.0.1:{port} --retry 30", input.display()));
    sender.says("already receiving from another sender; trying again");
    receiver.until("more refusals", || receiver.said().matches("refused: already receiving").count() > 2);
    drop(talk);
    first.abort("");
    sender.end().succeeds();
    receiver.says("every byte as it was sent");
    assert!(std::fs::read(&out).unwrap().ends_with(&bytes), "the file restarts");
}

#[test]
fn a_refusal_ends_a_sender_only_where_it_may() {
    let runtime = PeerRuntime::start();
    let input = common::clip();
    let (one, other) = (port(), port());
    let (mut door, mut shut) = (runtime.listen(one), runtime.listen(other));
    let patient = start(&format!("send {} 127.0.0.1:{one} --retry forever", input.display()));
    let plain = start(&format!("send {} 127.0.0.1:{other}", input.display()));
    for _ in 0..3 {
        // Any observer of a packet can forge a refusal.
        door.accept().abort("refused: forged");
    }
    door.accept().leaves();
    let last = door.accept();
    assert_eq!(last.first_media().header.sequence, 0, "nothing was received: the file restarts");
    assert_eq!(patient.said().matches("refuses: forged").count(), 1, "{}", patient.said());
    patient.signal(Signal::SIGINT);
    drop(last);
    patient.end();
    shut.accept().abort("refused: no room");
    plain.end().fails(5, &["refuses: no room"]);
}

#[test]
fn a_stream_survives_a_forged_abort() {
    let runtime = PeerRuntime::start();
    let (receiver, port, out) = receive("farewell.ts", "--once");
    let first = runtime.connect(1, port);
    let _talk = first.talks(7, b'a');
    receiver.until("data", || played(&out) > 1000);
    first.abort("refused: forged");
    let second = runtime.connect(1, port);
    let _talk = second.talks(7, b'b');
    receiver.until("more of it", || packets_of(b'b', &out) > 60);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
}
