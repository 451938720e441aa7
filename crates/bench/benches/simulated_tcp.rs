//! Packet-hops per second of one core, and cost against the number of flows. A packet-hop is a packet, with data or an
//! acknowledgement, that leaves a link.

use core::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use strandcast_lab::scenario::*;
use strandcast_testing::lab::*;

/// Returns a scenario of TCP flows over a dumbbell of 10 Mbit/s and 50 ms.
fn dumbbell(flows: u32, seconds: u64) -> Scenario {
    let links = [
        ("access", link("a", "r", 100e6, 0.002, 1000)),
        ("middle", link("r", "s", 10e6, 0.02, 100)),
        ("far", link("s", "b", 100e6, 0.003, 1000)),
    ];
    let mut flow = flow(tcp("reno"), App::Bulk { size: 1460 }, &[&["access", "middle", "far"]]);
    flow.count = flows;
    let mut scenario = scenario(&links, vec![("tcp", flow)]);
    scenario.run.time = Duration::from_secs(seconds);
    scenario.run.warmup = Duration::ZERO;
    scenario
}

fn hops(c: &mut Criterion) {
    let mut group = c.benchmark_group("packet-hops");
    let scenario = dumbbell(3, 100);
    group.throughput(Throughput::Elements(run(&scenario, 1).packet_hops)).sample_size(10);
    group.bench_function("3 TCP flows over a dumbbell", |b| b.iter(|| run(&scenario, 1)));
    group.finish();
}

fn flows(c: &mut Criterion) {
    let mut group = c.benchmark_group("flows");
    group.sample_size(10);
    for flows in [1, 10, 100, 1000] {
        let scenario = dumbbell(flows, 20);
        group.throughput(Throughput::Elements(run(&scenario, 1).packet_hops));
        group.bench_with_input(BenchmarkId::from_parameter(flows), &scenario, |b, s| b.iter(|| run(s, 1)));
    }
    group.finish();
}

criterion_group!(benches, hops, flows);
criterion_main!(benches);
