//! A sender succeeds only if its stream was played.

use std::time::Duration;

use bytes::Bytes;
use nix::sys::signal::Signal;
use strandcast_proto::association::CloseReason;

use crate::common::peer::PeerRuntime;
use crate::common::relay::Relay;
use crate::common::{file, port, run, seconds, start};

#[test]
fn a_server_of_measurements_refuses_a_stream() {
    let port = port();
    let server = start(&format!("perf server 127.0.0.1:{port}"));
    server.says("listening");
    let (input, _) = seconds(2, "measured.ts");
    run(&format!("send {} 127.0.0.1:{port} --latency 200", input.display()))
        .fails(5, &["refuses", "perf server", "strandcast receive"]);
    server.says("dismissed");
    server.signal(Signal::SIGTERM);
    server.end().succeeds();
}

/// The receiver needs up to 2 s to know that its sender is there.
#[test]
fn a_clip_that_is_shorter_than_the_decision_about_it_is_refused_all_the_same() {
    let world = PeerRuntime::start();
    let port = port();
    let receiver = start(&format!("receive 127.0.0.1:{port} /dev/null"));
    receiver.says("listening");
    let first = world.connect(2, port);
    let _talk = first.talks(7, b'a');
    receiver.says("receiving from");
    let bytes = std::fs::read(crate::common::clip()).unwrap();
    let input = file("short.ts");
    // Three tenths of a second.
    std::fs::write(&input, &bytes[..40_000 / 188 * 188]).unwrap();
    run(&format!("send {} 127.0.0.1:{port} --latency 200", input.display()))
        .fails(5, &["already receiving from another sender"]);
}

#[test]
fn a_receiver_that_takes_everything_and_says_nothing_has_not_played_it() {
    let world = PeerRuntime::start();
    let port = port();
    let mut door = world.listen(port);
    let (input, _) = seconds(1, "taken.ts");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 200", input.display()));
    let receiver = door.accept();
    receiver.first_media();
    sender.end().fails(5, &["did not say that it plays the stream"]);
}

#[test]
fn a_stream_of_which_most_was_late_misses_its_target() {
    let (port, out) = (port(), file("late.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let relay = Relay::start(port);
    let (input, _) = seconds(8, "late-in.ts");
    let send = format!("send {} 127.0.0.1:{} --latency 200 --json", input.display(), relay.port());
    let sender = start(&send);
    receiver.until("data", || std::fs::metadata(&out).is_ok_and(|m| m.len() > 50_000));
    relay.cut(true);
    std::thread::sleep(Duration::from_secs(8));
    relay.cut(false);
    let sender = sender.end();
    sender.fails(1, &["were not delivered in time"]);
    let sent = sender.json();
    assert!(sent["expired"].as_u64() > Some(300), "{sent}");
    receiver.end().succeeds();
}

/// One update at one end must not look like a firewall.
#[test]
fn another_version_of_messages_is_reported_at_both_ends() {
    let world = PeerRuntime::start();
    let port = port();
    let receiver = start(&format!("receive 127.0.0.1:{port} /dev/null"));
    receiver.says("listening");
    let peer = world.connect(1, port);
    let mut message = vec![0; 208];
    message[0] = 2;
    peer.says(0, Bytes::from(message));
    match peer.closed() {
        CloseReason::PeerAborted(words) => {
            assert!(words.starts_with("refused: ") && words.contains("version 2"), "{words}");
        }
        other => panic!("{other:?}"),
    }
    receiver.says("of version 2, and this receiver reads version 1: update the older side");
}
