//! Cost of repair symbols in addition to live messages, and of a scheme that requests arrivals and acts. One second of
//! a stream is measured at both ends.

use criterion::{Criterion, criterion_group, criterion_main};
use strandcast_proto::coding::RepairCode;
use strandcast_testing::live::{Live, coding, payload};
use strandcast_testing::plain;

fn repair(c: &mut Criterion) {
    let payload = payload();
    let mut group = c.benchmark_group("a second of 10 Mbit/s, both ends");
    for (name, coding) in [
        ("off", None),
        ("rlc", coding(RepairCode::Rlc)),
        ("raptorq", coding(RepairCode::RaptorQ)),
        ("rs", coding(RepairCode::ReedSolomon)),
    ] {
        let mut live = Live::new(coding);
        (0..3).for_each(|_| live.second(&payload));
        assert!(coding.is_none() || live.redundancy().is_some_and(|r| r > 0.045), "{:?}", live.redundancy());
        group.bench_function(name, |b| b.iter(|| live.second(&payload)));
        assert!(live.received > 0);
    }
    let mut live = Live::with(None, plain::watching(1 << 20));
    (0..3).for_each(|_| live.second(&payload));
    group.bench_function("off, hearing arrivals and acting", |b| b.iter(|| live.second(&payload)));
    group.finish();
}

criterion_group!(benches, repair);
criterion_main!(benches);
