//! Repair symbols for live messages: 4 Mbit/s in messages of 1316 bytes over two paths that lose packets in
//! bursts.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;

use strandcast_netem::loss::LossModel;
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::coding::CodingStats;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;
use strandcast_sim::host::{BulkSender, Cbr, Delivery, Net, Sink};

use crate::common::*;

const SIZE: usize = 1316;
/// 1316 bytes in 2.632 ms are 4 Mbit/s.
const INTERVAL: Duration = Duration::from_micros(2632);
const CODES: [&str; 3] = ["rlc", "raptorq", "rs"];

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A path of `mbps` with a one-way delay, which loses `loss` of its packets in bursts of `burst` on average.
fn lossy(name: &str, mbps: u64, one_way: Duration, loss: f64, burst: f64) -> PathNetwork {
    let mut path = clean(name, mbps * 1_000_000);
    for link in [&mut path.forward, &mut path.reverse] {
        link.delay = Number::from(one_way);
        link.queue = strandcast_netem::link::Queue::packets(100);
    }
    if loss > 0.0 {
        path.forward.losses = vec![LossModel::bursts(loss, burst)];
    }
    path
}

/// Result of a stream.
#[derive(Debug)]
struct Outcome {
    /// Messages sent, and messages delivered within their latency.
    sent: u64,
    in_time: usize,
    /// All delivered messages.
    delivered: usize,
    coding: CodingStats,
    /// Maximum number of bytes that waited or were not acknowledged.
    buffered: usize,
}

impl Outcome {
    fn late(&self) -> f64 {
        1.0 - self.in_time as f64 / self.sent as f64
    }
}

/// Sends the stream for `seconds` over `paths`. The first `warm` seconds do not count, because windows are
/// small then. Each message must arrive once and unchanged, and the redundancy must stay within its limit.
fn stream(
    spec: &str,
    paths: &[PathNetwork],
    latency: Duration,
    (warm, seconds): (u64, u64),
    seed: u64,
) -> Outcome {
    let mut s = Harness::live(spec, paths, seed);
    let source = s.net.add_app(s.client, Cbr::new(SIZE, INTERVAL, Some(latency)));
    let mut buffered = 0;
    while s.net.now() < at(seconds as f64) {
        s.net.run_for(ms(100));
        buffered = buffered.max(s.association().send_buffered());
    }
    let cbr = s.net.app::<Cbr>(source);
    assert_eq!(cbr.refused, 0, "{spec}, seed {seed}: the send buffer is full");
    let sent = cbr.sent;
    s.net.run_for(latency);
    let deliveries = &s.sink().deliveries;
    let numbers: BTreeSet<u64> = deliveries.iter().map(|d| d.number).collect();
    assert_eq!((s.sink().damaged, numbers.len()), (0, deliveries.len()), "{spec}, seed {seed}");
    let coding = s.association().stats().coding;
    assert!(
        coding.repair_bytes as f64 <= CAP * coding.source_bytes as f64,
        "{spec}, seed {seed}: {coding:?}"
    );
    // The fastest message left at its scheduled time.
    let early = |d: &Delivery| d.at.as_nanos() - INTERVAL.as_nanos() as u64 * d.number;
    let fastest = deliveries.iter().map(early).min().expect("something came");
    let from = warm * 1_000_000 / INTERVAL.as_micros() as u64;
    let in_time = |d: &&Delivery| early(d) - fastest + WAY.as_nanos() as u64 <= latency.as_nanos() as u64;
    let counted = deliveries.iter().filter(|d| (from..sent).contains(&d.number));
    let in_time = counted.filter(in_time).count();
    Outcome { sent: sent - from, in_time, delivered: deliveries.len(), coding, buffered }
}

/// One-way delay of all paths here, including a packet's time on the link.
const WAY: Duration = ms(53);
/// 5 % is the default.
const CAP: f64 = 0.05;

/// Seeds of each mean: with bursts of losses, means of four seeds differ by a tenth by chance.
const SEEDS: u64 = 10;

/// Two paths of 5 Mbit/s with 50 ms in each direction.
fn two(loss: f64, burst: f64) -> [PathNetwork; 2] {
    [lossy("a", 5, ms(50), loss, burst), lossy("b", 5, ms(50), loss, burst)]
}

/// A latency of 130 ms is shorter than the detection and retransmission of a loss; a second is ten times as
/// long.
fn more_comes_in_time(bursts: &[f64], codes: &[&str]) {
    for &burst in bursts {
        let sum = |spec: &str| {
            let runs: Vec<Outcome> =
                (1..=SEEDS).map(|seed| stream(spec, &two(0.02, burst), ms(130), (10, 40), seed)).collect();
            let recovers = runs.iter().all(|run| run.coding.repairs_sent > 0);
            assert!(recovers || spec == "bond", "{spec}: {runs:?}");
            runs.iter().map(Outcome::late).sum::<f64>() / SEEDS as f64
        };
        let off = sum("bond");
        for code in codes {
            for when in ["late", "always"] {
                let on = sum(&format!("bond,fec={code},fec-when={when}"));
                println!(
                    "bursts of {burst}: {code}, {when}: {:.2} % late, {:.2} % without",
                    100.0 * on,
                    100.0 * off
                );
                assert!(on < if burst == 1.0 { 0.5 } else { 0.9 } * off, "{code}, {when}, bursts of {burst}");
            }
        }
    }
}

#[test]
fn more_comes_in_time_where_nothing_can_be_sent_again() {
    more_comes_in_time(&[1.0], &CODES[..1]);
}

#[test]
fn late_sends_nothing_where_sending_again_is_in_time() {
    for code in CODES {
        let run = stream(&format!("bond,fec={code}"), &two(0.02, 1.0), ms(1000), (5, 25), 1);
        let coding = run.coding;
        assert!(
            coding.sources_sent > 9000 && coding.repairs_sent * 1000 < coding.sources_sent,
            "{code}: {coding:?}"
        );
        assert!(run.late() < 0.001, "{code}: {run:?}");
    }
}

#[test]
fn without_loss_nothing_is_repaired_and_all_arrives() {
    let off = stream("bond", &two(0.0, 1.0), ms(130), (5, 25), 1);
    for code in CODES {
        for when in ["late", "always"] {
            let spec = format!("bond,fec={code},fec-when={when}");
            let run = stream(&spec, &two(0.0, 1.0), ms(130), (5, 25), 1);
            assert_eq!((run.in_time, off.in_time), (run.sent as usize, off.sent as usize), "{spec}");
            assert!(run.coding.repairs_sent > 400, "{spec}: {:?}", run.coding);
        }
    }
}

/// 3 Mbit/s for 4: windows are full, and only messages leave.
#[test]
fn repair_displaces_no_message() {
    let paths = [lossy("a", 2, ms(50), 0.0, 1.0), lossy("b", 1, ms(50), 0.0, 1.0)];
    let of = |spec: &str| stream(spec, &paths, ms(400), (10, 40), 1);
    let off = of("bond");
    for when in ["late", "always"] {
        let on = of(&format!("bond,fec=rlc,fec-when={when}"));
        println!("{when}: {} came, {} without; {:?}", on.delivered, off.delivered, on.coding);
        assert!(
            on.delivered as f64 >= 0.98 * off.delivered as f64,
            "{when}: {} of {}",
            on.delivered,
            off.delivered
        );
        assert!(on.coding.repairs_sent * 200 < on.coding.sources_sent, "{when}: {:?}", on.coding);
    }
}

/// Round trip 300 ms, latency 300 ms, 5 % lost: five messages per round trip are lost permanently.
#[test]
fn losses_for_good_do_not_fill_the_send_buffer() {
    let paths = [lossy("a", 5, ms(150), 0.05, 1.0), lossy("b", 5, ms(150), 0.05, 1.0)];
    for spec in ["bond", "bond,fec=rlc"] {
        let run = stream(spec, &paths, ms(300), (10, 60), 1);
        assert!(run.buffered < 1 << 20, "{spec}: {} bytes", run.buffered);
    }
}

/// An overloaded path: waiting messages expire, also between two packets of a message. Round trip 300 ms,
/// latency 700 ms; the path carries half of 10.75 Mbit/s.
#[test]
fn messages_of_several_packets_are_given_up_before_they_begin() {
    let run = |spec: &str, paths: &[PathNetwork], packets: usize| {
        let mut s = Harness::live(spec, paths, 1);
        let every = ms(packets as u64) / paths.len() as u32;
        s.net.add_app(s.client, Cbr::new(packets * FULL, every, Some(ms(700))));
        s.net.run_until(at(30.0));
        (s.sink().deliveries.len() * packets, s.association().send_buffered())
    };
    let two = ["a", "b"].map(|name| lossy(name, 5, ms(150), 0.0, 1.0));
    for (spec, paths) in
        [("bond", &two[..1]), ("strand", &two[..1]), ("bond", &two[..]), ("strand", &two[..])]
    {
        let (alone, _) = run(spec, paths, 1);
        for packets in [2, 3] {
            let (came, buffered) = run(spec, paths, packets);
            let links = paths.len();
            let what = format!(
                "{spec}, {links} paths, {packets} packets a message: {came} of {alone}, {buffered} bytes"
            );
            println!("{what}");
            assert!(came as f64 > 0.85 * alone as f64 && buffered < paths.len() * 1_500_000, "{what}");
        }
    }
}

/// Ordered or reliable messages, and those longer than a packet, are sent without repair.
#[test]
fn what_is_not_covered_arrives_as_ever() {
    for code in CODES {
        let harness = || Harness::live(&format!("bond,fec={code},fec-when=always"), &two(0.02, 2.0), 1);
        let uncovered = |s: &Harness| {
            let coding = s.association().stats().coding;
            assert_eq!((coding.sources_sent, coding.repairs_sent, s.sink().damaged), (0, 0, 0), "{code}");
        };
        let mut s = harness();
        s.net.add_app(s.client, BulkSender::new(FULL).limited(3000));
        while s.sink().deliveries.len() < 3000 && s.net.now() < at(60.0) {
            s.net.run_for(ms(100));
            uncovered(&s);
        }
        assert!(s.sink().deliveries.iter().map(|d| d.number).eq(0..3000), "{code}");
        let mut s = harness();
        let long = s.net.add_app(s.client, Cbr::new(2 * FULL, ms(20), Some(ms(5000))));
        s.net.run_until(at(20.0));
        uncovered(&s);
        let (sent, came) = (s.net.app::<Cbr>(long).sent, s.sink().deliveries.len() as u64);
        assert!(sent > 950 && came + 10 > sent, "{code}: {came} of {sent}");
    }
}

/// No symbol is inserted between the chunks of a message, whose TSNs are consecutive (RFC 9260 §6.9).
#[test]
fn long_messages_among_covered_ones_arrive_whole() {
    for code in CODES {
        let mut s = Harness::live(&format!("bond,fec={code},fec-when=always"), &two(0.0, 1.0), 1);
        let short = s.net.add_app(s.client, Cbr::new(SIZE, ms(10), Some(ms(1000))));
        let long = s.net.add_app(s.client, Cbr::new(8 * FULL, ms(37), Some(ms(5000))));
        s.net.run_until(at(20.0));
        let (short, long) = (s.net.app::<Cbr>(short).sent, s.net.app::<Cbr>(long).sent);
        let (came, symbols) = (s.sink().deliveries.len() as u64, s.association().stats().coding.repairs_sent);
        assert!(
            came + 60 > short + long && symbols > 0,
            "{code}: {came} of {short} + {long}, {symbols} symbols"
        );
    }
}

/// A peer without REPORT, or without RFC 3758.
#[test]
fn towards_a_peer_that_cannot_decode_nothing_is_coded() {
    let plain = TransportConfig { reports: false, ..TransportConfig::live() };
    let reliable = TransportConfig { partial_reliability: false, ..TransportConfig::live() };
    for (what, peer) in [("no REPORT", plain), ("no RFC 3758", reliable)] {
        let seeds = Seeds::new(1, 0);
        let preset = parse_spec("bond,fec=rlc,fec-when=always").expect("a preset");
        let mut config = TransportConfig::live();
        preset.tune(&mut config);
        let mut net = Net::new(&seeds);
        let client = net.add_host(EndpointConfig { transport: Arc::new(config), ..Default::default() });
        let scheme = preset.build(&seeds.child("client"));
        let accept: strandcast_proto::endpoint::SchemeFactory = Arc::new(move |s| preset.build(s));
        let server = net.add_host(EndpointConfig {
            transport: Arc::new(peer),
            accept: Some(accept),
            ..Default::default()
        });
        let path = net.add_path(client, server, lossy("a", 10, ms(50), 0.0, 1.0));
        let sink = net.add_app(server, Sink::default());
        let id = net.connect(client, &[path], scheme).expect("a free endpoint");
        let source = net.add_app(client, Cbr::new(SIZE, INTERVAL, Some(ms(500))));
        net.run_until(at(10.0));
        let sent = net.app::<Cbr>(source).sent;
        net.run_until(at(11.0));
        let coding = net.endpoint(client).association(id).expect("it lives").stats().coding;
        assert_eq!(coding, CodingStats::default(), "{what}");
        let got = net.app::<Sink>(sink).deliveries.iter().filter(|d| d.number < sent).count();
        assert_eq!((got as u64, net.app::<Sink>(sink).damaged), (sent, 0), "{what}");
    }
}

mod thorough {
    use super::*;

    #[test]
    fn more_comes_in_time_where_nothing_can_be_sent_again() {
        more_comes_in_time(&[1.0, 3.0], &CODES);
    }
}
