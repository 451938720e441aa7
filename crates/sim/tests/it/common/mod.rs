//! A sender and a receiver with one preset, and the paths between them.

use core::time::Duration;
use std::sync::Arc;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::association::Association;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, EndpointConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::parse_spec;
use strandcast_sim::host::{AppId, HostId, Net, NetPath, Sink};

/// Payload of a chunk that fills a packet of 1400 bytes: 1400 - 28 (IP, UDP) - 12 (SCTP) - 16 (DATA).
pub const FULL: usize = 1344;

pub fn at(s: f64) -> Instant {
    Instant::from_secs_f64(s)
}

/// A path without loss: `rate_bps`, 20 ms one way, a queue of one bandwidth-delay product, at least 10 packets.
pub fn clean(name: &str, rate_bps: u64) -> PathNetwork {
    let product = (rate_bps as f64 * 0.040 / 8.0 / 1400.0).ceil() as usize;
    let link = LinkConfig {
        rate: Rate::Constant(rate_bps),
        delay: Number::from(Duration::from_millis(20)),
        queue: Queue::packets(product.max(10)),
        ..LinkConfig::default()
    };
    PathNetwork { name: name.into(), forward: link.clone(), reverse: link }
}

/// Payload capacity of the paths, bit/s.
pub fn capacity_bps(paths: &[PathNetwork]) -> f64 {
    let rates: u64 = paths.iter().filter_map(|p| p.forward.rate.mean_bps()).map(|bps| bps as u64).sum();
    rates as f64 * FULL as f64 / 1400.0
}

pub struct Harness {
    pub net: Net,
    pub client: HostId,
    pub paths: Vec<NetPath>,
    pub id: AssociationId,
    pub sink: AppId,
}

impl Harness {
    /// A connected pair of hosts that run `spec`, with receive windows of `window` bytes.
    pub fn new(spec: &str, networks: &[PathNetwork], window: u32, seed: u64) -> Self {
        let config = TransportConfig {
            receive_buffer: window,
            send_buffer: 2 * window as usize,
            ..Default::default()
        };
        Harness::with(spec, networks, config, seed)
    }

    /// A connected pair with the parameters for real paths.
    pub fn live(spec: &str, networks: &[PathNetwork], seed: u64) -> Self {
        Harness::with(spec, networks, TransportConfig::live(), seed)
    }

    fn with(spec: &str, networks: &[PathNetwork], mut config: TransportConfig, seed: u64) -> Self {
        let seeds = Seeds::new(seed, 0);
        let preset = parse_spec(spec).expect("a preset");
        preset.tune(&mut config);
        let transport = Arc::new(config);
        let mut net = Net::new(&seeds);
        let client = net.add_host(EndpointConfig { transport: Arc::clone(&transport), ..Default::default() });
        let scheme = preset.build(&seeds.child("client"));
        let accept: strandcast_proto::endpoint::SchemeFactory = Arc::new(move |s| preset.build(s));
        let server = net.add_host(EndpointConfig { transport, accept: Some(accept), ..Default::default() });
        let paths: Vec<NetPath> = networks.iter().map(|n| net.add_path(client, server, n.clone())).collect();
        let sink = net.add_app(server, Sink::default());
        let id = net.connect(client, &paths, scheme).expect("a free endpoint");
        Harness { net, client, paths, id, sink }
    }

    pub fn association(&self) -> &Association {
        self.net.endpoint(self.client).association(self.id).expect("not released")
    }

    pub fn sink(&self) -> &Sink {
        self.net.app::<Sink>(self.sink)
    }
}
