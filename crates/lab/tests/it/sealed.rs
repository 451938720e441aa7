//! Sealed flows of scenarios: `seal = true`.

use std::path::Path;

use strandcast_lab::scenario::{Scenario, Transport, hash, parse};
use strandcast_testing::lab::{goodput, run};

/// One flow over two links.
const NETWORK: &str = r#"
run = { time = "40 s", warmup = "10 s" }
[nodes.a]
[nodes.b]
[links.one]
from = "a"
to = "b"
rate = "4 Mbit/s"
delay = "20 ms"
queue.limit = 30
[links.two]
from = "a"
to = "b"
rate = "4 Mbit/s"
delay = "30 ms"
queue.limit = 30
[flows.f]
from = "a"
to = "b"
paths.one = { via = ["one"] }
"#;

#[track_caller]
fn read(more: &str) -> Scenario {
    parse(&format!("{NETWORK}{more}"), "net.toml", Path::new("/"), &[])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// 1400 bytes of MTU less 28 of IP and UDP and 29 of envelope leave a packet of 1340, in words, and 1312 of payload; the
/// datagram takes 1397 of the link's bytes.
#[test]
fn a_saturated_link_gives_its_rate_less_headers_and_envelopes() {
    for (more, payload, bytes) in [("", 1344.0, 1400.0), ("seal = true\n", 1312.0, 1397.0)] {
        let rate = goodput(&run(&read(more), 1), "f");
        let most = 4e6 * payload / bytes;
        assert!(rate > 0.97 * most && rate < 1.002 * most, "{more}: {rate} of {most}");
    }
}

#[test]
fn paths_of_sealed_flows_come_and_go() {
    let more = "seal = true\npaths.two = { via = [\"two\"], join = \"3 s\", leave = \"38 s\" }\n";
    let result = run(&read(more), 1);
    let rate = goodput(&result, "f");
    assert!(rate > 1.7 * 4e6 * 1312.0 / 1397.0, "{rate}");
    assert_eq!(result, run(&read(more), 1), "same seed, same result");
    assert_ne!(result.fingerprint, run(&read(more), 2).fingerprint);
}

/// A flow that begins late has its handshake then.
#[test]
fn sealed_flows_begin_when_they_should() {
    let result = run(&read("seal = true\nstart = \"25 s\"\n"), 1);
    let rate = goodput(&result, "f");
    let most = 4e6 * 1312.0 / 1397.0;
    assert!(rate > 0.9 * most && rate < 1.01 * most, "{rate} of {most} since it began");
}

#[test]
fn only_sealed_flows_change_a_scenario() {
    let plain = hash(&read(""));
    assert_eq!(hash(&read("seal = false\n")), plain);
    assert_ne!(hash(&read("seal = true\n")), plain);
    let Transport::Sctp { sctp, .. } = &read("seal = true\n").flows["f"].transport else { panic!("sctp") };
    assert_eq!((sctp.headers(), sctp.largest_payload()), (57, 1312));
}

#[test]
fn sealed_packets_go_in_udp() {
    for more in ["profile = \"ns2\"\n", "sctp.encapsulation = \"none\"\n"] {
        let text = format!("{NETWORK}seal = true\n{more}");
        let error = parse(&text, "net.toml", Path::new("/"), &[]).expect_err("it is refused");
        assert!(error.to_string().contains("encapsulation"), "{error}");
    }
}
