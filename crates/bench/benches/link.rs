//! Cost of a packet on one link, from entering to leaving it.

use core::time::Duration;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strandcast_netem::link::{Link, LinkConfig, Opportunities, Payload, Queue, Rate};
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::{Every, Number};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

#[derive(Clone)]
struct Packet(u64);

impl Payload for Packet {
    fn corrupt(&mut self, _: &mut Random) {
        self.0 ^= 1;
    }
}

/// Returns a link of 10 Mbit/s and 20 ms with a queue of 50 packets.
fn plain() -> LinkConfig {
    LinkConfig {
        rate: Rate::Constant(10_000_000),
        delay: Duration::from_millis(20).into(),
        queue: Queue::packets(50),
        ..LinkConfig::default()
    }
}

/// Measures packets of 1500 bytes at 95 % of 10 Mbit/s. Each is read when it arrives.
fn hop(c: &mut Criterion, name: &str, config: LinkConfig) {
    let mut group = c.benchmark_group("link");
    group.throughput(Throughput::Elements(1));
    let mut link = Link::new(config, &Seeds::new(1, 0), "link");
    let (mut now, mut id) = (Instant::ZERO, 0);
    group.bench_function(name, |b| {
        b.iter(|| {
            now += Duration::from_nanos(1_263_158);
            id += 1;
            let outcome = link.enqueue(now, Packet(id), 1500);
            while link.poll_timeout().is_some_and(|at| at <= now) {
                core::hint::black_box(link.poll(now));
            }
            outcome
        });
    });
    group.finish();
}

fn hops(c: &mut Criterion) {
    hop(c, "constant, lossless", plain());
    hop(c, "uniform loss", LinkConfig { losses: vec![LossModel::uniform(0.01)], ..plain() });
    let (mean_good, mean_bad) = (Duration::from_secs(1), Duration::from_millis(20));
    let by_time = LossModel::MarkovByTime { mean_good, mean_bad, loss_good: 0.0, loss_bad: 1.0 };
    let losses = vec![LossModel::uniform(0.01), LossModel::bursts(0.01, 3.0), by_time];
    hop(c, "three loss models", LinkConfig { losses, ..plain() });
    let delay = Number::Uniform { low: 0.01, high: 0.02, every: Every::Packet };
    hop(c, "delay drawn for each packet", LinkConfig { delay, ..plain() });
    let every = Every::Period(Duration::from_millis(100));
    let rate = Rate::Varying(Number::Uniform { low: 9e6, high: 12e6, every });
    hop(c, "rate drawn every 100 ms", LinkConfig { rate, ..plain() });
    let text: String = (1..=100_000u64).map(|n| format!("{}\n", n * 6 / 5)).collect();
    let rate = Rate::Opportunities(Arc::new(Opportunities::parse(&text).expect("times ascend")));
    hop(c, "trace of 100000 opportunities", LinkConfig { rate, ..plain() });
}

criterion_group!(benches, hops);
criterion_main!(benches);
