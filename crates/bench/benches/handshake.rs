//! Cost of a handshake: of both ends together, of the receiver, and of the receiver's handling of messages that open no
//! session.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use strandcast_seal::testing::Handshakes;

fn handshake(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("handshake");
    let mut ends = Handshakes::new();
    group.bench_function("both ends", |b| b.iter(|| assert!(ends.whole())));

    let (mut sender, mut receiver) = (Handshakes::new(), Handshakes::new());
    group.bench_function("receiver", |b| {
        let message = || sender.message().expect("256 bytes fit");
        b.iter_batched(message, |m| assert!(receiver.answer(&m).is_some()), BatchSize::SmallInput);
    });

    let mut forged = sender.message().expect("256 bytes fit");
    group.bench_function("recorded message", |b| {
        receiver.answer(&forged);
        b.iter(|| assert!(receiver.answer(&forged).is_none()));
    });
    forged[600] ^= 1;
    group.bench_function("forged message", |b| b.iter(|| assert!(receiver.answer(&forged).is_none())));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = handshake
}
criterion_main!(benches);
