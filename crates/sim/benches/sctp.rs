//! DATA packets a second of one core: our SCTP over two one-hop paths that lose 1 %, encoded, decoded, checksums written
//! and checked.

use core::time::Duration;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;
use strandcast_sim::host::{BulkSender, Net, Sink};
use strandcast_sim::link::{Delay, LinkConfig};
use strandcast_sim::loss::LossModel;
use strandcast_sim::topology::PathNetwork;

const MESSAGES: u64 = 20_000;

fn run(seed: u64) -> usize {
    let seeds = Seeds::new(seed, 0);
    let spec = parse_spec("cmt").expect("a preset");
    let mut config =
        TransportConfig { receive_buffer: 4 << 20, send_buffer: 4 << 20, mtu: 1500, ..Default::default() };
    spec.tune(&mut config);
    let transport = Arc::new(config);
    let mut net = Net::new(&seeds);
    let client = net.add_host(EndpointConfig { transport: Arc::clone(&transport), ..Default::default() });
    let scheme = spec.build(&seeds);
    let accept: SchemeFactory = Arc::new(move |s| spec.build(s));
    let server = net.add_host(EndpointConfig { transport, accept: Some(accept), ..Default::default() });
    let link = LinkConfig {
        rate_bps: Some(100_000_000),
        delay: Delay::Fixed(Duration::from_millis(5)),
        queue_packets: 100,
        losses: vec![LossModel::Uniform { p: 0.01 }],
        ..Default::default()
    };
    let network = PathNetwork { name: "path".into(), forward: link.clone(), reverse: link.lossless() };
    let paths = [net.add_path(client, server, network.clone()), net.add_path(client, server, network)];
    let sink = net.add_app(server, Sink::default());
    net.add_app(client, BulkSender::new(1400).limited(MESSAGES));
    net.connect(client, &paths, scheme).expect("a free endpoint");
    net.run_for(Duration::from_secs(600));
    net.app::<Sink>(sink).deliveries.len()
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("sctp");
    group.throughput(Throughput::Elements(MESSAGES)).sample_size(10);
    group.bench_function("two paths, 1 % loss", |b| b.iter(|| assert_eq!(run(1), MESSAGES as usize)));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
