//! Streams over emulated links that are too narrow, or down for a while.

mod common;

use common::{clip, file, port, start};
use nix::sys::signal::Signal;
use std::net::SocketAddr;
use std::time::Duration;
use strandcast_net::emulate::{Relay, RelayConfig};
use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::seeds::Seeds;
use tokio::runtime::Handle;

/// A link to `server` with this rate in bit/s and 20 ms delay.
fn relay(runtime: &Handle, server: u16, rate_bps: u64) -> Relay {
    let delay = Number::from(Duration::from_millis(20));
    let link = LinkConfig {
        rate: Rate::Constant(rate_bps),
        delay,
        queue: Queue::packets(20),
        ..LinkConfig::default()
    };
    let network = PathNetwork { name: "narrow".into(), forward: link.clone(), reverse: link };
    let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let _inside = runtime.enter();
    Relay::start(RelayConfig { listen: local(0), server: local(server), network }, &Seeds::new(1, 0)).unwrap()
}

/// A runtime on a thread of its own, until the tests end.
fn runtime() -> Handle {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
}

#[test]
fn above_capacity_the_oldest_expire_and_one_line_reports_it() {
    let (runtime, port) = (runtime(), port());
    let relay = relay(&runtime, port, 500_000);
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
