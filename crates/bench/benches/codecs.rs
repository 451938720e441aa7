//! Source bytes per second and core, with symbols of 1200 bytes and blocks of 32 symbols.

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use strandcast_coding::codec::{Decoder, Encoder};
use strandcast_coding::{Code, Instructions, TinyMt32};

const LENGTH: usize = 1200;
const SOURCES: usize = 32;
const LOST: usize = 4;

fn sources() -> Vec<Vec<u8>> {
    let mut generator = TinyMt32::new(7);
    (0..SOURCES).map(|_| (0..LENGTH).map(|_| generator.next_256()).collect()).collect()
}

/// Returns seeds with which any block is decoded from exactly the symbols that are passed on.
fn seed_of(code: Code, symbol: usize) -> u32 {
    if code.slides() { 15 << 16 | symbol as u32 } else { symbol as u32 }
}

fn fill(encoder: &mut dyn Encoder, sources: &[Vec<u8>]) {
    encoder.forget(SOURCES);
    sources.iter().for_each(|source| encoder.push(source));
}

fn repairs(code: Code, count: usize) -> Vec<Vec<u8>> {
    let mut encoder = code.encoder(SOURCES, LENGTH);
    fill(&mut *encoder, &sources());
    let mut repair = |symbol| {
        let mut out = Vec::new();
        encoder.repair(seed_of(code, symbol), &mut out).expect("a symbol");
        out
    };
    (0..count).map(&mut repair).collect()
}

/// Encodes a block into 4 repair symbols.
fn encode(group: &mut BenchmarkGroup<'_, WallTime>, code: Code) {
    let (sources, mut out) = (sources(), Vec::with_capacity(2 * LENGTH));
    let mut encoder = code.encoder(SOURCES, LENGTH);
    group.bench_function(format!("{code}/encode 32 + 4"), |b| {
        b.iter(|| {
            fill(&mut *encoder, &sources);
            for symbol in 0..LOST {
                out.clear();
                encoder.repair(seed_of(code, symbol), &mut out).expect("a symbol");
            }
        });
    });
}

fn take(decoder: &mut dyn Decoder, code: Code, sources: &[(usize, &[u8])], repairs: &[Vec<u8>]) {
    decoder.clear();
    for &(index, source) in sources {
        decoder.source(index, source);
    }
    for (symbol, repair) in repairs.iter().enumerate() {
        if decoder.rank() < SOURCES {
            decoder.repair(0..SOURCES, seed_of(code, symbol), repair);
        }
    }
    assert_eq!(decoder.rank(), SOURCES);
}

/// Decodes a block from 28 source symbols and 4 repair symbols, or from repair symbols alone. Adds further symbols if
/// the code needs them.
fn decode(group: &mut BenchmarkGroup<'_, WallTime>, code: Code, dense: bool) {
    let sources = sources();
    let arrived = |&(index, _): &(usize, &[u8])| !dense && index % 8 != 3;
    let arrived: Vec<_> = sources.iter().map(|s| &s[..]).enumerate().filter(arrived).collect();
    let repairs = repairs(code, if dense { 3 * SOURCES / 2 } else { 2 * LOST });
    let mut decoder = code.decoder(SOURCES, LENGTH);
    let name = if dense { "decode repairs alone" } else { "decode 4 lost" };
    group.bench_function(format!("{code}/{name}"), |b| {
        b.iter(|| take(&mut *decoder, code, &arrived, &repairs));
    });
}

/// Measures a stream. Each message enters a window of 32, a repair symbol follows every eighth message, and every
/// sixteenth message is lost.
fn slide(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (sources, code) = (sources(), Code::Sliding);
    let mut out = Vec::with_capacity(2 * LENGTH);
    group.bench_function("sliding-rlc/stream 8 + 1, both ends", |b| {
        b.iter_batched_ref(
            || (code.encoder(SOURCES, LENGTH), code.decoder(2 * SOURCES, LENGTH)),
            |(encoder, decoder)| {
                for (number, source) in sources.iter().cycle().take(10 * SOURCES).enumerate() {
                    encoder.forget(encoder.held() / SOURCES);
                    encoder.push(source);
                    if number >= 2 * SOURCES {
                        decoder.forget(1);
                    }
                    let place = number.min(2 * SOURCES - 1);
                    if number % 16 != 5 {
                        decoder.source(place, source);
                    }
                    if number % 8 == 7 {
                        out.clear();
                        encoder.repair(seed_of(code, number), &mut out).expect("a symbol");
                        decoder.repair(place + 1 - encoder.held()..place + 1, seed_of(code, number), &out);
                    }
                }
            },
            BatchSize::LargeInput,
        );
    });
}

/// Measures sums of 32 symbols with their coefficients, by each instruction set. The throughput counts the bytes of the
/// 32 symbols.
fn kernels(c: &mut Criterion) {
    let mut group = c.benchmark_group("sum of 32 products");
    let (row, mut generator) = (LENGTH.next_multiple_of(64), TinyMt32::new(7));
    group.throughput(Throughput::Bytes((SOURCES * row) as u64));
    let arena: Vec<u8> = (0..SOURCES * row).map(|_| generator.next_256()).collect();
    let coefficients: Vec<u8> = (0..SOURCES).map(|_| generator.next_256() | 2).collect();
    let mut target = vec![0; row];
    for instructions in Instructions::all() {
        group.bench_function(instructions.name(), |b| {
            b.iter(|| instructions.add(&mut target, &arena, &coefficients))
        });
    }
    group.finish();
}

fn codecs(c: &mut Criterion) {
    let mut group = c.benchmark_group("codecs");
    group.throughput(Throughput::Bytes((SOURCES * LENGTH) as u64));
    for code in [Code::Rlc, Code::Fountain, Code::RaptorQ, Code::ReedSolomon { repairs: 48 }] {
        // Reed–Solomon makes all repair symbols at once.
        let encoded =
            if code == (Code::ReedSolomon { repairs: 48 }) { Code::ReedSolomon { repairs: 4 } } else { code };
        encode(&mut group, encoded);
        decode(&mut group, code, false);
        decode(&mut group, code, true);
    }
    group.throughput(Throughput::Bytes((10 * SOURCES * LENGTH) as u64));
    slide(&mut group);
    group.finish();
}

criterion_group!(benches, kernels, codecs);
criterion_main!(benches);
