//! All paths, or the receiver, are dead for a while.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::relay::Relay;
use crate::common::{Ended, Running, clip, file, port, start};

const PATHS: &str = "--path bind=127.0.0.1 --path bind=127.0.0.2";

fn played(out: &Path) -> u64 {
    std::fs::metadata(out).map_or(0, |m| m.len())
}

/// The statistics lines with events.
fn happened(stats: &Path, event: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(stats).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["event"] == event).collect()
}

fn receive(name: &str, options: &str) -> (Running, u16, PathBuf) {
    let (port, out) = (port(), file(name));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} {options}", out.display()));
    receiver.says("listening");
    (receiver, port, out)
}

/// Cuts both paths of a stream of 24 s for `seconds`; returns the time until the output grew again, and the output of
/// both sides.
fn outage(seconds: u64) -> (Duration, Ended, Ended) {
    let name = format!("outage-{seconds}");
    let stats = file(&format!("{name}.jsonl"));
    let (receiver, port, out) =
        receive(&format!("{name}.ts"), &format!("--once --json --stats={}", stats.display()));
    let relay = Relay::start(port);
    let send = format!("send {} 127.0.0.1:{} {PATHS} --latency 500 --json", clip().display(), relay.port());
    let sender = start(&send);
    receiver.until("data", || played(&out) > 100_000);
    relay.cut(true);
    std::thread::sleep(Duration::from_secs(seconds));
    let before = played(&out);
    relay.cut(false);
    let back = Instant::now();
    receiver.until("data again", || played(&out) > before + 20_000);
    let took = back.elapsed();
    let (sender, receiver) = (sender.end(), receiver.end());
    assert_eq!((happened(&stats, "outage").len(), happened(&stats, "outage-over").len()), (1, 1));
    let told = happened(&stats, "outage-over")[0]["outage_s"].as_f64().unwrap();
    assert!(told > seconds as f64 - 0.5, "{told} s");
    (took, sender, receiver)
}

#[test]
fn a_session_survives_outages_of_all_paths() {
    let outages = [3, 8, 20].map(|seconds| std::thread::spawn(move || (seconds, outage(seconds))));
    for outage in outages {
        let (seconds, (took, sender, receiver)) = outage.join().unwrap();
        match seconds {
            // Most of 24 s.
            20 => sender.fails(1, &["were not delivered in time"]),
            _ => sender.succeeds(),
        }
        receiver.succeeds();
        let (sent, got) = (sender.json(), receiver.json());
        println!("{seconds} s: back after {took:?}; {sent} {got}");
        for side in [&sent, &got] {
            assert_eq!((&side["reconnects"], &side["outages"]), (&0.into(), &1.into()), "{side}");
            let longest = side["longest_outage_s"].as_f64().unwrap();
            assert!(longest > seconds as f64 - 0.5, "{side}");
        }
        assert_eq!(got["complete"], true, "only the end ends it: {got}");
        for side in [&sender.err, &receiver.err] {
            assert_eq!(side.matches("no packets from").count(), 1, "once: {side}");
            assert_eq!(side.matches("is back after").count(), 1, "once: {side}");
            assert!(side.contains("1 outage, the longest of"), "{side}");
        }
        // Messages of the outage are not retransmitted: arrivals are still useful.
        let (late, played) = (got["late"].as_u64().unwrap(), got["played"].as_u64().unwrap());
        assert!(late < 60, "{got}");
        assert!(played + 95 * (seconds + 4) > sent["messages"].as_u64().unwrap(), "{got}");
        assert_eq!(got["shift_ms"], 0.0, "the delay does not grow: {got}");
    }
}

#[test]
fn a_receiver_that_was_restarted_is_found_at_once() {
    let (receiver, port, out) = receive("gone.ts", "");
    let sender = start(&format!("send {} 127.0.0.1:{port} {PATHS} --latency 300 --json", clip().display()));
    receiver.until("data", || played(&out) > 100_000);
    receiver.signal(Signal::SIGKILL);
    receiver.end();
    std::thread::sleep(Duration::from_secs(1));
    std::fs::remove_file(&out).unwrap();
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --json", out.display()));
    receiver.says("listening");
    let begun = Instant::now();
    receiver.says("receiving from");
    let took = begun.elapsed();
    println!("found after {took:?}");
    assert!(took < Duration::from_secs(4), "{took:?}: {}", sender.said());
    sender.says("again after");
    receiver.until("data", || played(&out) > 50_000);
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    sender.succeeds();
    let sent = sender.json();
    assert_eq!((&sent["reconnects"], &sent["outages"]), (&1.into(), &1.into()), "{sent}");
    // It continues at the stream's current position.
    let first = &std::fs::read(&out).unwrap()[..188 * 7];
    let clip = std::fs::read(clip()).unwrap();
    let at = clip.windows(first.len()).position(|w| w == first).expect("a part of the clip");
    assert!(at > 200_000, "from byte {at} on");
}

/// The receiver is gone for good, and the stream with it: that the user ends it then makes it no success.
#[test]
fn a_sender_that_is_interrupted_while_it_connects_again_has_not_sent_its_stream() {
    let (receiver, port, out) = receive("gone-for-good.ts", "");
    let send = format!("send {} 127.0.0.1:{port} --latency 1000 --retry 5", clip().display());
    let sender = start(&send);
    receiver.until("data", || played(&out) > 100_000);
    receiver.signal(Signal::SIGKILL);
    sender.says("connecting again");
    sender.signal(Signal::SIGTERM);
    sender.end().fails(5, &["was lost before it had everything"]);
    receiver.end();
}

/// The user need not wait until an outage ends.
#[test]
fn an_interrupted_sender_ends_in_an_outage_too() {
    let (receiver, port, out) = receive("cut.ts", "--silence 3 --once");
    let relay = Relay::start(port);
    let sender = start(&format!("send {} 127.0.0.1:{} --latency 100", clip().display(), relay.port()));
    receiver.until("data", || played(&out) > 100_000);
    relay.cut(true);
    sender.says("no packets from");
    sender.signal(Signal::SIGINT);
    let sender = sender.end();
    sender.fails(5, &["before it had everything"]);
    receiver.end().fails(5, &["was lost: silent for"]);
}
