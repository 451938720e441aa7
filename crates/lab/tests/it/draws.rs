//! Numbers and outages that differ from run to run, and causes of several links.

use std::path::Path;

use strandcast_lab::result::RunResult;
use strandcast_lab::scenario::{LinkRate, Number, Offset, Scenario, parse};
use strandcast_testing::lab::{of_flow, run};

/// Two links and a flow over each.
const NETWORK: &str = r#"
run = { time = "20 s" }
nodes = { a = {}, b = {} }
[links.x]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
[links.y]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
[flows.x]
transport = "udp"
from = "a"
to = "b"
app = { kind = "cbr", rate = "2 Mbit/s", size = 972 }
paths.p.via = ["x"]
[flows.y]
transport = "udp"
from = "a"
to = "b"
app = { kind = "cbr", rate = "2 Mbit/s", size = 972 }
paths.p.via = ["y"]
"#;

fn read(sets: &[&str]) -> Result<Scenario, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenario");
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    parse(NETWORK, "net.toml", &folder, &sets).map_err(|error| error.to_string())
}

fn runs(sets: &[&str], seeds: u64) -> Vec<RunResult> {
    let scenario = read(sets).unwrap_or_else(|error| panic!("{error}"));
    (1..=seeds).map(|seed| run(&scenario, seed)).collect()
}

/// Recurring outages of constant length take their share of time: of each 5 s from 1 s on, 1 s.
#[test]
fn outages_come_again() {
    let down = "links.x.down={from=\"1 s\",to=\"2 s\",every=\"5 s\"}";
    let results = runs(&[down], 1);
    let lost = of_flow(&results[0], "x", "lost_down_packets") / of_flow(&results[0], "x", "sent_packets");
    assert!((lost - 0.2).abs() < 0.01, "{lost}");
    assert_eq!(of_flow(&results[0], "y", "lost_packets"), 0.0);
}

/// Exponential outages are down for mean down / (mean up + mean down) of the time, differ between runs, and hit two links
/// at once only if they have a cause in common.
#[test]
fn outages_of_one_cause_hit_two_links_at_once() {
    let down = |link: &str, cause: &str| {
        format!("links.{link}.down={{from=0,to=\"0.2 s\",every=\"2 s\",law=\"exponential\"{cause}}}")
    };
    let share = |result: &RunResult, flow: &str| {
        of_flow(result, flow, "lost_down_packets") / of_flow(result, flow, "sent_packets")
    };
    let sky = ",cause=\"sky\"";
    let common = runs(&[&down("x", sky), &down("y", sky)], 40);
    assert!(common.iter().all(|result| (share(result, "x") - share(result, "y")).abs() < 0.005));
    let shares: Vec<f64> = common.iter().map(|result| share(result, "x")).collect();
    assert!(shares.iter().any(|one| (one - shares[0]).abs() > 0.01), "{shares:?}");
    // About ten cycles of a variance of twice 0.09² · 0.1 in 40 runs: a standard error of 0.006.
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((mean - 0.1).abs() < 4.0 * 0.006, "{mean}");
    let own = runs(&[&down("x", ""), &down("y", "")], 5);
    assert!(own.iter().all(|result| (share(result, "x") - share(result, "y")).abs() > 1e-6));
}

/// Delays of one cause rise and fall together.
#[test]
fn numbers_of_one_cause_are_equal() {
    let delay = |link: &str, cause: &str| {
        format!("links.{link}.delay={{normal=[\"50 ms\",\"10 ms\"],every=\"1 s\"{cause}}}")
    };
    let sky = ",cause=\"sky\"";
    for result in runs(&[&delay("x", sky), &delay("y", sky)], 3) {
        let mean = |flow| of_flow(&result, flow, "delay_mean_ms");
        // Hosts wait up to the time of a packet, 1.2 ms.
        assert!((mean("x") - mean("y")).abs() < 0.3, "{} {}", mean("x"), mean("y"));
        // 20 draws: a standard error of 2.2 ms.
        assert!((mean("x") - 51.4).abs() < 9.0, "{}", mean("x"));
    }
    let own = runs(&[&delay("x", ""), &delay("y", "")], 3);
    assert!(
        own.iter()
            .any(|result| (of_flow(result, "x", "delay_mean_ms") - of_flow(result, "y", "delay_mean_ms"))
                .abs()
                > 1.0)
    );
}

#[test]
fn traces_begin_anywhere_and_one_of_several_is_drawn() {
    let rate = |set: &str| match read(&[set]).unwrap_or_else(|error| panic!("{error}")).links["x"]
        .forward
        .rate
        .clone()
    {
        LinkRate::Recorded { files, offset, cause } => (files.len(), offset, cause),
        LinkRate::Number(Number::Traces { files, offset, .. }) => (files.len(), offset, None),
        LinkRate::Number(Number::Caused { cause, .. }) => (1, Offset::Random, Some(cause)),
        other => panic!("{other:?}"),
    };
    assert_eq!(rate("links.x.rate={trace=\"good.up\",offset=\"random\"}"), (1, Offset::Random, None));
    assert_eq!(
        rate("links.x.rate={trace=[\"good.up\",\"good.up\"],offset=\"random\",cause=\"drive\"}"),
        (2, Offset::Random, Some("drive".into()))
    );
    assert_eq!(
        rate("links.x.rate={trace=[\"half.csv\"],loop=true,offset=\"1 s\"}"),
        (1, Offset::Fixed(core::time::Duration::from_secs(1)), None)
    );
}

/// A trace carries 8 Mbit/s for one second and nothing for the next. The bytes that a run carries depend on its start
/// within the trace.
#[test]
fn runs_differ_by_the_begin_of_their_trace() {
    let sets = ["run.time=\"0.5 s\"", "links.x.rate={trace=\"half.csv\",loop=true,offset=\"random\"}"];
    let scenario = read(&sets).expect("it is right");
    let got = |seed| of_flow(&run(&scenario, seed), "x", "goodput_bps");
    let all: Vec<f64> = (1..=60).map(got).collect();
    // A window of 0.5 s is wholly in the second half with probability 1/4, and wholly or partly in the first otherwise.
    let nothing = all.iter().filter(|bps| **bps == 0.0).count() as f64 / 60.0;
    assert!((nothing - 0.25).abs() < 4.0 * (0.25_f64 * 0.75 / 60.0).sqrt(), "{all:?}");
    assert!(
        all.iter().any(|bps| *bps > 1.9e6) && all.iter().any(|bps| *bps > 0.0 && *bps < 1.9e6),
        "{all:?}"
    );
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    for (set, error) in [
        ("links.x.delay={normal=[\"10 ms\"]}", "normal has 1 numbers, but needs two: [mean, deviation]"),
        (
            "links.x.delay={pareto=[\"10 ms\",1]}",
            "with shape 1 the distribution has no mean; give a shape above 1",
        ),
        (
            "links.x.delay={normal=[\"10 ms\",\"1 ms\"],correlation=1}",
            "with a correlation of 1 the number never changes; it is below 1",
        ),
        (
            "links.x.delay={normal=[\"10 ms\",\"1 ms\"],within=[\"2 ms\",\"1 ms\"]}",
            "within begins at 0.002, above its end 0.001; swap them",
        ),
        (
            "links.x.rate={normal=[\"5 Mbit/s\",\"1 Mbit/s\"],every=\"packet\"}",
            "a link's rate is drawn for each packet only as `uniform`; draw it every \"1 s\"",
        ),
        (
            "links.x.rate={trace=\"half.csv\",offset=\"random\"}",
            "only a trace that repeats can begin at a random time; say `loop = true`",
        ),
        (
            "links.x.rate={trace=\"good.up\",offset=\"anywhere\"}",
            "there is no `anywhere`; offset is \"random\" or a time as \"20 s\"",
        ),
        (
            "links.x.rate={trace=[\"good.up\",\"half.csv\"]}",
            "some of these traces are CSV and some are not; one list has one kind",
        ),
        ("links.x.down={from=0,every=\"5 s\"}", "an outage that lasts can't come again; give `to`"),
        (
            "links.x.down={from=0,to=\"5 s\",every=\"5 s\"}",
            "outages recur every 5s, but each lasts 5s; make `every` longer",
        ),
        ("links.x.down={from=0,to=1,cause=\"sky\"}", "`cause` belongs to outages that recur; give `every`"),
    ] {
        let wrong = read(&[set]).expect_err(set);
        assert!(wrong.ends_with(error), "{wrong}");
    }
}
