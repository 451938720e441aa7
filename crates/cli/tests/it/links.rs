//! Streams over emulated links that are too narrow, or down for a while.

use std::time::Duration;

use nix::sys::signal::Signal;
use strandcast_net::emulate::Relay;
use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;

use crate::common::link::link;
use crate::common::{clip, file, port, run, seconds, start, start_with};

/// A link to `server` with this rate in bit/s and 20 ms delay.
fn narrow(server: u16, rate_bps: u64) -> Relay {
    let delay = Number::from(Duration::from_millis(20));
    let (rate, queue) = (Rate::Constant(rate_bps), Queue::packets(20));
    let both = LinkConfig { rate, delay, queue, ..LinkConfig::default() };
    link(server, both.clone(), both)
}

#[test]
fn above_capacity_the_oldest_expire_and_one_line_reports_it() {
    let port = port();
    let relay = narrow(port, 500_000);
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once --json", file("narrow.ts").display()));
    receiver.says("listening");
    let sender = start(&format!("send {} {} --latency 600 --json", clip().display(), relay.local_addr()));
    sender.says(" dropped: input ");
    std::thread::sleep(Duration::from_secs(3));
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    sender.succeeds();
    let lines: Vec<&str> = sender.err.lines().filter(|line| line.contains("dropped: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains(" s dropped: input "), "{sender:?}");
    assert!(
        lines[0].contains(": set the encoder to ") && lines[0].ends_with("kbit/s or raise --latency"),
        "{lines:?}"
    );
    let receiver = receiver.end();
    receiver.succeeds();
    let (sent, got) = (sender.json(), receiver.json());
    let number = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    // Half of the stream fits. It arrives in time once the sender has measured the queue: messages that would be late
    // are not sent.
    let played = number(&got, "played") / number(&sent, "messages");
    assert!((0.25..0.6).contains(&played), "{played} of {sent} played: {got}");
    assert!(number(&got, "late") < 95.0, "more than a second's worth was late: {got}");
    assert!(number(&sent, "expired") > 0.2 * number(&sent, "messages"), "{sent}");
}

/// A sender that is started again while a modem is unplugged, or has no address yet: the other path carries the stream.
#[test]
fn a_path_that_is_not_there_yet_is_awaited() {
    let (port, out) = (port(), file("awaited.ts"));
    let (input, bytes) = seconds(2, "awaited-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let paths = "--path if=nope0 --path bind=192.0.2.1 --path bind=127.0.0.1";
    let send = format!("send {} 127.0.0.1:{port} {paths} --latency 200", input.display());
    let sender = run(&send);
    sender.succeeds();
    receiver.end().succeeds();
    assert_eq!(std::fs::read(out).unwrap(), bytes);
    for absent in ["path if=nope0: no network interface", "path bind=192.0.2.1: no interface"] {
        assert_eq!(sender.err.matches(absent).count(), 1, "{}", sender.err);
    }
    assert!(!sender.err.contains("is not used"), "once: {}", sender.err);
}

/// The same holds without any path: the sender searches until one exists, for the time of `--retry`.
#[test]
fn with_retry_no_path_at_all_is_awaited_as_well() {
    let input = clip();
    let begun = std::time::Instant::now();
    let sender = run(&format!("send {} 127.0.0.1 --path if=nope0 --retry 3", input.display()));
    sender.fails(4, &["nope0"]);
    run(&format!("send {} 127.0.0.1 --path if=nope0", input.display())).fails(4, &["nope0"]);
    assert!(begun.elapsed() > Duration::from_secs(1), "{:?}: {}", begun.elapsed(), sender.err);
}

/// Names of the boot: the sender waits for an address of the receiver.
#[test]
fn with_retry_a_name_without_an_address_is_awaited() {
    let send = format!("send {} no-such-host.invalid", clip().display());
    run(&send).fails(4, &["no-such-host.invalid"]);
    let begun = std::time::Instant::now();
    run(&format!("{send} --retry 3")).fails(4, &["no-such-host.invalid"]);
    assert!(begun.elapsed() > Duration::from_secs(1), "{:?}", begun.elapsed());
}

/// An interface that is named twice, and one that does not lead to the receiver.
#[test]
fn paths_that_cannot_be_meant_are_refused() {
    let send = format!("send {} 127.0.0.1 --path if=lo", clip().display());
    run(&format!("{send} --path if=lo")).fails(2, &["if=lo is given twice"]);
    let far = format!("send {} 192.0.2.1 --path if=lo", clip().display());
    run(&far).fails(4, &["lo reaches this machine only", "192.0.2.1"]);
}

/// An encoder that stops: both sides report it, and its end.
#[test]
fn an_input_that_stops_is_named_on_both_sides() {
    use std::io::Write as _;
    let (port, out) = (port(), file("idle.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let (ours, mut theirs) = std::io::pipe().unwrap();
    let sender = start_with(&format!("send - 127.0.0.1:{port} --latency 300"), ours.into());
    let (_, bytes) = seconds(2, "idle-in.ts");
    theirs.write_all(&bytes[..188 * 200]).unwrap();
    sender.says("no input from standard input for 2 s");
    receiver.says("sends, but its input does not: nothing came for 2 s");
    theirs.write_all(&bytes[188 * 200..188 * 400]).unwrap();
    sender.says("standard input has input again after");
    receiver.says("has input again after");
    drop(theirs);
    let (sender, receiver) = (sender.end(), receiver.end());
    sender.succeeds();
    receiver.succeeds();
    assert!(!receiver.err.contains("no packets from"), "{}", receiver.err);
}

/// A latency above the silence that counts as an outage: the buffer is played, and nothing is missing.
#[test]
fn the_end_of_a_stream_with_a_long_latency_is_not_an_outage() {
    let (port, out) = (port(), file("long-latency.ts"));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once --json", out.display()));
    receiver.says("listening");
    let (input, bytes) = seconds(1, "long-latency-in.ts");
    run(&format!("send {} 127.0.0.1:{port} --latency 4000", input.display())).succeeds();
    let receiver = receiver.end();
    receiver.succeeds();
    assert_eq!(std::fs::read(out).unwrap(), bytes);
    assert_eq!(receiver.json()["outages"], 0, "{}", receiver.err);
    assert!(!receiver.err.contains("no packets from"), "{}", receiver.err);
}
