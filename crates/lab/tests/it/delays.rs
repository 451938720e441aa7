//! Delays of messages against those of the packets that carry them.

use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::{Scenario, parse};
use strandcast_lab::simulation::{RunOptions, Simulation};
use strandcast_schemes::presets;
use strandcast_testing::lab::{Presets, metric, of_flow, run};

/// A video over two links of 8 and 40 ms, which lose nothing.
const NETWORK: &str = r#"
run = { time = "12 s", warmup = "2 s" }
nodes = { a = {}, b = {} }
links.x = { from = "a", to = "b", rate = "20 Mbit/s", delay = "8 ms" }
links.y = { from = "a", to = "b", rate = "5 Mbit/s", delay = "40 ms" }
[flows.f]
from = "a"
to = "b"
app = { kind = "video", rate = "6 Mbit/s", expire = true }
paths = { x = { via = ["x"] }, y = { via = ["y"] } }
"#;

fn network(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    parse(NETWORK, "net.toml", Path::new(""), &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn under(scenario: &Scenario, scheme: &str) -> RunResult {
    let mut simulation = Simulation::new(scenario, &Presets, 1, Some(scheme)).expect("it was read");
    simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted")
}

/// A message is delivered after its packet has arrived. Schemes that send copies are left out: the copy that comes
/// last has a network delay, and it delivers nothing.
#[test]
fn no_message_is_delivered_before_its_packet_arrives() {
    let mut judged = 0;
    for set in ["flows.f.app.expire=true", "flows.f.app.expire=false"] {
        let scenario = network(&[set]);
        for preset in presets() {
            let result = under(&scenario, preset.name);
            let of = |name: &str| of_flow(&result, "f", name);
            if of("duplicate_packets") > 0.0 || of("goodput_bps") < 5e6 {
                continue;
            }
            for delay in ["delivery", "message"] {
                let [mean, most] = ["mean", "max"]
                    .map(|what| [of(&format!("{delay}_delay_{what}_ms")), of(&format!("delay_{what}_ms"))]);
                let told = format!("{}, {set}: {delay} delay {mean:?}, maximum {most:?}", preset.name);
                assert!(mean[0] >= mean[1] && most[0] >= most[1], "{told}");
            }
            judged += 1;
        }
    }
    assert!(judged > 20, "{judged}");
}

/// CMT sends by both links in turn. Messages by the slow one arrive after their successors, and they count.
#[test]
fn messages_over_the_slow_link_have_their_delay() {
    let result = under(&network(&[]), "cmt");
    let of = |name: &str| of_flow(&result, "f", name);
    // 1400 bytes in 2.24 ms at 5 Mbit/s.
    assert!(of("delivery_delay_max_ms") >= 42.2, "{}", of("delivery_delay_max_ms"));
}

/// Throughput is what the sender hands to its links; the receiver's acknowledgements leave by the other direction.
#[test]
fn throughput_is_of_the_sender_alone() {
    for flow in [
        "transport=\"tcp\"",
        "transport=\"mptcp\"",
        "scheme=\"cmt\"",
        "scheme=\"strand\"",
        "transport=\"udp\"",
    ] {
        let (key, value) = flow.split_once('=').expect("it is a key");
        let mut sets =
            vec![format!("flows.f.{key}={value}"), "flows.f.app={kind=\"cbr\",rate=\"4 Mbit/s\"}".into()];
        if matches!(value, "\"tcp\"" | "\"udp\"") {
            sets.push("flows.f.paths={x={via=[\"x\"]}}".into());
        }
        let scenario = network(&sets.iter().map(String::as_str).collect::<Vec<_>>());
        let result = run(&scenario, 1);
        for path in scenario.flows["f"].paths.keys() {
            let of_link = |direction: &str, name: &str| {
                metric(&result, &Subject::Link { link: path.clone(), direction: direction.into() }, name)
            };
            let of_path =
                |name: &str| metric(&result, &Subject::Path { flow: "f".into(), path: path.clone() }, name);
            let (sent, served) = (of_path("throughput_bps"), of_link("forward", "served_bps"));
            // Packets cross the two edges of the window: at most those in the queue.
            assert!(
                (sent - served).abs() < 0.01 * served + 2000.0,
                "{flow}, {path}: {sent} and {served} bit/s"
            );
            let (packets, back) = (of_path("control_packets"), of_link("reverse", "delivered_packets"));
            assert!(
                back == 0.0 || packets < 0.2 * back,
                "{flow}, {path}: {packets} control packets of {back}"
            );
        }
    }
}
