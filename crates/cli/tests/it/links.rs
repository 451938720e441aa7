//! Streams over emulated links that are too narrow, or down for a while.

use std::time::Duration;

use nix::sys::signal::Signal;
use strandcast_net::emulate::Relay;
use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;

use crate::common::link::link;
use crate::common::{clip, file, port, run, seconds, start};

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
    sender.says("the paths carry less");
    std::thread::sleep(Duration::from_secs(3));
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    sender.succeeds();
    assert_eq!(sender.err.matches("the paths carry less").count(), 1, "{sender:?}");
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
fn with_retry_a_path_that_is_not_there_yet_is_awaited() {
    let (port, out) = (port(), file("awaited.ts"));
    let (input, bytes) = seconds(2, "awaited-in.ts");
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let paths = "--path if=nope0 --path bind=192.0.2.1 --path bind=127.0.0.1";
    let send = format!("send {} 127.0.0.1:{port} {paths} --latency 200", input.display());
    run(&send).fails(4, &["nope0"]);
    let sender = run(&format!("{send} --retry forever"));
    sender.succeeds();
    receiver.end().succeeds();
    assert_eq!(std::fs::read(out).unwrap(), bytes);
    for absent in ["path if=nope0: no network interface", "path bind=192.0.2.1: no interface"] {
        assert_eq!(sender.err.matches(absent).count(), 1, "{}", sender.err);
    }
}

/// The same holds without any path: the sender searches until one exists, for the time of `--retry`.
#[test]
fn with_retry_no_path_at_all_is_awaited_as_well() {
    let input = clip();
    let begun = std::time::Instant::now();
    let sender = run(&format!("send {} 127.0.0.1 --path if=nope0 --retry 3", input.display()));
    sender.fails(4, &["nope0"]);
    assert!(begun.elapsed() > Duration::from_secs(1), "{:?}: {}", begun.elapsed(), sender.err);
}
