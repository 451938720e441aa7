//! Client and server over simulated links.

use std::sync::Arc;
use std::time::Duration;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::policy::{Estimate, PathEstimator, PathId, Policy, View};
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_sim::host::{HostId, Net, NetPath};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::client::{Client, Report};
use super::control::{MAX_TIME, Totals};
use super::result::{Outcome, Setup};
use super::server::{Desk, NO_STREAM, Served};

struct Bed {
    net: Net,
    client: HostId,
    server: HostId,
    paths: Vec<NetPath>,
    served: UnboundedReceiver<Served>,
}

/// Two links of 10 Mbit/s and 20 ms to a server.
fn bed() -> Bed {
    let mut net = Net::new(&Seeds::new(1, 0));
    let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
    let client = net.add_host(EndpointConfig::default());
    let server = net.add_host(EndpointConfig { accept: Some(accept), ..EndpointConfig::default() });
    let paths = vec![net.add_path(client, server, network()), net.add_path(client, server, network())];
    let (report, served) = unbounded_channel();
    net.add_app(server, Desk::new(report, NO_STREAM));
    Bed { net, client, server, paths, served }
}

fn network() -> PathNetwork {
    let delay = Number::from(Duration::from_millis(20));
    let link = LinkConfig {
        rate: Rate::Constant(10_000_000),
        delay,
        queue: Queue::packets(100),
        ..LinkConfig::default()
    };
    PathNetwork { name: "link".into(), forward: link.clone(), reverse: link }
}

fn setup(reverse: bool) -> Setup {
    let time = Duration::from_secs(3);
    Setup { host: "server".into(), port: 1, scheme: "simple".into(), time, message: 0, reverse }
}

const DIAGNOSTIC: &str = "every event is reported once";

/// Repeats a diagnostic.
#[derive(Debug)]
struct Talker;

impl Policy for Talker {
    fn diagnostics(&self, _: &View<'_>, out: &mut Vec<&'static str>) {
        out.push(DIAGNOSTIC);
    }
}

impl PathEstimator for Talker {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}

/// The outcome of a client that starts now, and the number of intervals.
fn measure(bed: &mut Bed, reverse: bool) -> (usize, Result<Box<Outcome>, String>) {
    measure_as(bed, setup(reverse))
}

fn measure_as(bed: &mut Bed, setup: Setup) -> (usize, Result<Box<Outcome>, String>) {
    let (report, mut progress) = unbounded_channel();
    bed.net.add_app(bed.client, Client::new(setup, report));
    let paths = bed.paths.clone();
    let mut scheme = rfc::scheme();
    scheme.estimators.push(Box::new(Talker));
    bed.net.connect(bed.client, &paths, Box::new(scheme)).unwrap();
    bed.net.run_for(Duration::from_secs(30));
    let (mut intervals, mut told) = (0, 0);
    loop {
        match progress.try_recv() {
            Ok(Report::Connected) => {}
            Ok(Report::Interval(_)) => intervals += 1,
            Ok(Report::Diagnostic(line)) => {
                told += 1;
                assert_eq!(line, format!("scheme {}: {DIAGNOSTIC}", rfc::scheme().name));
            }
            Ok(Report::Done(outcome)) => {
                let diagnostics = outcome.as_ref().map(|o| &o.diagnostics[..]);
                assert!(
                    diagnostics.is_err() || (told == 1 && diagnostics == Ok(&[DIAGNOSTIC])),
                    "told {told} times"
                );
                return (intervals, outcome);
            }
            Err(_) => panic!("no outcome"),
        }
    }
}

fn check(outcome: &Outcome, served: &mut UnboundedReceiver<Served>, reversed: bool) {
    let Totals { bytes, messages, .. } = outcome.sent;
    assert_eq!((outcome.received.bytes, outcome.received.messages), (bytes, messages));
    let rate = bytes as f64 * 8.0 / outcome.received.seconds;
    assert!((1e6..20e6).contains(&rate), "{rate} bit/s of two links of 10 Mbit/s");
    assert!((2.9..3.2).contains(&outcome.sent.seconds), "{:?}", outcome.sent);
    let counted: u64 = outcome.intervals.iter().map(|i| i.bytes).sum();
    assert!(
        bytes.abs_diff(counted) < 50_000,
        "the intervals add up to {bytes} and control messages: {counted}"
    );
    assert!(matches!(served.try_recv(), Ok(Served::Begun { reverse, .. }) if reverse == reversed));
    assert!(matches!(served.try_recv(), Ok(Served::Done(totals, _)) if totals.bytes == bytes));
}

#[test]
fn everything_sent_is_measured_on_both_sides_in_either_direction() {
    for reverse in [false, true] {
        let mut bed = bed();
        let (intervals, outcome) = measure(&mut bed, reverse);
        let outcome = outcome.unwrap();
        assert_eq!(intervals, outcome.intervals.len());
        assert!((3..=5).contains(&intervals), "{intervals} intervals in 3 s and the rest");
        check(&outcome, &mut bed.served, reverse);
        // In-order delivery over two links without loss: no gap except at the end of the handshake.
        assert_eq!(outcome.gap.is_some(), reverse, "only the receiver measures it");
        assert!(outcome.gap.is_none_or(|gap| gap.seconds < 0.5), "{:?}", outcome.gap);
    }
}

#[test]
fn clients_are_served_in_turn() {
    let mut bed = bed();
    for _ in 0..2 {
        measure(&mut bed, false).1.unwrap();
    }
    let told: Vec<Served> = std::iter::from_fn(|| bed.served.try_recv().ok()).collect();
    assert!(
        matches!(told[..], [_, Served::Done(..), Served::Left, _, Served::Done(..), Served::Left]),
        "{told:?}"
    );
}

/// A client that measures for hours is served for ten minutes, and longer as long as no other comes.
#[test]
fn a_client_that_stays_gives_way_after_ten_minutes() {
    let mut bed = bed();
    let (report, _progress) = unbounded_channel();
    let time = Duration::from_secs(7200);
    bed.net.add_app(bed.client, Client::new(Setup { time, ..setup(false) }, report));
    let (paths, second) = (bed.paths.clone(), bed.net.add_host(EndpointConfig::default()));
    bed.net.connect(bed.client, &paths, Box::new(rfc::scheme())).unwrap();
    bed.net.run_for(Duration::from_secs(560));
    bed.client = second;
    bed.paths.clear();
    bed.paths.push(bed.net.add_path(second, bed.server, network()));
    assert!(measure(&mut bed, false).1.is_err_and(|why| why.contains("busy")), "before ten minutes are over");
    bed.net.run_for(Duration::from_secs(30));
    measure(&mut bed, false).1.expect("its turn");
    let told: Vec<Served> = std::iter::from_fn(|| bed.served.try_recv().ok()).collect();
    let dismissed = |event: &Served| matches!(event, Served::Failed(why) if why.contains("ten minutes"));
    assert_eq!(told.iter().filter(|event| dismissed(event)).count(), 1, "{told:?}");
}

#[test]
fn a_time_above_the_limit_is_refused_with_the_limit() {
    let mut bed = bed();
    let time = MAX_TIME + Duration::from_secs(1);
    let (_, outcome) = measure_as(&mut bed, Setup { time, ..setup(true) });
    let words = "a measurement of 86401 s is refused: the server takes at most 86400 s";
    assert!(outcome.as_ref().is_err_and(|e| e.contains(words)), "{:?}", outcome.err());
}

/// Each message needs bookkeeping: one-byte messages would fill a server's memory.
#[test]
fn messages_too_small_or_too_large_are_refused() {
    for message in [1, 63, 262_145, 4 << 20] {
        let mut bed = bed();
        let (_, outcome) = measure_as(&mut bed, Setup { message, ..setup(true) });
        let words = format!("messages of {message} bytes are refused: the server takes 64 to 262144 bytes");
        assert!(outcome.as_ref().is_err_and(|e| e.contains(&words)), "{:?}", outcome.err());
    }
}
