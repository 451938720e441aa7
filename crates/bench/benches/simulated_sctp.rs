//! DATA packets per second of one core: Strandcast's SCTP over two paths of one hop that lose 1 %. Packets are encoded
//! and decoded, and checksums are written and verified.

use core::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strandcast_lab::result::Subject;
use strandcast_lab::scenario::*;
use strandcast_testing::lab::*;

fn two_paths() -> Scenario {
    let mut path = link("a", "b", 100e6, 0.005, 100);
    path.forward.loss.insert("uniform".into(), Loss::Uniform { rate: Number::Constant(0.01) });
    let mut flow = flow(sctp("cmt"), App::Bulk { size: 1400 }, &[&["l1"], &["l2"]]);
    if let Transport::Sctp { sctp, .. } = &mut flow.transport {
        (sctp.receive_buffer, sctp.send_buffer) = (4 << 20, 4 << 20);
    }
    let mut scenario = scenario(&[("l1", path.clone()), ("l2", path)], vec![("x", flow)]);
    scenario.run = Run { time: Duration::from_secs(20), warmup: Duration::ZERO, ..scenario.run };
    scenario
}

fn bench(c: &mut Criterion) {
    let scenario = two_paths();
    let delivered = metric(&run(&scenario, 1), &Subject::Flow("x".into()), "delivered_bytes") / 1400.0;
    let mut group = c.benchmark_group("sctp");
    group.throughput(Throughput::Elements(delivered as u64)).sample_size(10);
    group.bench_function("two paths, 1 % loss", |b| b.iter(|| run(&scenario, 1)));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
