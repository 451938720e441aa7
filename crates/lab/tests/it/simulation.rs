//! Whole scenarios, built in code: what holds for every network.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use strandcast_keys::catalog::{Catalog, CatalogError, FlowScheduler, SchemePlan, WindowSetup};
use strandcast_lab::result::Subject;
use strandcast_lab::scenario::*;
use strandcast_lab::simulation::{Control, RunOptions, Simulation};
use strandcast_proto::policy::{
    CongestionControl, Estimate, HeadOfLineConfig, LinkSample, PathEstimator, PathId, Policy, Scheme, Signal,
    View,
};
use strandcast_proto::rfc;
use strandcast_testing::lab::*;

#[test]
fn flows_of_all_transports_share_a_network() {
    let links = [
        ("a1", link("a", "r", 10e6, 0.005, 100)),
        ("a2", link("a", "s", 5e6, 0.02, 100)),
        ("b1", link("r", "b", 8e6, 0.02, 50)),
        ("b2", link("s", "b", 8e6, 0.02, 50)),
    ];
    let bulk = App::Bulk { size: 1400 };
    let both: &[&[&str]] = &[&["a1", "b1"], &["a2", "b2"]];
    let flows = vec![
        ("sctp", flow(sctp("cmt"), bulk.clone(), both)),
        ("tcp", flow(tcp("reno"), bulk.clone(), &both[..1])),
        ("mptcp", Flow { transport: mptcp("lia"), ..flow(tcp("reno"), bulk, both) }),
        (
            "udp",
            flow(
                Transport::Udp { header: 28 },
                App::Cbr { size: 1000, rate: Number::Constant(500e3) },
                &both[1..],
            ),
        ),
    ];
    let scenario = scenario(&links, flows);
    let result = run(&scenario, 1);
    let total: f64 = ["sctp", "tcp", "mptcp", "udp"].map(|f| goodput(&result, f)).into_iter().sum();
    assert!(total > 0.9 * 13e6, "{total}");
    assert!((goodput(&result, "udp") / 500e3 - 1.0).abs() < 0.05);
    assert_eq!(result, run(&scenario, 1), "same seed, same result");
    assert_ne!(result.fingerprint, run(&scenario, 2).fingerprint);
}

/// Two hosts, a link of 10 Mbit/s and 20 ms with this queue.
fn dumbbell(flows: Vec<(&str, Flow)>) -> Scenario {
    let links = [
        ("access", link("a", "r", 100e6, 0.001, 100)),
        ("middle", link("r", "s", 10e6, 0.02, 50)),
        ("far", link("s", "b", 100e6, 0.001, 100)),
    ];
    scenario(&links, flows)
}

const THROUGH: &[&[&str]] = &[&["access", "middle", "far"]];

fn bulk(transport: Transport) -> Flow {
    flow(transport, App::Bulk { size: 1400 }, THROUGH)
}

/// Every metric of a flow.
fn of(result: &strandcast_lab::result::RunResult, flow: &str) -> Vec<(&'static str, f64)> {
    let subject = Subject::Flow(flow.into());
    result.metrics.iter().filter(|m| m.subject == subject).map(|m| (m.name, m.value)).collect()
}

#[test]
fn a_flow_elsewhere_changes_nobodys_draws() {
    let mut alone = dumbbell(vec![("tcp", bulk(tcp("cubic"))), ("sctp", bulk(sctp("cmt")))]);
    alone
        .links
        .get_mut("middle")
        .unwrap()
        .forward
        .loss
        .insert("u".into(), Loss::Uniform { rate: Number::Constant(0.01) });
    let mut beside = alone.clone();
    for node in ["c", "d"] {
        beside.nodes.insert(node.into(), Node::default());
    }
    let mut elsewhere = link("c", "d", 5e6, 0.01, 20);
    elsewhere.forward.loss.insert("u".into(), Loss::Uniform { rate: Number::Constant(0.02) });
    beside.links.insert("between".into(), elsewhere);
    let path = Flow {
        from: "c".into(),
        to: "d".into(),
        ..flow(tcp("reno"), App::Bulk { size: 1400 }, &[&["between"]])
    };
    beside.flows.insert("beside".into(), path);
    let (alone, beside) = (run(&alone, 3), run(&beside, 3));
    for flow in ["tcp", "sctp"] {
        assert_eq!(of(&alone, flow), of(&beside, flow));
    }
    assert_ne!(alone.fingerprint, beside.fingerprint, "the other flow's packets count");
}

#[derive(Default)]
struct Points(Vec<(f64, Subject, &'static str, f64)>);

impl Control for Points {
    fn point(&mut self, time_s: f64, subject: &Subject, metric: &'static str, value: f64) {
        self.0.push((time_s, subject.clone(), metric, value));
    }
}

#[test]
fn watching_changes_nothing() {
    let scenario = dumbbell(vec![("tcp", bulk(tcp("reno"))), ("sctp", bulk(sctp("cmt")))]);
    let unwatched = run(&scenario, 5);
    let mut points = Points::default();
    let options = RunOptions { series: Some(Duration::from_millis(100)), ..RunOptions::default() };
    let watched = Simulation::new(&scenario, &Presets, 5, None).unwrap().run(options, &mut points).unwrap();
    assert_eq!(unwatched, watched);
    let windows = points.0.iter().filter(|p| p.2 == "cwnd_bytes").count();
    assert!((1190..=1200).contains(&windows), "a point a flow and step: {windows}");
    assert!(points.0.is_sorted_by(|a, b| a.0 <= b.0));
}

#[test]
fn losses_of_each_path_are_a_series_since_the_start() {
    let links = [("l1", link("a", "b", 2e6, 0.02, 10)), ("l2", link("a", "b", 4e6, 0.02, 10))];
    let both = flow(mptcp("reno"), App::Bulk { size: 1400 }, &[&["l1"], &["l2"]]);
    let mut scenario = scenario(&links, vec![("x", both)]);
    scenario.run.warmup = Duration::ZERO;
    let mut points = Points::default();
    let options = RunOptions { series: Some(Duration::from_secs(1)), ..RunOptions::default() };
    let result = Simulation::new(&scenario, &Presets, 1, None).unwrap().run(options, &mut points).unwrap();
    for path in ["p0", "p1"] {
        let subject = Subject::Path { flow: "x".into(), path: path.into() };
        let of_path = points.0.iter().filter(|p| p.1 == subject && p.2 == "lost_packets");
        let series: Vec<f64> = of_path.map(|p| p.3).collect();
        assert!(series.is_sorted() && series[0] < series[series.len() - 1], "{path}: {series:?}");
        // Without warm-up the metric counts the same packets.
        assert_eq!(series.last(), Some(&metric(&result, &subject, "lost_packets")), "{path}");
    }
}

#[test]
fn nothing_more_is_sent_into_an_outage_with_notice() {
    let lost = |mode| {
        let links = [("l1", link("a", "b", 5e6, 0.02, 50)), ("l2", link("a", "b", 5e6, 0.02, 50))];
        let mut both =
            flow(sctp("cmt"), App::Cbr { size: 1200, rate: Number::Constant(3e6) }, &[&["l1"], &["l2"]]);
        both.primary = Some("p0".into());
        let mut scenario = scenario(&links, vec![("video", both)]);
        let down =
            Down { from: Duration::from_secs(20), to: Some(Duration::from_secs(40)), mode, again: None };
        let link = scenario.links.get_mut("l1").unwrap();
        link.forward.down.insert("once".into(), down.clone());
        link.reverse.down.insert("once".into(), down);
        let result = run(&scenario, 1);
        assert!(goodput(&result, "video") > 2.9e6, "{mode:?}: {}", goodput(&result, "video"));
        let gap_ms = metric(&result, &Subject::Flow("video".into()), "longest_gap_ms");
        assert!(gap_ms < 2000.0, "{mode:?}: {gap_ms} ms");
        let forward = Subject::Link { link: "l1".into(), direction: "forward".into() };
        metric(&result, &forward, "lost_down_packets")
    };
    // `cmt` asks every 500 ms whether the path is back: 40 heartbeats. The other packets are data.
    let (silent, notified) = (lost(DownMode::Silent), lost(DownMode::Notify));
    assert!(notified < 45.0 && notified + 15.0 < silent, "{notified} packets, silently {silent}");
}

#[test]
fn paths_join_and_leave() {
    let links = [("l1", link("a", "b", 2e6, 0.02, 50)), ("l2", link("a", "b", 2e6, 0.02, 50))];
    for transport in [sctp("cmt"), mptcp("lia")] {
        let mut both = flow(transport, App::Bulk { size: 1400 }, &[&["l1"], &["l2"]]);
        let second = both.paths.get_mut("p1").unwrap();
        (second.join, second.leave) = (Some(Duration::from_secs(20)), Some(Duration::from_secs(40)));
        let scenario = scenario(&links, vec![("x", both)]);
        let mut points = Points::default();
        let options = RunOptions { series: Some(Duration::from_secs(5)), ..RunOptions::default() };
        Simulation::new(&scenario, &Presets, 1, None).unwrap().run(options, &mut points).unwrap();
        let delivered = |at: f64| {
            let flow = Subject::Flow("x".into());
            points.0.iter().find(|p| p.0 == at && p.1 == flow && p.2 == "delivered_bytes").unwrap().3
        };
        let rate = |from: f64, to: f64| (delivered(to) - delivered(from)) * 8.0 / (to - from) / 1e6;
        for (from, to, low, high) in [(5.0, 20.0, 1.7, 2.0), (25.0, 40.0, 3.4, 4.0), (45.0, 60.0, 1.7, 2.0)] {
            let rate = rate(from, to);
            assert!((low..high).contains(&rate), "{from}-{to} s: {rate} Mbit/s");
        }
    }
}

#[test]
fn a_bulk_flow_over_a_network_that_takes_no_time_is_refused() {
    let mut scenario = dumbbell(vec![("x", bulk(tcp("reno")))]);
    for link in scenario.links.values_mut() {
        for direction in [&mut link.forward, &mut link.reverse] {
            (direction.rate, direction.delay) = (LinkRate::Infinite, Number::Constant(0.0));
        }
    }
    let error = Simulation::new(&scenario, &Presets, 1, None).unwrap_err();
    assert_eq!(error.key, "flows.x.paths.p0");
    scenario.links.get_mut("far").unwrap().reverse.delay = Number::Constant(0.1);
    scenario.run.time = Duration::from_secs(11);
    assert!(goodput(&run(&scenario, 1), "x") > 0.0);
}

/// Bytes that a scheme puts before DATA make messages shorter: otherwise each would be cut in two chunks, and
/// packets.
#[test]
fn messages_without_a_size_fill_packets_whatever_the_scheme() {
    for (scheme, size) in [("sctp", 1344.0), ("cmt", 1344.0), ("sctp-rev", 1324.0)] {
        let app = App::Bulk { size: 1344 };
        let data = Flow { fits: true, ..flow(sctp(scheme), app, THROUGH) };
        let result = run(&dumbbell(vec![("data", data)]), 1);
        let of = |name| metric(&result, &Subject::Flow("data".into()), name);
        let mean = of("delivered_bytes") / of("delivered_packets");
        assert!((mean - size).abs() < 10.0, "{scheme}: {mean} bytes per packet");
    }
}

#[test]
fn wrong_names_are_told_with_their_key() {
    for (flow, key, word) in [
        (bulk(sctp("cmtt")), "flows.x.scheme", "cmt"),
        (bulk(tcp("cubik")), "flows.x.cc", "cubic"),
        (flow(tcp("reno"), App::Bulk { size: 1 }, &[&["middle"]]), "flows.x.paths.p0", "middle"),
    ] {
        let error = Simulation::new(&dumbbell(vec![("x", flow)]), &Presets, 1, None).unwrap_err();
        assert_eq!(error.key, key);
        assert!(error.message.contains(word), "{error}");
    }
}

/// Records the samples of links that reach a sender.
#[derive(Clone, Debug, Default)]
struct SampleRecorder(Arc<Mutex<Vec<LinkSample>>>);

impl Policy for SampleRecorder {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        if let Signal::Link(sample) = signal {
            self.0.lock().expect("one thread").push((*sample).clone());
        }
    }

    fn diagnostics(&self, _: &View<'_>, out: &mut Vec<&'static str>) {
        if self.0.lock().expect("one thread").is_empty() {
            out.push("no link reports frames");
        }
    }
}

impl PathEstimator for SampleRecorder {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}

struct Listening(SampleRecorder);

impl Catalog for Listening {
    fn scheme(&self, _: &str, _: &str) -> Result<SchemePlan, CatalogError> {
        let heard = self.0.clone();
        let build = move |_: &_| -> Box<dyn Scheme> {
            let mut parts = rfc::scheme();
            parts.estimators.push(Box::new(heard.clone()));
            Box::new(parts)
        };
        Ok(SchemePlan { tune: Arc::new(|_| {}), build: Arc::new(build) })
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        Presets.congestion(spec, setup)
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        Presets.scheduler(spec, own)
    }
}

/// Losses behind the sender's own access link are frame errors; those further on it does not see.
#[test]
fn a_wireless_access_link_tells_its_sender_about_frames() {
    let mut scenario = dumbbell(vec![("x", bulk(sctp("sctp")))]);
    let lossy = |link: &mut Link| {
        link.forward.loss.insert("u".into(), Loss::Uniform { rate: Number::Constant(0.02) });
    };
    lossy(scenario.links.get_mut("access").unwrap());
    lossy(scenario.links.get_mut("far").unwrap());
    let heard = |scenario: &Scenario| {
        let catalog = Listening(SampleRecorder::default());
        let mut simulation = Simulation::new(scenario, &catalog, 1, None).unwrap();
        let result = simulation.run(RunOptions::default(), &mut ()).unwrap();
        let heard = catalog.0.0.lock().unwrap().clone();
        (heard, result)
    };
    let (samples, result) = heard(&scenario);
    assert_eq!(samples, [], "a wired link reports nothing");
    let diagnostic = result.diagnostics.iter().map(|r| (&*r.flow, &*r.text)).collect::<Vec<_>>();
    assert_eq!(diagnostic, [("x", "no link reports frames")]);
    scenario.links.get_mut("access").unwrap().wireless = true;
    scenario.run.warmup = Duration::ZERO;
    let (samples, result) = heard(&scenario);
    assert_eq!(result.diagnostics, []);
    let last = samples.last().expect("frames were sent");
    let of_link =
        |name| metric(&result, &Subject::Link { link: "access".into(), direction: "forward".into() }, name);
    assert!((last.tx_failed as f64 - of_link("lost_random_packets")).abs() <= 2.0, "{last:?}");
    let share = last.tx_failed as f64 / last.tx_frames as f64;
    assert!((share - 0.02).abs() < 0.01, "2 % of frames, not 4 %: {share}");
    let departures: Vec<_> = samples.iter().map(|s| s.departure.expect("each is a departure")).collect();
    assert!(departures.is_sorted_by(|a, b| a.0 < b.0));
    assert!(samples.iter().all(|s| s.path.is_some()));
}

/// A link that sends lost frames again hides their loss, but not from its own sender: each transmission is a frame.
#[test]
fn a_wireless_access_link_counts_each_transmission() {
    let mut scenario = dumbbell(vec![("x", bulk(sctp("sctp")))]);
    scenario.run.warmup = Duration::ZERO;
    let access = scenario.links.get_mut("access").unwrap();
    access.wireless = true;
    access.forward.arq = Some(Arq { retries: 3 });
    // Packets of 1400 bytes: BER 10⁻⁵ (Q(4.264891)), so that 1 - (1 - 10⁻⁵)^11200 = 10.6 % are in error.
    let snr = Number::Constant(20.0 * libm::log10(4.264_891));
    access.forward.loss.insert("snr".into(), Loss::Snr { modulation: Modulation::Qpsk, snr });
    let catalog = Listening(SampleRecorder::default());
    let mut simulation = Simulation::new(&scenario, &catalog, 1, None).unwrap();
    let result = simulation.run(RunOptions::default(), &mut ()).unwrap();
    let samples = catalog.0.0.lock().unwrap().clone();
    let last = samples.last().expect("frames were sent");
    let of_link =
        |name| metric(&result, &Subject::Link { link: "access".into(), direction: "forward".into() }, name);
    let error_share = (last.tx_retries + last.tx_failed) as f64 / last.tx_frames as f64;
    assert!((error_share - 0.106).abs() < 0.015, "{last:?}");
    assert!((last.tx_retries as f64 - of_link("repeated_packets")).abs() <= 8.0, "{last:?}");
    assert!((last.tx_failed as f64 - of_link("lost_random_packets")).abs() <= 2.0, "{last:?}");
    let packets = (last.tx_frames - last.tx_retries) as f64;
    assert!(last.tx_failed as f64 / packets < 1e-3, "10.6 %⁴ are 0.013 %: {last:?}");
}

/// The ratio at which the link loses frames is the one that the scheme finds in its counters (QPSK on both sides), and
/// it is in the time series with all that the scheme estimates.
#[test]
fn the_cross_layer_scheme_finds_the_link_s_ratio() {
    let mut scenario = dumbbell(vec![("x", bulk(sctp("cmt-cl")))]);
    let access = scenario.links.get_mut("access").unwrap();
    access.wireless = true;
    access.forward.arq = Some(Arq { retries: 3 });
    let snr = Number::Constant(20.0 * libm::log10(4.264_891));
    access.forward.loss.insert("snr".into(), Loss::Snr { modulation: Modulation::Qpsk, snr });
    let mut points = Points::default();
    let options = RunOptions { series: Some(Duration::from_secs(1)), ..RunOptions::default() };
    Simulation::new(&scenario, &Presets, 1, None).unwrap().run(options, &mut points).unwrap();
    let mean = |metric: &str| {
        let all: Vec<f64> = points.0.iter().filter(|p| p.2 == metric).map(|p| p.3).collect();
        assert!(all.len() > 30, "{metric}: {} points", all.len());
        all.iter().sum::<f64>() / all.len() as f64
    };
    assert!((mean("effective_snr") - 18.19).abs() < 0.5, "{}", mean("effective_snr"));
    assert!((mean("frame_error_rate") - 0.106).abs() < 0.02, "{}", mean("frame_error_rate"));
    let (bandwidth, rate) = (mean("bandwidth_bps"), mean("delivery_rate_bps"));
    assert!(bandwidth > 5e6 && rate > 5e6 && rate < 11e6, "{bandwidth} {rate}");
    assert!((40.0..120.0).contains(&mean("reference_rtt_ms")));
}

/// A constant stream and background datagrams over a link that loses half of all packets, or of the flow's.
#[test]
fn random_loss_may_spare_background_load() {
    let text = "
        [nodes]
        a = {}
        b = {}
        [links]
        l = { from = 'a', to = 'b', rate = 1e6, loss.uniform.rate = 0.5, TAKES }
        [flows]
        f = { transport = 'udp', from = 'a', to = 'b', app = { kind = 'cbr', rate = 1e5, size = 500 } }
        [cross]
        c = { via = ['l'], load = 0.3, tcp_share = 0 }";
    let run = |takes: &str| {
        let text = text.replace("TAKES", takes);
        let scenario = parse(&text, "net.toml", std::path::Path::new("."), &[]);
        let result = run(&scenario.unwrap_or_else(|error| panic!("{error}")), 1);
        let cross = |name| metric(&result, &Subject::Cross("c".into()), name);
        let arrived = cross("carried_load") / cross("offered_load");
        (arrived, metric(&result, &Subject::Flow("f".into()), "loss_ratio"))
    };
    let (arrived, lost) = run("loss_takes = 'all'");
    assert!((arrived - 0.5).abs() < 0.06 && (lost - 0.5).abs() < 0.06, "{arrived} {lost}");
    let (arrived, lost) = run("loss_takes = 'flows'");
    // Data that were offered just before the end have not arrived yet.
    assert!(arrived > 0.98 && (lost - 0.5).abs() < 0.06, "{arrived} {lost}");
}
