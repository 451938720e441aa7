//! Hosts over links: guarantees of a transport to its user in a simulation.

use core::time::Duration;
use std::sync::Arc;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::{PathNetwork, field};
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig, SchemeFactory};
use strandcast_proto::policy::PathId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_testing::plain;

use super::*;

/// A client with these uplinks to a server, connected, and a sink there.
struct Bed {
    net: Net,
    client: HostId,
    server: HostId,
    paths: Vec<NetPath>,
    id: AssociationId,
    sink: AppId,
}

fn bed(networks: Vec<PathNetwork>, seed: u64) -> Bed {
    bed_with(networks, TransportConfig::default(), seed)
}

fn bed_with(networks: Vec<PathNetwork>, transport: TransportConfig, seed: u64) -> Bed {
    let mut net = Net::new(&Seeds::new(seed, 0));
    let config = EndpointConfig { transport: Arc::new(transport), ..EndpointConfig::default() };
    let client = net.add_host(config.clone());
    let accept: SchemeFactory = Arc::new(|_| plain::simple());
    let server = net.add_host(EndpointConfig { accept: Some(accept), ..config });
    let paths: Vec<NetPath> = networks.into_iter().map(|n| net.add_path(client, server, n)).collect();
    let sink = net.add_app(server, Sink::default());
    let id = net.connect(client, &paths, plain::simple()).expect("nothing else is there");
    Bed { net, client, server, paths, id, sink }
}

fn network(rate_bps: u64, delay_ms: u64) -> PathNetwork {
    let delay = Number::from(Duration::from_millis(delay_ms));
    let link = LinkConfig {
        rate: Rate::Constant(rate_bps),
        delay,
        queue: Queue::packets(100),
        ..LinkConfig::default()
    };
    PathNetwork { name: "link".into(), forward: link.clone(), reverse: link }
}

#[test]
fn everything_sent_arrives_in_order_over_lossy_links() {
    let mut bed = bed(field(), 3);
    bed.net.add_app(bed.client, BulkSender::new(1000).limited(2000));
    bed.net.run_for(Duration::from_secs(240));
    let sink: &Sink = bed.net.app(bed.sink);
    assert_eq!((sink.deliveries.len(), sink.damaged, sink.out_of_order), (2000, 0, 0));
    let last = sink.events.last().map(|(_, event)| event);
    assert_eq!(last, Some(&Event::Closed(CloseReason::Shutdown)), "{:?}", sink.events);
    let lost =
        |path: &NetPath| bed.net.link(*path, Direction::Forward).stats_at(bed.net.now()).dropped_loss.packets;
    assert!(bed.paths.iter().map(lost).sum::<u64>() > 0);
}

/// A saturated link carries packets of 1372 bytes (1344 of payload) in 1400 (28 of UDP and IPv4).
#[test]
fn a_saturated_link_gives_its_rate_less_headers() {
    let mut bed = bed(vec![network(8_000_000, 10)], 1);
    bed.net.add_app(bed.client, BulkSender::new(1344));
    let (from, to) = (Instant::from_millis(2_000), Instant::from_millis(12_000));
    bed.net.run_until(to);
    let sink: &Sink = bed.net.app(bed.sink);
    let rate = sink.bytes_between(from, to) as f64 * 8.0 / 10.0;
    let most = 8e6 * 1344.0 / 1400.0;
    assert!(rate > most * 0.995 && rate <= most * 1.005, "{rate} of {most}");
}

#[test]
fn same_seed_same_trajectory() {
    let run = |seed| {
        let mut bed = bed(field(), seed);
        bed.net.add_app(bed.client, BulkSender::new(900));
        bed.net.run_for(Duration::from_secs(10));
        (bed.net.fingerprint(), bed.net.app::<Sink>(bed.sink).bytes())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

#[test]
fn constant_rate_comes_at_its_interval_and_stops_in_a_black_hole() {
    let mut bed = bed(vec![network(8_000_000, 20)], 1);
    let interval = Duration::from_millis(40);
    bed.net.add_app(bed.client, Cbr::new(500, interval, Some(Duration::from_millis(500))));
    bed.net.run_until(Instant::from_millis(5_000));
    bed.net.set_black_hole(bed.paths[0], Direction::Forward, true);
    bed.net.run_until(Instant::from_millis(7_000));
    bed.net.set_black_hole(bed.paths[0], Direction::Forward, false);
    bed.net.run_until(Instant::from_millis(20_000));
    let sink: &Sink = bed.net.app(bed.sink);
    let steady: Vec<_> = sink.deliveries.iter().filter(|d| d.at < Instant::from_millis(5_000)).collect();
    assert!(steady.len() > 100);
    assert!(steady.windows(2).all(|w| w[1].at - w[0].at == interval), "{steady:?}");
    let (began, gap) = sink.longest_gap(Instant::from_millis(1_000), Instant::from_millis(20_000));
    assert!((Instant::from_millis(4_900)..=Instant::from_millis(5_000)).contains(&began), "{began:?}");
    assert!(gap >= Duration::from_secs(2), "{gap:?}");
}

#[test]
fn a_rebound_nat_and_a_new_address_cost_nothing_but_time() {
    // Failed paths are probed at once, and the probe shows the server the new address of the path.
    let transport = TransportConfig { pf_max_retrans: Some(0), ..TransportConfig::default() };
    let mut bed = bed_with(vec![network(4_000_000, 10), network(4_000_000, 30)], transport, 5);
    let sender = bed.net.add_app(bed.client, BulkSender::new(1000).limited(4000));
    bed.net.run_until(Instant::from_millis(2_000));
    bed.net.rebind(bed.paths[0]);
    bed.net.run_until(Instant::from_millis(4_000));
    let tuple = bed.net.readdress(bed.paths[1]);
    let id = bed.id;
    let moved = |now, e: &mut Endpoint| e.with(id, |a| a.move_path(now, PathId(1), tuple));
    bed.net.with_endpoint(bed.client, moved).expect("there is a path 1");
    bed.net.run_until(Instant::from_millis(5_000));
    let at_server = bed.net.endpoint(bed.server).association(AssociationId(0)).expect("not released");
    for (n, path) in bed.paths.iter().enumerate() {
        let seen = at_server.tuple(PathId(n as u8));
        assert_eq!(seen, Some(bed.net.tuple(*path, Direction::Reverse)), "path {n}");
    }
    bed.net.run_until(Instant::from_millis(60_000));
    assert_eq!(bed.net.app::<BulkSender>(sender).sent, 4000);
    let sink: &Sink = bed.net.app(bed.sink);
    assert_eq!((sink.deliveries.len(), sink.damaged, sink.out_of_order), (4000, 0, 0));
    assert!(bed.net.endpoint(bed.server).association(AssociationId(0)).is_some_and(|a| a.is_closed()));
}
