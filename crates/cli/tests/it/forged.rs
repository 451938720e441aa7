//! One packet forged by an observer interrupts the stream only for a moment.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use strandcast_proto::wire::chunk::{ForwardTsn, Shutdown};

use crate::common::relay::{Relay, sack};
use crate::common::{clip, file, port, start};

/// Far beyond what was sent, at the maximum distance by which a TSN can be ahead of another.
const BEYOND: u32 = 1 << 23;

/// The longest gap in playout within 6 s after `forge`.
fn blackout(name: &str, forge: impl Fn(&Relay)) -> f64 {
    let (port, out) = (port(), file(&format!("plain-forged-{name}.ts")));
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let relay = Relay::start(port);
    let sender = start(&format!("send {} 127.0.0.1:{} --latency 300", clip().display(), relay.port()));
    let played = || std::fs::metadata(&out).map_or(0, |m| m.len());
    receiver.until("data", || played() > 100_000);
    forge(&relay);
    let (begun, mut before, mut since, mut longest) = (Instant::now(), played(), Instant::now(), 0.0_f64);
    while begun.elapsed() < Duration::from_secs(6) {
        std::thread::sleep(Duration::from_millis(5));
        if played() > before {
            (before, since) = (played(), Instant::now());
        }
        longest = longest.max(since.elapsed().as_secs_f64());
    }
    println!("{name}: {longest:.2} s");
    assert!(receiver.said().contains("is back as"), "{name}: {} {}", sender.said(), receiver.said());
    sender.signal(Signal::SIGINT);
    sender.end().succeeds();
    longest
}

#[test]
fn a_forged_acknowledgement_costs_less_than_a_second() {
    let longest = blackout("sack", |relay| relay.forge_to_sender(|seen| sack(seen.tsn + BEYOND)));
    assert!(longest < 1.0, "{longest}");
}

#[test]
fn a_forged_forward_tsn_costs_less_than_a_second() {
    let forward = |relay: &Relay| {
        relay.forge_to_receiver(|seen| ForwardTsn {
            new_cumulative_tsn: seen.tsn + BEYOND,
            streams: Default::default(),
        });
    };
    let longest = blackout("forward-tsn", forward);
    assert!(longest < 1.0, "{longest}");
}

#[test]
fn a_forged_shutdown_costs_two_seconds_at_most() {
    let longest = blackout("shutdown-to-sender", |relay| {
        relay.forge_to_sender(|seen| Shutdown { cumulative_tsn_ack: seen.tsn });
    });
    assert!(longest < 2.0, "{longest}");
    let longest = blackout("shutdown-to-receiver", |relay| {
        relay.forge_to_receiver(|seen| Shutdown { cumulative_tsn_ack: seen.tsn + BEYOND });
    });
    assert!(longest < 2.0, "{longest}");
}
