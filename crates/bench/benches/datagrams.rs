//! Packets sealed and opened per second on one core: 1344 bytes, the size of SCTP packets at an MTU of 1400.

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
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

/// The cipher without an envelope. The difference is the cost of numbers, windows and paths.
fn ring_alone(group: &mut BenchmarkGroup<'_, WallTime>, cipher: Cipher) {
    let algorithm = if cipher == Cipher::Aes128Gcm { &AES_128_GCM } else { &CHACHA20_POLY1305 };
    let key =
        UnboundKey::new(algorithm, &[7; 32][..algorithm.key_len()]).map(LessSafeKey::new).expect("a key");
    let (mut packets, mut number) = (batch(), 0u64);
    let nonce = |number: u64| {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        Nonce::assume_unique_for_key(nonce)
    };
    group.bench_function(format!("{cipher}/ring alone, both"), |b| {
        b.iter(|| {
            for datagram in packets.chunks_exact_mut(PACKET + AROUND) {
                number += 1;
                let (header, body) = datagram.split_at_mut(13);
                let (packet, tag) = body.split_at_mut(PACKET);
                let made = key
                    .seal_in_place_separate_tag(nonce(number), Aad::from(&*header), packet)
                    .expect("sealed");
                tag.copy_from_slice(made.as_ref());
                key.open_in_place(nonce(number), Aad::from(&*header), body).expect("opened");
            }
        });
    });
}

fn datagrams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("datagrams");
    group.throughput(Throughput::Bytes((BATCH * PACKET) as u64));
    for cipher in [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305] {
        let (mut ends, mut packets) = (Ends::new(cipher), batch());
        group.bench_function(format!("{cipher}/seal"), |b| b.iter(|| seal(&mut ends, &mut packets)));

        // A sealed datagram can be opened once.
        let (mut opening, mut sealing) = (Ends::new(cipher), Ends::new(cipher));
        group.bench_function(format!("{cipher}/open"), |b| {
            let sealed = || {
                let mut packets = batch();
                seal(&mut sealing, &mut packets);
                packets
            };
            b.iter_batched_ref(sealed, |packets| open(&mut opening, packets), BatchSize::SmallInput);
        });

        ring_alone(&mut group, cipher);

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

/// Cost of a completed handshake for each end besides its messages: ids and secrets of all paths.
fn keys(criterion: &mut Criterion) {
    criterion.bench_function("keys/both ends", |b| b.iter(|| Ends::new(Cipher::Aes128Gcm)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = datagrams, keys
}
criterion_main!(benches);
