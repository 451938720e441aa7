//! Cost of a SACK for a sender with many outstanding chunks.
#![allow(clippy::disallowed_types, reason = "what is measured is the time of this machine")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy, MissScope, Parts, Policy, Retransmit, Scheme, Signal, View,
};
use strandcast_proto::rfc::RfcLoss;
use strandcast_proto::time::Duration;
use strandcast_testing::plain;
use strandcast_testing::raw::{RawPeer, sack};

const OUTSTANDING: u32 = 65_535;

/// RFC 9260's loss policy, which counts the questions to it.
#[derive(Debug)]
struct Asked(RfcLoss, Arc<AtomicUsize>);

impl Policy for Asked {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.0.on_signal(view, signal);
    }
}

impl LossPolicy for Asked {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.misses(view, ack, chunk)
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        self.0.miss_scope(view, ack)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.0.retransmit(view, chunk, cause)
    }
}

/// A sender with [`OUTSTANDING`] chunks of one byte in flight, TSNs from `tsn + 1`.
fn sender(asked: &Arc<AtomicUsize>) -> RawPeer {
    let asked = Arc::clone(asked);
    let make = move || -> Box<dyn Scheme> {
        let loss = Box::new(Asked(RfcLoss::default(), Arc::clone(&asked)));
        Box::new(Parts { loss, ..plain::parts(1 << 30) })
    };
    let transport = TransportConfig { send_buffer: 64 << 20, auth: false, ..TransportConfig::default() };
    let config = EndpointConfig {
        transport: Arc::new(transport),
        accept: Some(Arc::new(move |_| make())),
        ..EndpointConfig::default()
    };
    let mut l = RawPeer::with(config);
    l.shake_hands(Vec::new());
    l.send(&b"x"[..], SendOptions::default());
    l.give(&[sack(l.tsn, 1 << 30, &[])]);
    let id = l.id.expect("connected");
    for _ in 0..OUTSTANDING {
        l.end.send(l.now, id, (&b"x"[..]).into(), SendOptions::default()).expect("room");
        // Each send is an opportunity for a burst.
        l.take();
    }
    assert_eq!(l.association().send_buffered(), OUTSTANDING as usize);
    l
}

/// Sixteen thousand blocks that overlap are read up to the second of them.
#[test]
fn overlapping_blocks_cost_no_more_than_their_number() {
    let mut l = sender(&Arc::default());
    let whole: Vec<_> = (0..16_000).map(|_| (2, u16::MAX)).collect();
    let began = Instant::now();
    l.give(&[sack(l.tsn, 1 << 30, &whole)]);
    let took = began.elapsed();
    assert!(took.as_millis() < 1000, "{took:?}");
    assert_eq!(l.association().paths()[0].in_flight_chunks, 1, "the first block was read");
    // The first blocks are valid: the last chunk is acknowledged cumulatively.
    l.give(&[sack(l.tsn + OUTSTANDING, 1 << 30, &[(5, 6), (5, 6)])]);
    assert_eq!(l.association().send_buffered(), 0);
}

/// A SACK that repeats the previous one asks about no chunk and takes no time for the repeated ones.
#[test]
fn what_a_sack_repeats_costs_nothing() {
    let asked = Arc::default();
    let mut l = sender(&asked);
    let every_fourth: Vec<_> = (1..16_000).map(|i| (4 * i, 4 * i + 2)).collect();
    l.give(&[sack(l.tsn, 1 << 30, &every_fourth)]);
    let before = asked.load(Ordering::Relaxed);
    let began = Instant::now();
    for _ in 0..200 {
        l.now += Duration::from_micros(10);
        l.give(&[sack(l.tsn, 1 << 30, &every_fourth)]);
    }
    let took = began.elapsed();
    assert_eq!(asked.load(Ordering::Relaxed) - before, 0);
    assert!(took.as_millis() < 2000, "{took:?} for 200 SACKs");
    l.association().assert_consistent();
}
