//! Cost of a SACK by the number of outstanding chunks: one that repeats the last, and one of as many overlapping blocks
//! as a datagram holds.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_testing::plain;
use strandcast_testing::raw::{RawPeer, packet, sack};

/// A sender with `chunks` chunks of one byte in flight, TSNs from `tsn + 1`.
fn sender(chunks: u32) -> RawPeer {
    let transport = TransportConfig { send_buffer: 64 << 20, auth: false, ..TransportConfig::default() };
    let config = EndpointConfig {
        transport: Arc::new(transport),
        accept: Some(Arc::new(|_| plain::windowed(1 << 30))),
        ..EndpointConfig::default()
    };
    let mut l = RawPeer::with(config);
    l.shake_hands(Vec::new());
    l.send(&b"x"[..], SendOptions::default());
    l.give(&[sack(l.tsn, 1 << 30, &[])]);
    for _ in 0..chunks {
        l.send(&b"x"[..], SendOptions::default());
    }
    l
}

fn sacks(c: &mut Criterion) {
    let mut group = c.benchmark_group("sack");
    for chunks in [64, 512, 4096, 16_384, 65_535u32] {
        let quarter = (chunks / 4) as u16;
        let four: Vec<_> = (0..4).map(|i| (2 + i * quarter, (i + 1) * quarter)).collect();
        for (name, blocks) in [("repeats four blocks", four), ("attack", vec![(2, u16::MAX); 16_000])] {
            let mut l = sender(chunks);
            let bytes = packet(l.tag, &[sack(l.tsn, 1 << 30, &blocks)]);
            l.give_bytes(l.tuple, bytes.clone());
            let mut give = || l.give_bytes(l.tuple, bytes.clone());
            group.bench_function(BenchmarkId::new(name, chunks), |b| b.iter(&mut give));
        }
    }
    group.finish();
}

criterion_group!(benches, sacks);
criterion_main!(benches);
