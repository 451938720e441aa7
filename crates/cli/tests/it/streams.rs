//! Streams over loopback, from one end to the other.

use std::fs::File;
use std::net::UdpSocket;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common::{clip, file, port, run, seconds, start, start_with};

#[test]
fn a_file_arrives_unchanged_over_two_paths() {
    let (port, out, stats) = (port(), file("whole.ts"), file("stats.jsonl"));
    let (input, bytes) = seconds(3, "whole-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once --json", out.display()));
    receiver.says("listening");
    // Round robin, because the default would use only the faster path.
    let paths = "--path bind=127.0.0.1 --path bind=127.0.0.2,mtu=1300";
    let (input, stats_arg) = (input.display(), stats.display());
    let sender = run(&format!(
        "send {input} 127.0.0.1:{port} {paths} --scheme cmt --latency 300 --json --stats={stats_arg}"
    ));
    sender.succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    assert!(receiver.err.contains("encrypted") && sender.err.contains("encrypted"), "both sides warn");
    assert_eq!(std::fs::read(&out).unwrap(), bytes);
    let (sent, got) = (sender.json(), receiver.json());
    assert_eq!(
        (&got["identical"], &got["late"], &got["lost"]),
        (&true.into(), &0.into(), &0.into()),
        "{got}"
    );
    assert_eq!((&sent["messages"], &sent["bytes"]), (&got["played"], &got["bytes"]));
    let used =
        sent["paths"].as_array().unwrap().iter().filter(|p| p["bytes"].as_u64() > Some(50_000)).count();
    assert_eq!(used, 2, "{sent}");
    let lines: Vec<serde_json::Value> =
        std::fs::read_to_string(&stats).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let figures = lines.iter().filter(|line| line["paths"].is_array()).count();
    assert!((2..=8).contains(&figures), "{figures} lines in some 3 s");
    assert!(lines.iter().all(|l| l["role"] == "send"), "{lines:?}");
}

#[test]
fn from_standard_input_to_standard_output() {
    let port = port();
    let (path, bytes) = seconds(1, "pipe.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} - --once --json"));
    receiver.says("listening");
    let input = File::open(path).unwrap();
    let send = format!("send - 127.0.0.1:{port} --latency 300 --scheme cmt-cl-fd");
    let sender = start_with(&send, input.into()).end();
    sender.succeeds();
    let diagnostics =
        sender.err.lines().filter(|l| l.starts_with("scheme cmt-cl-fd: ") && l.contains("frame errors"));
    assert_eq!(diagnostics.count(), 1, "the loopback has no frames: {}", sender.err);
    let receiver = receiver.end();
    receiver.succeeds();
    assert!(receiver.out == bytes, "{} bytes of {}", receiver.out.len(), bytes.len());
    assert!(
        receiver.err.lines().any(|l| l.starts_with("{\"sender\"")),
        "JSON is on standard error: {}",
        receiver.err
    );
}

#[test]
fn from_udp_to_udp() {
    let (port, input) = (port(), port());
    let player = UdpSocket::bind("127.0.0.1:0").unwrap();
    player.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let output = player.local_addr().unwrap();
    let receiver = start(&format!("receive 127.0.0.1:{port} udp://{output} --once"));
    receiver.says("listening");
    let sender = start(&format!("send udp://127.0.0.1:{input} 127.0.0.1:{port} --latency 200"));
    sender.says("sending");
    receiver.until("input socket", || UdpSocket::bind(("127.0.0.1", input)).is_err());
    let (_, bytes) = seconds(1, "udp.ts");
    let camera = UdpSocket::bind("127.0.0.1:0").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    for datagram in bytes.chunks(7 * 188) {
        camera.send_to(datagram, ("127.0.0.1", input)).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut got = Vec::new();
    let mut buffer = [0; 2000];
    while got.len() < bytes.len() {
        let n = player
            .recv(&mut buffer)
            .unwrap_or_else(|e| panic!("{e} after {} bytes; {}", got.len(), sender.said()));
        got.extend_from_slice(&buffer[..n]);
    }
    assert!(got == bytes);
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
    receiver.end().succeeds();
}

#[test]
fn a_second_sender_is_refused_and_the_first_continues() {
    let (port, out) = (port(), file("first.ts"));
    let (input, bytes) = seconds(4, "first-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let send = format!("send {} 127.0.0.1:{port} --latency 200", input.display());
    let first = start(&send);
    receiver.says("receiving from");
    run(&send).fails(5, &["refuses", "already receiving"]);
    first.end().succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    assert!(receiver.err.contains("refused: already receiving from"), "{}", receiver.err);
    assert!(std::fs::read(&out).unwrap() == bytes);
}

#[test]
fn without_once_the_next_sender_is_received() {
    let (port, out) = (port(), file("two.ts"));
    let (input, bytes) = seconds(1, "two-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    for _ in 0..2 {
        run(&format!("send {} 127.0.0.1:{port} --latency 200", input.display())).succeeds();
    }
    receiver.until("the second end", || receiver.said().matches("every byte as it was sent").count() == 2);
    receiver.signal(Signal::SIGTERM);
    receiver.end().succeeds();
    assert!(std::fs::read(&out).unwrap() == [&bytes[..], &bytes].concat());
}

#[test]
fn an_interrupted_sender_ends_its_stream() {
    let (port, out) = (port(), file("interrupted.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once --json", out.display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 300", clip().display()));
    receiver.until("data", || std::fs::metadata(&out).is_ok_and(|m| m.len() > 50_000));
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    sender.succeeds();
    assert!(sender.err.contains("sent ") && sender.took < Duration::from_secs(5), "{sender:?}");
    let receiver = receiver.end();
    receiver.succeeds();
    assert_eq!(receiver.json()["identical"], true, "all that was sent is played: {}", receiver.err);
}

#[test]
fn a_terminated_receiver_keeps_what_it_has() {
    let (port, out) = (port(), file("terminated.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 500", clip().display()));
    receiver.until("data", || std::fs::metadata(&out).is_ok_and(|m| m.len() > 50_000));
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    receiver.succeeds();
    assert!(receiver.err.contains("played "), "{receiver:?}");
    sender.end().fails(5, &["ended the stream"]);
    assert!(std::fs::read(clip()).unwrap().starts_with(&std::fs::read(&out).unwrap()));
}

#[test]
fn a_second_interrupt_aborts() {
    let port = port();
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", file("aborted.ts").display()));
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port}", clip().display()));
    receiver.says("receiving from");
    // The receiver is stopped, so that the sender waits for its last answer.
    receiver.signal(Signal::SIGSTOP);
    sender.signal(Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(500));
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    receiver.signal(Signal::SIGCONT);
    sender.fails(130, &["aborted"]);
}

#[test]
fn a_receiver_that_comes_back_is_found() {
    let (port, out) = (port(), file("back.ts"));
    let receive = format!("receive 127.0.0.1:{port} {}", out.display());
    let receiver = start(&receive);
    receiver.says("listening");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 300", clip().display()));
    receiver.says("receiving from");
    receiver.signal(Signal::SIGKILL);
    receiver.end();
    let receiver = start(&receive);
    sender.says("again");
    receiver.says("receiving from");
    receiver.until("data", || std::fs::metadata(&out).is_ok_and(|m| m.len() > 50_000));
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
}

#[test]
fn a_capture_is_a_pcap_file() {
    let (port, pcap) = (port(), file("capture.pcap"));
    let (input, _) = seconds(1, "capture.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", file("captured.ts").display()));
    receiver.says("listening");
    run(&format!("send {} 127.0.0.1:{port} --latency 100 --pcap {}", input.display(), pcap.display()))
        .succeeds();
    receiver.end().succeeds();
    let bytes = std::fs::read(&pcap).unwrap();
    assert_eq!(bytes[..4], 0xa1b2_3c4d_u32.to_le_bytes());
    assert!(bytes.len() > 125_000, "the whole stream is in it");
}
