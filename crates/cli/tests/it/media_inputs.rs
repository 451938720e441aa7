//! Inputs as cameras, recorders, shells and other programs make them.

use std::io::Write as _;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::{Ended, Running, file, port, run, seconds, spawn, start, start_with};

/// Length of a transport packet.
const PACKET: usize = 188;

/// A receiver of one stream, its port and its file.
fn receiver(name: &str) -> (Running, u16, PathBuf) {
    let (port, out) = (port(), file(name));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    (receiver, port, out)
}

/// Sends a file with these options; what was played.
fn played(name: &str, input: &Path, options: &str) -> (Vec<u8>, Ended) {
    let (receiver, port, out) = receiver(name);
    let sent = run(&format!("send {} 127.0.0.1:{port} --latency 300 {options}", input.display()));
    sent.succeeds();
    receiver.end().succeeds();
    (std::fs::read(out).unwrap(), sent)
}

/// The same transport stream with other packets of its clock.
fn with_clock(bytes: &[u8], change: impl Fn(usize, &mut [u8])) -> Vec<u8> {
    let mut all = bytes.to_vec();
    let mut n = 0;
    for packet in all.chunks_mut(PACKET) {
        if packet[3] & 0x20 != 0 && packet[4] > 6 && packet[5] & 0x10 != 0 {
            change(n, packet);
            n += 1;
        }
    }
    all
}

#[test]
fn a_named_pipe_is_sent_from_its_first_byte() {
    let (receiver, port, out) = receiver("fifo.ts");
    let (input, bytes) = seconds(2, "fifo-in.ts");
    let pipe = file("fifo");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 300", pipe.display()));
    let mut writer = Command::new("cp").arg(&input).arg(&pipe).spawn().unwrap();
    sender.end().succeeds();
    assert!(writer.wait().unwrap().success(), "the writer does not die of a closed pipe");
    receiver.end().succeeds();
    assert!(std::fs::read(out).unwrap() == bytes);
    // Without a writer it waits, and ends at a signal.
    let waits = start(&format!("send {} 127.0.0.1:{port}", pipe.display()));
    waits.says("sending");
    waits.signal(Signal::SIGTERM);
    // The receiver has left: it may say so.
    assert!(matches!(waits.end().code, Some(0 | 5)));
    std::fs::remove_file(pipe).unwrap();
}

#[test]
fn a_process_substitution_is_sent_from_its_first_byte() {
    let (receiver, port, out) = receiver("substituted.ts");
    let (input, bytes) = seconds(2, "substituted-in.ts");
    let program = env!("CARGO_BIN_EXE_strandcast");
    let line = format!("{program} send --plain <(cat {}) 127.0.0.1:{port} --latency 300", input.display());
    spawn(Command::new("bash").args(["-c", &line]).stdin(Stdio::null())).end().succeeds();
    receiver.end().succeeds();
    assert!(std::fs::read(out).unwrap() == bytes);
}

#[test]
fn packets_of_192_and_204_bytes_are_sent_as_188() {
    let (_, bytes) = seconds(1, "packets-in.ts");
    for (name, before, after) in [("m2ts", 4, 0), ("isdb", 0, 16)] {
        let around = |packet: &[u8]| [&vec![0x2a; before][..], packet, &vec![0x55; after][..]].concat();
        let input = file(&format!("packets.{name}"));
        std::fs::write(&input, bytes.chunks(PACKET).flat_map(around).collect::<Vec<u8>>()).unwrap();
        let (got, _) = played(&format!("packets-{name}.ts"), &input, "");
        assert!(got == bytes, "{name}: {} of {} bytes", got.len(), bytes.len());
    }
}

#[test]
fn rtp_is_taken_out_of_its_packets() {
    let (_, bytes) = seconds(2, "rtp-in.ts");
    for each in [7, 4, 1] {
        let (receiver, port, out) = receiver(&format!("rtp-{each}.ts"));
        let listen = crate::common::port();
        let sender = start(&format!("send udp://127.0.0.1:{listen} 127.0.0.1:{port} --latency 500"));
        sender.says("sending");
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for (n, packets) in bytes.chunks(PACKET * each).enumerate() {
            let n = u16::try_from(n % 65_536).unwrap().to_be_bytes();
            let head = [0x80, 33, n[0], n[1], 0, 0, n[0], n[1], 0, 0, 0, 1];
            socket.send_to(&[&head, packets].concat(), ("127.0.0.1", listen)).unwrap();
            std::thread::sleep(Duration::from_micros(1500 * each as u64));
        }
        let length = || std::fs::metadata(&out).map_or(0, |seen| seen.len());
        receiver.until("all", || length() == bytes.len() as u64);
        sender.signal(Signal::SIGTERM);
        let sender = sender.end();
        sender.succeeds();
        receiver.end().succeeds();
        assert!(
            std::fs::read(&out).unwrap() == bytes && !sender.err.contains("lost sync"),
            "{each}: {sender:?}"
        );
    }
}

/// An unattended sender, whose port gets something else first.
#[test]
fn a_live_input_of_something_else_is_named_and_waited_for() {
    let (receiver, port, out) = receiver("late-media.ts");
    let (_, bytes) = seconds(1, "late-media-in.ts");
    let listen = crate::common::port();
    let sender = start(&format!("send udp://127.0.0.1:{listen} 127.0.0.1:{port} --latency 500"));
    sender.says("sending");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..40 {
        socket.send_to(&b"HTTP/1.1 404 Not Found\r\n".repeat(50), ("127.0.0.1", listen)).unwrap();
    }
    sender.says("has no MPEG transport stream, but text; waiting for one");
    for packets in bytes.chunks(PACKET * 7) {
        socket.send_to(packets, ("127.0.0.1", listen)).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    receiver.until("media", || std::fs::metadata(&out).is_ok_and(|seen| seen.len() == bytes.len() as u64));
    sender.signal(Signal::SIGTERM);
    sender.end().succeeds();
    receiver.end().succeeds();
    assert!(std::fs::read(&out).unwrap() == bytes);
}

/// A stream without any clock: padding of one PID, 2 s at 1.5 Mbit/s.
fn blank() -> Vec<u8> {
    let packet = |n: u32| {
        let mut packet = [0xff; PACKET];
        packet[..4].copy_from_slice(&[0x47, 0x01, 0x00, 0x10 | (n % 16) as u8]);
        packet
    };
    (0..2000).flat_map(packet).collect()
}

#[test]
fn a_file_without_a_usable_pcr_goes_by_another_clock() {
    let (_, bytes) = seconds(3, "clock-in.ts");
    let none = with_clock(&bytes, |_, packet| packet[5] &= !0x10);
    let frozen = with_clock(&bytes, |_, packet| packet[6..12].copy_from_slice(&[0, 0, 0, 1, 0x7e, 0]));
    let rare = with_clock(&bytes, |n, packet| {
        if n % 60 != 0 {
            packet[5] &= !0x10;
        }
    });
    for (name, stream, words) in [
        ("none", &none, "is paced by the time stamps (DTS) of PID"),
        ("frozen", &frozen, "is paced by the time stamps (DTS) of PID"),
        ("rare", &rare, "is paced by"),
    ] {
        let input = file(&format!("clock-{name}.ts"));
        std::fs::write(&input, stream).unwrap();
        let (got, sent) = played(&format!("clock-{name}-out.ts"), &input, "");
        assert!(got == *stream, "{name}: {} of {} bytes", got.len(), stream.len());
        assert!(sent.took > Duration::from_secs(2), "{name}: {:?}", sent.took);
        if name != "rare" || sent.err.contains("is paced") {
            assert!(sent.err.contains(words), "{name}: {}", sent.err);
        }
    }
    // Neither PCR nor time stamps: padding of one PID.
    let blank = blank();
    let input = file("clock-blank.ts");
    std::fs::write(&input, &blank).unwrap();
    run(&format!("send {} 127.0.0.1:9", input.display())).fails(3, &["neither two PCRs", "--rate"]);
    let (got, sent) = played("clock-rate-out.ts", &input, "--rate 1.5Mbit/s");
    assert!(got == blank && sent.took > Duration::from_secs(1), "{sent:?}");
    assert!(sent.err.contains("is paced by the rate of 1500000 bit/s"), "{}", sent.err);
}

#[test]
fn a_file_may_begin_again_at_its_end() {
    let (receiver, port, out) = receiver("loop.ts");
    let (input, bytes) = seconds(1, "loop-in.ts");
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 300 --loop", input.display()));
    receiver.until("two and a half times", || {
        std::fs::metadata(&out).is_ok_and(|seen| seen.len() > 5 * bytes.len() as u64 / 2)
    });
    sender.signal(Signal::SIGTERM);
    sender.end().succeeds();
    receiver.end().succeeds();
    let got = std::fs::read(&out).unwrap();
    assert!(got.starts_with(&bytes) && got[bytes.len()..].starts_with(&bytes));
    run(&format!("send udp://127.0.0.1:{} 127.0.0.1:{port} --loop", crate::common::port()))
        .fails(2, &["--loop"]);
}

#[test]
fn a_pipe_that_outruns_its_clock_is_paced_and_the_network_is_not_blamed() {
    let (receiver, port, out) = receiver("outruns.ts");
    let (_, bytes) = seconds(6, "outruns-in.ts");
    let (ours, mut theirs) = std::io::pipe().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{port} --latency 500"), ours.into());
    let all = bytes.clone();
    let writer = std::thread::spawn(move || theirs.write_all(&all).unwrap());
    let sender = sender.end();
    writer.join().unwrap();
    sender.succeeds();
    receiver.end().succeeds();
    assert!(sender.err.contains("standard input is paced by its clock, which it outruns"), "{}", sender.err);
    assert!(sender.took > Duration::from_secs(4), "{:?}", sender.took);
    assert!(!sender.err.contains("links carry"), "{}", sender.err);
    let got = std::fs::read(&out).unwrap();
    assert!(got == bytes, "{} of {} bytes", got.len(), bytes.len());
    // With --no-pace all of it is there at once.
    let (receiver, port, _) = self::receiver("insists.ts");
    let (ours, mut theirs) = std::io::pipe().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{port} --latency 500 --no-pace"), ours.into());
    std::thread::spawn(move || theirs.write_all(&bytes));
    let sender = sender.end();
    assert!(sender.took < Duration::from_secs(4) && !sender.err.contains("is paced"), "{sender:?}");
    receiver.signal(Signal::SIGTERM);
    receiver.end();
}

/// An encoder that was stopped, or a terminal.
#[test]
fn a_paced_pipe_that_pauses_goes_on_and_loses_nothing() {
    let (receiver, port, out) = receiver("pauses.ts");
    let (_, bytes) = seconds(5, "pauses-in.ts");
    let (ours, mut theirs) = std::io::pipe().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{port} --latency 500"), ours.into());
    let (first, rest) = bytes.split_at(3 * 125_000);
    theirs.write_all(first).unwrap();
    sender.says("standard input is paced by its clock");
    std::thread::sleep(Duration::from_secs(4));
    theirs.write_all(rest).unwrap();
    drop(theirs);
    let sender = sender.end();
    sender.succeeds();
    receiver.end().succeeds();
    assert!(!sender.err.contains("dropped"), "{}", sender.err);
    let got = std::fs::read(&out).unwrap();
    assert!(got == bytes, "{} of {} bytes", got.len(), bytes.len());
}

#[test]
fn a_rate_of_a_pipe_counts_from_its_first_byte() {
    let (receiver, port, out) = receiver("late-writer.ts");
    let bytes = blank();
    let (ours, mut theirs) = std::io::pipe().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{port} --latency 500 --rate 1.5Mbit/s"), ours.into());
    sender.says("sending");
    std::thread::sleep(Duration::from_secs(3));
    theirs.write_all(&bytes).unwrap();
    drop(theirs);
    let sender = sender.end();
    sender.succeeds();
    receiver.end().succeeds();
    let got = std::fs::read(&out).unwrap();
    assert!(got == bytes, "{} of {} bytes: {}", got.len(), bytes.len(), sender.err);
}

/// As `ffmpeg -re` does: what it could not write in time comes at once afterwards.
#[test]
fn a_live_pipe_that_waited_for_its_receiver_is_not_held_back() {
    let (port, out) = (port(), file("waited.ts"));
    let (_, bytes) = seconds(8, "waited-in.ts");
    let (ours, mut theirs) = std::io::pipe().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{port} --latency 1000"), ours.into());
    let all = bytes.clone();
    let encoder = std::thread::spawn(move || {
        let begun = Instant::now();
        for (n, frame) in all.chunks(5_000).enumerate() {
            std::thread::sleep((Duration::from_millis(40) * n as u32).saturating_sub(begun.elapsed()));
            theirs.write_all(frame).unwrap();
        }
    });
    std::thread::sleep(Duration::from_secs(4));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    let sender = sender.end();
    encoder.join().unwrap();
    sender.succeeds();
    receiver.end().succeeds();
    assert!(!sender.err.contains("is paced"), "{}", sender.err);
    assert!(std::fs::read(&out).unwrap().len() > bytes.len() / 3, "{}", sender.err);
}

/// A name in another encoding.
#[test]
fn a_file_name_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt as _;
    let (receiver, port, out) = receiver("latin.ts");
    let (input, bytes) = seconds(1, "latin-in.ts");
    let name = input.with_file_name(std::ffi::OsStr::from_bytes(b"caf\xe9.ts"));
    std::fs::copy(&input, &name).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    command.arg("send").arg(&name).args([&format!("127.0.0.1:{port}"), "--plain", "--latency", "300"]);
    spawn(command.stdin(Stdio::null())).end().succeeds();
    receiver.end().succeeds();
    assert!(std::fs::read(&out).unwrap() == bytes);
    std::fs::remove_file(name).unwrap();
}
