//! Outages of the best path, over real sockets and emulated links. The program prints one line of JSON per case. Cases
//! of one network run concurrently. `failover [SCHEME...]`; the default schemes are `sctp` and `cmt`. The program takes
//! at most two minutes.
//!
//! In each case, data are sent for 19.5 s. Between 10 s and 15.5 s, the first path is silent in one direction, silent
//! in both, or down. Keys: `gap_s` is the longest time without in-order delivery from the outage on, and `gap_at_s` is
//! its beginning. `back_s` is the time from the path's return until data are sent on it (null: not before the end).
//! `links` has the chunks sent on each path until then. `sent` and `delivered` are numbers of messages. `complete` is
//! true if all sent messages were delivered, in order and unchanged, within 30 s after the end of sending.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use strandcast_net::driver::{Client, Driver, Server, Uplink};
use strandcast_net::emulate::{Direction, Relay, RelayConfig};
use strandcast_net::interface::PathSpec;
use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::{PathNetwork, field};
use strandcast_proto::app::App;
use strandcast_proto::association::Event;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::{Spec, parse_spec};
use strandcast_sim::host::{BulkSender, Cbr, Sink};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const WARM_UP: Duration = Duration::from_secs(10);
/// Duration of the outage. The duration is not a multiple of a timeout, so that no probe coincides with the path's
/// return.
const OUTAGE: Duration = Duration::from_millis(5500);
const AFTER: Duration = Duration::from_secs(4);
const DRAIN: Duration = Duration::from_secs(30);
/// Interval at which the path is polled for data after its return. The interval is the resolution of `back_s`.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Receive window in bytes. The receive window equals that of the simulator's test of this case.
const WINDOW: u32 = 1 << 20;
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const OUTAGES: [(&str, &[Direction], bool); 4] = [
    ("forward", &[Direction::Forward], false),
    ("reverse", &[Direction::Reverse], false),
    ("both", &[Direction::Forward, Direction::Reverse], false),
    ("down", &[Direction::Forward, Direction::Reverse], true),
];

/// Application that sends until the end time. The application closes once everything is delivered.
struct Until<A> {
    inner: A,
    id: AssociationId,
    end: Option<Instant>,
    ended: bool,
}

impl<A: App> App for Until<A> {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        if matches!(event, Event::Connected { .. }) {
            self.end = Some(now + WARM_UP + OUTAGE + AFTER);
        }
        self.inner.on_event(now, endpoint, id, event);
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if self.ended {
            return;
        }
        if self.end.is_some_and(|end| now >= end) {
            self.ended = true;
            endpoint.shutdown(now, self.id);
        } else {
            self.inner.poll(now, endpoint);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.ended { None } else { self.inner.poll_timeout().into_iter().chain(self.end).min() }
    }
}

/// An application that counts the messages that it sent.
trait Source: App {
    fn sent(&self) -> u64;
}

impl Source for BulkSender {
    fn sent(&self) -> u64 {
        self.sent
    }
}

impl Source for Cbr {
    fn sent(&self) -> u64 {
        self.sent
    }
}

/// Returns a video source of 1 Mbit/s. In this program, its messages are sent reliably and in order.
fn video() -> Cbr {
    let mut video = Cbr::new(1340, Duration::from_micros(10_528), None);
    video.options.unordered = false;
    video
}

/// Returns two links without loss, each of 10 Mbit/s and 20 ms one way. The queues of the links have one
/// bandwidth-delay product (36 packets).
fn two_alike() -> Vec<PathNetwork> {
    let link = LinkConfig {
        rate: Rate::Constant(10_000_000),
        delay: Number::from(Duration::from_millis(20)),
        queue: Queue::packets(36),
        ..LinkConfig::default()
    };
    ["a", "b"]
        .map(|name| PathNetwork { name: name.into(), forward: link.clone(), reverse: link.clone() })
        .into()
}

fn endpoint(spec: &Spec) -> EndpointConfig {
    let mut transport = TransportConfig {
        receive_buffer: WINDOW,
        send_buffer: 2 * WINDOW as usize,
        ..TransportConfig::default()
    };
    spec.tune(&mut transport);
    EndpointConfig { transport: Arc::new(transport), ..EndpointConfig::default() }
}

/// A sender, a receiver, and one relay per path between them.
struct Setup<A> {
    relays: Vec<Relay>,
    server: (Driver, JoinHandle<Sink>),
    client: (Driver, JoinHandle<Until<A>>),
}

impl<A: Source> Setup<A> {
    fn new(spec: &Spec, networks: Vec<PathNetwork>, source: A) -> Self {
        let factory = spec.clone();
        let accept: strandcast_proto::endpoint::SchemeFactory = Arc::new(move |seeds| factory.build(seeds));
        let endpoint_with = EndpointConfig { accept: Some(accept), ..endpoint(spec) };
        let listen = vec![SocketAddr::new(LOOPBACK, 0)];
        let server = Server { endpoint: endpoint_with, listen, seal: None, tap: None }
            .run(Sink::default())
            .expect("a free port");
        let seeds = Seeds::new(1, 0);
        let relay = |network| {
            let config = RelayConfig {
                listen: SocketAddr::new(LOOPBACK, 0),
                server: server.0.local_addrs()[0],
                network,
            };
            Relay::start(config, &seeds).expect("a free port")
        };
        let relays: Vec<Relay> = networks.into_iter().map(relay).collect();
        let path = PathSpec::address(LOOPBACK);
        let uplinks = relays.iter().map(|r| Uplink::new(path.clone(), &[r.local_addr()])).collect();
        let scheme = spec.build(&seeds);
        let client = Client { endpoint: endpoint(spec), uplinks, port: 5000, scheme, seal: None, tap: None };
        let client = client
            .run(|id| Until { inner: source, id, end: None, ended: false })
            .expect("loopback has no reason to refuse");
        Setup { relays, server, client }
    }

    fn set(&self, (_, directions, down): (&str, &[Direction], bool), on: bool) {
        for &direction in directions {
            match down {
                true => self.relays[0].set_down(direction, on),
                false => self.relays[0].set_black_hole(direction, on),
            }
        }
    }

    /// Returns the number of chunks sent on each path. The list is empty once the association has ended.
    async fn sent(&self) -> Vec<u64> {
        let Some(all) = self.client.0.snapshot(AssociationId(0)).await else { return Vec::new() };
        let on =
            |to| all.paths.iter().find(|path| path.tuple.remote == to).map_or(0, |p| p.stats.chunks_sent);
        self.relays.iter().map(|relay| on(relay.local_addr())).collect()
    }

    /// Returns the number of chunks sent on the first path; `None` once the association has ended.
    async fn sent_on_first(&self) -> Option<u64> {
        self.sent().await.first().copied()
    }

    /// Returns the time until data are sent on the first path again; `None` if this does not happen before the end of
    /// sending.
    async fn back(&self) -> Option<Duration> {
        let start = tokio::time::Instant::now();
        let before = self.sent_on_first().await?;
        while start.elapsed() < AFTER {
            sleep(POLL_INTERVAL).await;
            if self.sent_on_first().await? > before {
                return Some(start.elapsed());
            }
        }
        None
    }

    /// Waits until everything is delivered, or until the time limit.
    async fn end(self) -> (u64, Sink) {
        let _ = timeout(DRAIN, async {
            while self.sent_on_first().await.is_some() && !self.client.1.is_finished() {
                sleep(POLL_INTERVAL).await;
            }
        })
        .await;
        self.client.0.stop();
        self.server.0.stop();
        let client = self.client.1.await.expect("no panic");
        (client.inner.sent(), self.server.1.await.expect("no panic"))
    }
}

async fn play<A: Source>(spec: &Spec, networks: Vec<PathNetwork>, outage: usize, source: A) -> String {
    let setup = Setup::new(spec, networks, source);
    let outage = OUTAGES[outage];
    sleep(WARM_UP).await;
    let from = setup.server.0.with_endpoint(|now, _| now).await.expect("runs");
    setup.set(outage, true);
    sleep(OUTAGE).await;
    setup.set(outage, false);
    let returned = tokio::time::Instant::now();
    let back = setup.back().await;
    let links = setup.sent().await;
    sleep(AFTER.saturating_sub(returned.elapsed())).await;
    let (sent, sink) = setup.end().await;
    let last = sink.deliveries.last().map_or(from, |d| d.at);
    let (begins, gap) = sink.longest_gap(from, last);
    let delivered = sink.deliveries.len() as u64;
    let complete = delivered == sent && sink.damaged + sink.out_of_order == 0;
    let back = back.map_or("null".into(), |back| format!("{:.2}", back.as_secs_f64()));
    let (scheme, outage, gap) = (spec.to_string(), outage.0, gap.as_secs_f64());
    let gap_at = (begins - from).as_secs_f64();
    format!(
        "\"scheme\": \"{scheme}\", \"outage\": \"{outage}\", \"gap_s\": {gap:.2}, \"gap_at_s\": {gap_at:.2}, \
         \"back_s\": {back}, \"links\": {links:?}, \"sent\": {sent}, \"delivered\": {delivered}, \"complete\": {complete}"
    )
}

fn main() {
    let mut schemes: Vec<String> = std::env::args().skip(1).collect();
    if schemes.is_empty() {
        schemes = vec!["sctp".into(), "cmt".into()];
    }
    for name in ["2 x 10 Mbit/s, bulk", "field, 1 Mbit/s"] {
        let cases = schemes.iter().flat_map(|s| (0..OUTAGES.len()).map(move |o| (s.clone(), o)));
        let run = |(scheme, outage): (String, usize)| {
            std::thread::spawn(move || {
                let spec = parse_spec(&scheme).unwrap_or_else(|e| panic!("{e}"));
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(async {
                    match name.starts_with("field") {
                        true => play(&spec, field(), outage, video()).await,
                        false => play(&spec, two_alike(), outage, BulkSender::new(1344)).await,
                    }
                })
            })
        };
        let running: Vec<_> = cases.map(run).collect();
        for case in running {
            let line = case.join().expect("a case panicked, see above");
            println!("{{\"network\": \"{name}\", {line}}}");
        }
    }
}
