//! Every packet with data that a flow sends is accounted for, copies that links make aside:
//! sent = delivered + duplicates + damaged + refused + lost + in flight.

use core::ops::RangeInclusive;
use std::collections::BTreeMap;
use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::{Scenario, parse};
use strandcast_testing::lab::run;

/// Two routes that damage, lose and drop packets in both directions. One route is down for some time with a full queue.
/// All flows except the flow over UDP end long before the run.
const NETWORK: &str = r#"
[run]
time = "400 s"
[nodes.a]
[nodes.b]
[links.x]
from = "a"
to = "b"
rate = "4 Mbit/s"
delay = "20 ms"
queue.limit = 20
corrupt = 0.07
loss.uniform.rate = 0.01
down = { from = "5 s", to = "8 s" }
reverse.corrupt = 0.02
[links.y]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "60 ms"
corrupt = 0.02
reorder = { probability = 0.02, extra = "30 ms" }
loss.markov = { by = "time", good = "5 s", bad = "100 ms" }
[flows.sctp]
from = "a"
to = "b"
app = { kind = "finite", bytes = 3000000 }
sctp.receive_buffer = 65536
paths = { x = { via = ["x"] }, y = { via = ["y"] } }
[flows.small]
from = "a"
to = "b"
app = { kind = "finite", bytes = 200000, size = 100 }
paths = { x = { via = ["x"] } }
[flows.tcp]
transport = "tcp"
from = "a"
to = "b"
app = { kind = "finite", bytes = 1000000 }
paths = { x = { via = ["x"] } }
[flows.mptcp]
transport = "mptcp"
from = "a"
to = "b"
app = { kind = "finite", bytes = 2000000 }
paths = { x = { via = ["x"] }, y = { via = ["y"] } }
[flows.udp]
transport = "udp"
from = "a"
to = "b"
app = { kind = "cbr", rate = "100 kbit/s" }
paths = { x = { via = ["x"] } }
"#;

fn network() -> Scenario {
    parse(NETWORK, "net.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn metrics(result: &RunResult, subject: &Subject) -> BTreeMap<&'static str, f64> {
    result.metrics.iter().filter(|m| m.subject == *subject).map(|m| (m.name, m.value)).collect()
}

/// Packets that were sent and have no outcome yet.
fn in_flight(metrics: &BTreeMap<&'static str, f64>) -> f64 {
    let all = ["delivered", "duplicate", "damaged", "refused", "lost"];
    metrics["sent_packets"] - all.map(|what| metrics[&*format!("{what}_packets")]).iter().sum::<f64>()
}

#[test]
fn no_packet_is_unaccounted_for() {
    all_are_accounted_for(&network(), 1..=5);
}

#[test]
fn managed_queues_and_policers_account_for_their_drops() {
    for (queue, policer) in [
        (r#"{ kind = "codel" }"#, r#"{ rate = "3 Mbit/s", burst = "6 kB" }"#),
        (r#"{ kind = "fq-codel", limit = 30 }"#, r#"{ rate = "1 Gbit/s", burst = "1 MB" }"#),
    ] {
        let sets = [format!("links.x.queue={queue}"), format!("links.x.policer={policer}")];
        let scenario = parse(NETWORK, "net.toml", Path::new(""), &sets);
        all_are_accounted_for(&scenario.unwrap_or_else(|error| panic!("{error}")), 1..=2);
    }
}

fn all_are_accounted_for(scenario: &Scenario, seeds: RangeInclusive<u64>) {
    for seed in seeds {
        let result = run(scenario, seed);
        for (name, flow) in &scenario.flows {
            let of = metrics(&result, &Subject::Flow(name.clone()));
            let under_way = in_flight(&of);
            // 100 kbit/s over 20 ms.
            let most = if name == "udp" { 1.0 } else { 0.0 };
            assert!((0.0..=most).contains(&under_way), "seed {seed}, {name}: {under_way} of {of:#?}");
            assert!(
                of["damaged_packets"] > 0.0 && of["lost_random_packets"] > 0.0,
                "seed {seed}, {name}: {of:#?}"
            );
            for path in flow.paths.keys() {
                let (flow, path) = (name.clone(), path.clone());
                let of = metrics(&result, &Subject::Path { flow, path });
                assert!((0.0..=most).contains(&in_flight(&of)), "seed {seed}, {name}: {of:#?}");
            }
        }
    }
}

/// Packets of a flow that an outage drops count for the flow, also packets that were queued or in transit.
#[test]
fn outages_take_what_is_under_way() {
    let scenario = network();
    let result = run(&scenario, 1);
    let link = Subject::Link { link: "x".into(), direction: "forward".into() };
    let down = metrics(&result, &link)["lost_down_packets"];
    let flows = scenario.flows.keys().map(|name| metrics(&result, &Subject::Flow(name.clone())));
    let of_flows: f64 = flows.map(|of| of["lost_down_packets"]).sum();
    // The link's are also packets without data, and those it lost at random whose turn had not come.
    assert!(of_flows > 20.0 && of_flows <= down, "{of_flows} of {down}");
}

#[test]
fn damage_is_counted_at_the_receiver() {
    let result = run(&network(), 1);
    let of = metrics(&result, &Subject::Flow("udp".into()));
    // 400 s of 100 kbit/s in messages of 1400 bytes: 3571 packets, of which 1 % are lost first, and some dropped.
    let share = of["damaged_packets"] / (of["delivered_packets"] + of["damaged_packets"]);
    assert!((share - 0.07).abs() < 4.0 * (0.07_f64 * 0.93 / 3400.0).sqrt(), "{share}");
}

/// Several chunks in a packet are one packet.
#[test]
fn packets_are_counted_once_however_many_chunks_they_carry() {
    let result = run(&network(), 1);
    let of = metrics(&result, &Subject::Flow("small".into()));
    // 2000 messages of 100 bytes, eleven of which fit a packet.
    assert!((180.0..400.0).contains(&of["delivered_packets"]), "{of:#?}");
    assert_eq!(of["delivered_bytes"], 200_000.0);
}
