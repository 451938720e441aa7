//! Packets sealed and opened per second on one core: 1344 bytes, as SCTP has them at an MTU of 1400.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use strandcast_seal::Cipher;
use strandcast_seal::testing::Ends;

const PACKET: usize = 1344;
const AROUND: usize = 13 + 16;
/// Datagrams at a time: as many as a batch of a socket has.
const BATCH: usize = 40;

fn batch() -> Vec<u8> {
    (0..BATCH * (PACKET + AROUND)).map(|at| at as u8).collect()
}

fn seal(ends: &mut Ends, batch: &mut [u8]) {
    for datagram in batch.chunks_exact_mut(PACKET + AROUND) {
        assert!(ends.seal(0, datagram));
    }
}

fn open(ends: &mut Ends, batch: &mut [u8]) {
    for datagram in batch.chunks_exact_mut(PACKET + AROUND) {
        assert!(ends.open(0, datagram));
    }
}

fn datagrams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("datagrams");
    group.throughput(Throughput::Bytes((BATCH * PACKET) as u64));
    for cipher in [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305] {
        let (mut ends, mut packets) = (Ends::new(cipher), batch());
        group.bench_function(format!("{cipher}/seal"), |b| b.iter(|| seal(&mut ends, &mut packets)));

        // What was sealed can be opened once.
        let (mut opening, mut sealing) = (Ends::new(cipher), Ends::new(cipher));
        group.bench_function(format!("{cipher}/open"), |b| {
            let sealed = || {
                let mut packets = batch();
                seal(&mut sealing, &mut packets);
                packets
            };
            b.iter_batched_ref(sealed, |packets| open(&mut opening, packets), BatchSize::SmallInput);
        });

        let mut ends = Ends::new(cipher);
        group.bench_function(format!("{cipher}/both"), |b| {
            b.iter(|| {
                seal(&mut ends, &mut packets);
                open(&mut ends, &mut packets);
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = datagrams
}
criterion_main!(benches);
