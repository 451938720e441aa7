//! Scenarios with managed queues and policers.

use std::path::Path;

use strandcast_lab::result::RunResult;
use strandcast_lab::scenario::{Codel, QueueKind, QueueLimit, Scenario, Turns, parse};
use strandcast_testing::lab::{of_flow, run};

/// A CUBIC flow with a long queue, and a call of small packets.
const NETWORK: &str = r#"
run = { time = "30 s", warmup = "10 s" }
nodes = { a = {}, b = {} }
[links.x]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "20 ms"
queue.limit = "1 MB"
[flows.bulk]
transport = "tcp"
profile = "linux"
cc = "cubic"
from = "a"
to = "b"
paths.p.via = ["x"]
[flows.call]
transport = "udp"
from = "a"
to = "b"
app = { kind = "cbr", rate = "64 kbit/s", size = 160 }
paths.p.via = ["x"]
"#;

fn read(sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    parse(NETWORK, "net.toml", Path::new(""), &sets).map_err(|error| error.to_string())
}

fn with(sets: &[&str]) -> (Scenario, RunResult) {
    let scenario = read(sets).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1);
    (scenario, result)
}

#[test]
fn managed_queues_are_short_and_the_link_stays_full() {
    let (_, tail) = with(&[]);
    let (_, codel) = with(&["links.x.queue={kind=\"codel\"}"]);
    let (_, fair) = with(&["links.x.queue={kind=\"fq-codel\"}"]);
    let delay = |result: &RunResult| of_flow(result, "call", "delay_p95_ms");
    assert!(delay(&tail) > 200.0, "{}", delay(&tail));
    // CoDel's queue oscillates around 5 ms.
    assert!((22.0..60.0).contains(&delay(&codel)), "{}", delay(&codel));
    // The call has a queue of its own: it waits for a packet in service and a quantum, 1.2 ms each, at most.
    assert!(delay(&fair) < 20.0 + 3.9, "{}", delay(&fair));
    assert_eq!(of_flow(&fair, "call", "lost_packets"), 0.0);
    for result in [&tail, &codel, &fair] {
        let goodput = of_flow(result, "bulk", "goodput_bps");
        assert!((8.5e6..10e6).contains(&goodput), "{goodput}");
    }
    assert!(of_flow(&codel, "bulk", "lost_queue_packets") > 0.0);
}

/// A policer passes its rate and burst to a flow that does not yield, and no queue builds up.
#[test]
fn a_policer_limits_what_passes() {
    let flood = "flows.call.app={kind=\"cbr\",rate=\"8 Mbit/s\",size=972}";
    let policer = "links.x.policer={rate=\"4 Mbit/s\",burst=\"10 kB\"}";
    let (_, result) = with(&[flood, policer, "flows.bulk="]);
    let carried = of_flow(&result, "call", "goodput_bps") * 1000.0 / 972.0;
    assert!((carried - 4e6).abs() < 0.01e6, "{carried}");
    assert!(of_flow(&result, "call", "delay_max_ms") < 24.0);
    let lost = of_flow(&result, "call", "lost_queue_packets") / of_flow(&result, "call", "sent_packets");
    assert!((lost - 0.514).abs() < 0.01, "{lost}");
}

#[test]
fn the_other_direction_is_as_forward_where_it_says_nothing_else() {
    let queue = |sets: &[&str]| read(sets).expect("it is right").links["x"].reverse.queue;
    let fair = "links.x.queue={kind=\"fq-codel\",target=\"7 ms\",quantum=300}";
    let same = queue(&[fair]);
    assert_eq!((same.kind, same.limit), (QueueKind::FqCodel, QueueLimit::Packets(10_240)));
    let other = queue(&[fair, "links.x.reverse.queue.flows=64"]);
    let codel = same.codel.expect("it has");
    assert_eq!((other.turns, other.codel), (Some(Turns { quantum: 300, flows: 64 }), same.codel));
    assert_eq!(codel, Codel { target: core::time::Duration::from_millis(7), ..codel });
    let tail = queue(&[fair, "links.x.reverse.queue.kind=\"drop-tail\""]);
    assert_eq!((tail.codel, tail.turns, tail.limit), (None, None, QueueLimit::Packets(100)));
}

#[test]
fn keys_of_other_kinds_are_refused() {
    for (set, error) in [
        (
            "links.x.queue={target=\"5 ms\"}",
            "links.x.queue.target: a queue of kind `drop-tail` has no `target`; `codel` or `fq-codel` has",
        ),
        (
            "links.x.queue={kind=\"codel\",quantum=300}",
            "links.x.queue.quantum: a queue of kind `codel` has no `quantum`; `fq-codel` has",
        ),
        (
            "links.x.queue={kind=\"codel\",in_service=true}",
            "links.x.queue.in_service: a queue of kind `codel` has no `in_service`; `drop-tail` has",
        ),
        (
            "links.x.queue={kind=\"fq-codel\",limit=0}",
            "links.x.queue.limit: no packet can ever be sent; let it be 1 or more",
        ),
        ("links.x.queue.kind=\"codle\"", "links.x.queue.kind: there is no `codle`; did you mean `codel`?"),
    ] {
        let wrong = read(&[set]).expect_err(set);
        assert!(wrong.ends_with(error), "{wrong}");
    }
}
