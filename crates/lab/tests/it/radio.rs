//! Scenarios with radios.

use core::any::Any;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use strandcast_lab::result::{RouteKind, RunResult, Subject, Topology};
use strandcast_lab::scenario::{Scenario, parse, written};
use strandcast_lab::simulation::{Explainer, Outcome, Query, RunOptions, Simulation, Trace};
use strandcast_testing::lab::Presets;

/// Four hops of 200 m.
const CHAIN: &str = r#"
[run]
time = "20 s"
[radio.air]
routing = "static"
place = { columns = 5, spacing = "200 m" }
[flows.udp]
transport = "udp"
from = "n0"
to = "n4"
app = { kind = "cbr", rate = "40 kbit/s", size = 500 }
"#;

fn read(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    parse(text, "net.toml", Path::new(""), &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn said(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    parse(text, "net.toml", Path::new(""), &sets).expect_err("it is wrong").to_string()
}

fn built(scenario: &Scenario, seed: u64) -> Simulation {
    Simulation::new(scenario, &Presets, seed, None).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario, seed: u64) -> RunResult {
    built(scenario, seed).run(RunOptions::default(), &mut ()).expect("the run is not interrupted")
}

fn metric(result: &RunResult, subject: &Subject, name: &str) -> f64 {
    let found = result.metrics.iter().find(|metric| metric.subject == *subject && metric.name == name);
    found.unwrap_or_else(|| panic!("no {name} of {subject:?}")).value
}

fn of_flow(result: &RunResult, name: &str) -> f64 {
    metric(result, &Subject::Flow("udp".into()), name)
}

fn topology(result: &RunResult) -> &Topology {
    result.topology.as_ref().expect("there is a radio")
}

/// 10 packets per second for 20 s, and at each hop RTS, CTS, data and ACK.
#[test]
fn a_packet_takes_four_frames_per_hop() {
    let result = run(&read(CHAIN, &[]), 1);
    assert_eq!(of_flow(&result, "hops_mean"), 4.0);
    assert_eq!(of_flow(&result, "lost_packets"), 0.0);
    let air = Subject::Radio("air".into());
    let packets = of_flow(&result, "sent_packets");
    assert!((200.0..=201.0).contains(&packets), "{packets}");
    for kind in ["frames_cts", "frames_data", "frames_ack"] {
        let frames = metric(&result, &air, kind);
        assert!((4.0 * packets - 4.0..=4.0 * packets).contains(&frames), "{kind} {frames}");
    }
    let rts = metric(&result, &air, "frames_rts") - metric(&result, &air, "frame_retries");
    assert!((4.0 * packets - 4.0..=4.0 * packets).contains(&rts), "{rts}");
    assert_eq!(metric(&result, &air, "routing_messages"), 0.0);
    // RTS 352 µs, CTS and ACK 304 µs, 562 bytes of data 600.7 µs: of 20 s of five stations.
    let airtime = 4.0 * packets * (352.0 + 2.0 * 304.0 + 192.0 + 8.0 * 562.0 / 11.0) / 1e6 / 100.0;
    let measured = metric(&result, &air, "airtime");
    assert!((measured - airtime).abs() < 0.02 * airtime, "{measured} {airtime}");
}

#[test]
fn a_picture_has_places_and_routes() {
    let result = run(&read(CHAIN, &[]), 1);
    let topology = topology(&result);
    let air = &topology.radios["air"];
    assert_eq!((air.range_m, air.nodes["n3"], air.nodes.len()), (250.0, [600.0, 0.0], 5));
    let [route] = &topology.routes[..] else { panic!("one route: {:?}", topology.routes) };
    assert_eq!((route.flow.as_str(), route.kind), ("udp", RouteKind::Any));
    assert_eq!(route.nodes, ["n0", "n1", "n2", "n3", "n4"]);
    let json = serde_json::to_value(topology).expect("it is JSON");
    assert_eq!(json["routes"][0]["kind"], "any");
    assert_eq!(json["radios"]["air"]["nodes"]["n1"], serde_json::json!([200.0, 0.0]));
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Frames that a trace has are those that were counted, and a trace changes nothing.
#[test]
fn a_trace_has_every_frame() {
    let scenario = read(CHAIN, &["radio.air.routing=aodv", "flows.udp.app.rate=600 kbit/s", "run.time=5"]);
    let untraced = run(&scenario, 3);
    let mut simulation = built(&scenario, 3);
    let (events, frames) = (Shared::default(), Shared::default());
    let trace = Trace::new(&simulation, Box::new(events.clone())).with_frames(Box::new(frames.clone()));
    let options = RunOptions { recorder: Some(Box::new(trace)), ..RunOptions::default() };
    let traced = simulation.run(options, &mut ()).expect("the run is not interrupted");
    assert_eq!(untraced.fingerprint, traced.fingerprint);
    let text =
        |shared: &Shared| String::from_utf8(shared.0.lock().expect("one thread").clone()).expect("text");
    let (events, frames) = (text(&events), text(&frames));
    let rows: Vec<Vec<&str>> = frames.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(frames.lines().next(), Some("start_s,end_s,radio,kind,from,to,bytes,outcome"));
    let counted = metric(&traced, &Subject::Radio("air".into()), "frames");
    // One per station may be on the air at the end.
    assert!((counted - 5.0..=counted).contains(&(rows.len() as f64)), "{counted} {}", rows.len());
    assert_eq!(events.lines().filter(|line| line.contains(",frame,")).count(), rows.len());
    for row in &rows {
        let (start, end): (f64, f64) = (row[0].parse().expect("a time"), row[1].parse().expect("a time"));
        let bytes: f64 = row[6].parse().expect("bytes");
        let rate = if row[3] == "data" { 11.0 } else { 1.0 };
        assert!((end - start - (192.0 + 8.0 * bytes / rate) / 1e6).abs() < 2e-9, "{row:?}");
        assert_eq!(row[5].is_empty(), row[3] == "broadcast", "{row:?}");
    }
    assert!(rows.iter().any(|row| row[7] == "collided"), "hidden stations collide");
    for event in [",route,", ",enter,", ",leave,", ",drop,"] {
        assert!(events.contains(event), "{event}");
    }
}

/// Each hop: what it waited for the channel, then the 600.7 µs of its data frame.
#[test]
fn an_explanation_has_every_hop() {
    let scenario = read(CHAIN, &[]);
    let mut simulation = built(&scenario, 1);
    let explainer =
        Explainer::new(&simulation, &scenario, "udp", Query::Message(7)).expect("the flow is there");
    let options = RunOptions { recorder: Some(Box::new(explainer)), ..RunOptions::default() };
    simulation.run(options, &mut ()).expect("the run is not interrupted");
    let recorder: Box<dyn Any> = simulation.take_recorder().expect("it was put in");
    let explanation = recorder.downcast::<Explainer>().expect("it is one").explanation();
    let [packet] = &explanation.messages[0].transmissions[..] else { panic!("one packet: {explanation:?}") };
    let links: Vec<&str> = packet.hops.iter().map(|hop| hop.link.as_str()).collect();
    assert_eq!(links, ["air n0 > n1", "air n1 > n2", "air n2 > n3", "air n3 > n4"]);
    let airtime = (192.0 + 8.0 * 562.0 / 11.0) / 1e6;
    for hop in &packet.hops {
        let serialisation = hop.serialisation().expect("it was carried").as_secs_f64();
        assert!((serialisation - airtime).abs() < 2e-9, "{hop:?}");
        // DIFS, RTS, SIFS, CTS, SIFS, and backoff.
        let waited = hop.queued().expect("it was carried").as_secs_f64() * 1e6;
        assert!((50.0 + 352.0 + 10.0 + 304.0 + 10.0..20e3).contains(&waited), "{hop:?}");
        assert_eq!(hop.arrived, hop.departed);
    }
    let Outcome::Arrived(at) = packet.outcome else { panic!("{:?}", packet.outcome) };
    assert_eq!(packet.hops.last().and_then(|hop| hop.arrived), Some(at));
}

const RANDOM: &str = r#"
[run]
time = "1 s"
[radio.air]
place = { kind = "uniform", count = 12, width = "600 m", height = "600 m" }
[flows.udp]
transport = "udp"
ends = "random"
count = 60
app = { kind = "cbr", rate = "1 kbit/s", size = 100 }
"#;

#[test]
fn drawn_ends_are_distinct_pairs_and_differ_between_runs() {
    let scenario = read(RANDOM, &[]);
    let ends = |seed| -> Vec<[String; 2]> {
        let simulation = built(&scenario, seed);
        assert!(simulation.survey(&scenario, "air").expect("the radio is there").is_connected());
        simulation.ends("udp").iter().map(|ends| ends.map(str::to_owned)).collect()
    };
    let (one, two) = (ends(1), ends(2));
    assert_eq!(one.len(), 60);
    let distinct: std::collections::BTreeSet<_> = one.iter().collect();
    assert_eq!(distinct.len(), 60, "{one:?}");
    assert!(one.iter().all(|[from, to]| from != to));
    assert_ne!(one, two);
    assert_eq!(one, ends(1));
    // 12 · 11 pairs.
    let scenario = read(RANDOM, &["flows.udp.count=133"]);
    let error = Simulation::new(&scenario, &Presets, 1, None).expect_err("there are fewer pairs");
    assert_eq!((error.key.as_str(), error.message.contains("lower `count`")), ("flows.udp.ends", true));
}

/// A survey's arithmetic: 1000 + 40 bytes in one exchange take 2.31 ms, without RTS and CTS 1.64 ms.
#[test]
fn a_survey_knows_hops_and_times() {
    let survey = |sets: &[&str]| {
        let scenario = read(CHAIN, sets);
        built(&scenario, 1).survey(&scenario, "air").expect("the radio is there")
    };
    let chain = survey(&[]);
    assert_eq!((chain.stations(), chain.is_connected(), chain.mean_degree()), (5, true, 1.6));
    assert_eq!((chain.hops("n0", "n4"), chain.hops("n3", "n1"), chain.frames(1040)), (Some(4), Some(2), 4));
    let us = |survey: &strandcast_lab::simulation::RadioSurvey| survey.hop_time(1040).as_secs_f64() * 1e6;
    // DIFS 50, a draw from 0 to 30 slots 300, RTS 352, CTS and ACK 304, data 192 + 8 · 1074 / 11, three times SIFS.
    let exchange = 50.0 + 300.0 + 352.0 + 2.0 * 304.0 + 192.0 + 8.0 * 1074.0 / 11.0 + 30.0;
    assert!((us(&chain) - exchange).abs() < 0.01, "{} {exchange}", us(&chain));
    let plain = survey(&["radio.air.dcf.rts_threshold=3 kB"]);
    assert!((us(&plain) - (exchange - 352.0 - 304.0 - 20.0)).abs() < 0.01, "{}", us(&plain));
    assert_eq!(plain.frames(1040), 2);
    let inclusive = survey(&["radio.air.dcf.inclusive_draw=true"]);
    assert!((us(&inclusive) - (exchange + 10.0)).abs() < 0.01, "0 to 31: {}", us(&inclusive));
    let apart = survey(&["radio.air.place.spacing=300 m"]);
    assert_eq!((apart.is_connected(), apart.hops("n0", "n4")), (false, None));
}

const TWO: &str = r#"
[run]
time = "10 s"
[nodes.server]
[nodes.gateway]
x = 0
y = 0
[nodes.relay]
x = "0.2 km"
y = 0
[nodes.camera]
x = 400
y = 0
[radio.one]
[radio.two]
routing = "static"
stations = ["camera", "relay", "gateway"]
[links.wire]
from = "gateway"
to = "server"
rate = "10 Mbit/s"
[flows.sctp]
scheme = "cmt"
from = "camera"
to = "server"
paths = { one = { via = ["one", "wire"] }, two = { via = ["two", "wire"] } }
[flows.udp]
transport = "udp"
from = "server"
to = "relay"
app = { kind = "cbr", rate = "40 kbit/s", size = 500 }
"#;

/// Two channels carry more than one, and a route without `paths` is found over link and radio.
#[test]
fn one_association_uses_two_radios() {
    let scenario = read(TWO, &[]);
    assert_eq!(scenario.flows["udp"].paths["default"].via, ["wire", "one"]);
    let both = run(&scenario, 1);
    let path = |path: &str| Subject::Path { flow: "sctp".into(), path: path.into() };
    for name in ["one", "two"] {
        assert_eq!(metric(&both, &path(name), "hops_mean"), 2.0);
        assert!(metric(&both, &path(name), "goodput_bps") > 500e3, "{name}");
    }
    assert_eq!(of_flow(&both, "hops_mean"), 1.0);
    let one = run(&read(&TWO.replace(", two = { via = [\"two\", \"wire\"] } }", " }"), &[]), 1);
    let goodput = |result: &RunResult| metric(result, &Subject::Flow("sctp".into()), "goodput_bps");
    assert!(goodput(&both) > 1.5 * goodput(&one), "{} {}", goodput(&both), goodput(&one));
}

#[test]
fn a_radio_is_read_as_written() {
    for text in [CHAIN, RANDOM, TWO] {
        let scenario = read(text, &[]);
        let text = toml::to_string(&written(&scenario)).expect("it is TOML");
        assert_eq!(read(&text, &[]), scenario, "{text}");
    }
}

#[test]
fn stations_move() {
    let still = run(&read(CHAIN, &["run.time=5"]), 1);
    let sets = [
        "run.time=5",
        "radio.air.routing=aodv",
        "radio.air.mobility.speed_min=5 m/s",
        "radio.air.mobility.speed_max=36 km/h",
    ];
    let moving = run(&read(CHAIN, &sets), 1);
    let moves = |result: &RunResult| topology(result).radios["air"].moving;
    assert_eq!((moves(&still), moves(&moving)), (false, true));
    let at = |result: &RunResult| topology(result).radios["air"].nodes["n3"];
    let (before, after) = (at(&still), at(&moving));
    let metres = libm::hypot(before[0] - after[0], before[1] - after[1]);
    assert!((24.0..=50.1).contains(&metres), "5 s at 5 to 10 m/s: {metres}");
    // They stay on the line of their places.
    assert_eq!(after[1], 0.0);
}

#[test]
fn stations_stay_in_the_bounding_box_of_their_places() {
    let text = r#"
[run]
time = "60 s"
[nodes.west]
x = 300
y = 300
[nodes.east]
x = 400
y = 310
[radio.air]
routing = "aodv"
mobility = { speed_min = "5 m/s", speed_max = "10 m/s" }
[flows.udp]
transport = "udp"
from = "west"
to = "east"
app = { kind = "cbr", rate = "40 kbit/s", size = 500 }
"#;
    let place = |sets: &[&str]| topology(&run(&read(text, sets), 1)).radios["air"].nodes["west"];
    let [x, y] = place(&[]);
    assert!((300.0..=400.0).contains(&x) && (300.0..=310.0).contains(&y), "{x}, {y}");
    assert_ne!([x, y], [300.0, 300.0]);
    // From a given end on they go as far as the last place does.
    let [x, y] = place(&["radio.air.mobility.area_x=390", "radio.air.mobility.speed_min=10 m/s"]);
    assert!((390.0..=400.0).contains(&x) && (300.0..=310.0).contains(&y), "{x}, {y}");
    // Nor does an area that is a point take for ever.
    assert_eq!(place(&["nodes.west.x=400", "nodes.west.y=310"]), [400.0, 310.0]);
}

#[test]
fn mistakes_are_told_in_a_line() {
    for (sets, expected) in [
        (&["radio.air.place.colums=5"][..], "radio.air.place.colums: unknown key; did you mean `columns`?"),
        (&["radio.air.place.spacing=200 ms"], "\"200 ms\" is a time, not a distance; units are m, km"),
        (&["radio.air.profile=ns4"], "radio.air.profile: there is no `ns4`; did you mean `ns2`?"),
        (
            &["radio.air.dcf.rts-threshold=0"],
            "radio.air.dcf.rts-threshold: unknown key; did you mean `rts_threshold`?",
        ),
        (&["radio.air.dcf.queue=0"], "radio.air.dcf.queue: 0 cannot be used here; give 1 to 100000 packets"),
        (&["radio.air.dcf.data_rate=54 Mbit/s"], "give 1, 2, 5.5, 11"),
        (&["radio.air.medium.sense_range=200 m"], "radio.air: sense_range is shorter than reception_range"),
        (
            &["radio.air.stations=[\"n0\",\"n9\"]"],
            "radio.air.stations: there is no node `n9`; did you mean `n0`?",
        ),
        (
            &["radio.air.stations=[\"n0\",\"n0\"]"],
            "radio.air.stations: station `n0` is listed twice; leave one out",
        ),
        (&["radio.air.place.columns=1"], "radio.air: a radio has at least two stations"),
        (&["flows.udp.to=n5"], "flows.udp.to: there is no node `n5`; did you mean `n0`?"),
        (
            &["flows.udp.ends=random"],
            "flows.udp.from: the ends of this flow are drawn at random, so it has no `from`; leave it out",
        ),
        (&["nodes.x.x=3"], "nodes.x: a place has `x` and `y`; also give `y`"),
        (
            &["nodes.x={}", "flows.udp.to=x"],
            "flows.udp: no links lead from `n0` to `x`; add some between them",
        ),
        (
            &["nodes.x={}", "flows.udp.to=x", "flows.udp.paths.a.via=[\"air\"]"],
            "`x` is not a station of radio `air`; give it a place and make it one",
        ),
        (&["flows.udp.paths.a.via=[\"ail\"]"], "there is no link `ail`; did you mean `air`?"),
    ] {
        let message = said(CHAIN, sets);
        assert!(message.contains(expected), "{sets:?}: {message}");
        assert_eq!(message.lines().count(), 1);
    }
}

#[test]
fn mistakes_of_several_tables_are_told_in_a_line() {
    let twice = said(CHAIN, &["nodes.n1.x=0", "nodes.n1.y=0"]);
    assert!(
        twice.contains("it would make node `n1`, which already has a place; choose another `prefix`"),
        "{twice}"
    );
    let both = said(CHAIN, &["radio.b.place.columns=2", "radio.b.place.spacing=5"]);
    assert!(both.contains("radio.b.place: it would make node `n0`, which already has a place"), "{both}");
    let named = said(TWO, &["radio.wire={}"]);
    assert!(named.contains("radio `wire` has the same name as a link; rename one of them"), "{named}");
    let moving = said(TWO, &["radio.one.mobility.speed_max=3"]);
    assert!(moving.contains("stations of several radios can't move; leave `mobility` out"), "{moving}");
    let sets = ["cross.load.via=[\"one\"]", "cross.load.load=0.1"];
    let cross = said(TWO, &sets);
    assert!(cross.contains("cross.load.via"), "{cross}");
    let error =
        Simulation::new(&read(CHAIN, &["radio.air.routing=aodb"]), &Presets, 1, None).expect_err("no such");
    assert_eq!(error.key, "radio.air.routing");
    assert!(error.message.contains("did you mean aodv?"), "{}", error.message);
    let sparse = read(RANDOM, &["radio.air.place.width=9 km", "radio.air.place.height=9 km"]);
    let error = Simulation::new(&sparse, &Presets, 1, None).expect_err("never connected");
    assert_eq!(error.key, "radio.air.place");
    assert!(
        error.message.contains("more stations, a smaller area or a longer range would do"),
        "{}",
        error.message
    );
}
