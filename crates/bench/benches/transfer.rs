//! Bulk data between two endpoints in memory. The benchmark measures the cost of the state machines, without a kernel.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strandcast_proto::association::SendOptions;
use strandcast_proto::coding::{BlockCoding, Code, Coding};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_testing::plain;

const MESSAGE: usize = 1328;
const MESSAGES: usize = 2000;

struct Pair {
    now: Instant,
    ends: [Endpoint; 2],
    ids: [Option<AssociationId>; 2],
    tuples: [FourTuple; 2],
    buf: Vec<u8>,
    wire: BytesMut,
    received: usize,
}

impl Pair {
    /// `coding` applies to data of the first end. `scheme` chooses its symbols.
    fn new(coding: Option<Coding>, scheme: Box<dyn Scheme>) -> Self {
        let transport = Arc::new(TransportConfig {
            send_buffer: 4 << 20,
            receive_buffer: 4 << 20,
            coding,
            ..Default::default()
        });
        let seeds = Seeds::new(1, 0);
        let config = EndpointConfig { transport, ..EndpointConfig::default() };
        let server =
            EndpointConfig { accept: Some(Arc::new(|_| plain::windowed(400_000))), ..config.clone() };
        let (a, b): (SocketAddr, SocketAddr) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let tuple = |local, remote| FourTuple::new(LinkId(0), local, remote);
        let mut pair = Pair {
            now: Instant::from_millis(5000),
            ends: [Endpoint::new(config, &seeds.child("a")), Endpoint::new(server, &seeds.child("b"))],
            ids: [None; 2],
            tuples: [tuple(a, b), tuple(b, a)],
            buf: Vec::with_capacity(1 << 16),
            wire: BytesMut::with_capacity(1 << 20),
            received: 0,
        };
        let connect = Connect { paths: vec![(pair.tuples[0], None)], port: 5000, scheme, transport: None };
        pair.ids[0] = Some(pair.ends[0].connect(pair.now, connect).unwrap());
        while pair.exchange() {}
        assert!(pair.ids[1].is_some());
        pair
    }

    /// Carries all pending packets of both sides. Returns whether there were any.
    fn exchange(&mut self) -> bool {
        let mut any = false;
        for side in 0..2 {
            while let Some(t) = self.ends[side].poll_output(self.now, &mut self.buf) {
                any = true;
                self.now += Duration::from_micros(5);
                self.wire.extend_from_slice(&self.buf);
                self.buf.clear();
                let data = self.wire.split().freeze();
                let tuple = self.tuples[1 - side];
                let input = Input::Datagrams { tuple, data, segment_size: t.segment_size };
                self.ends[1 - side].handle_input(self.now, input);
            }
            while let Some((id, _)) = self.ends[side].poll_event() {
                self.ids[side] = Some(id);
            }
            if let Some(id) = self.ids[side] {
                while let Some(m) = self.ends[side].recv(id) {
                    self.received += m.payload.len();
                }
            }
        }
        any
    }

    fn transfer(&mut self, payload: &Bytes) {
        let target = self.received + MESSAGES * payload.len();
        let mut left = MESSAGES;
        while self.received < target {
            while left > 0
                && self.ends[0]
                    .send(self.now, self.ids[0].unwrap(), payload.clone(), SendOptions::default())
                    .is_ok()
            {
                left -= 1;
            }
            if !self.exchange() {
                self.now = self.ends.iter().filter_map(|e| e.poll_timeout()).min().unwrap();
                self.ends.iter_mut().for_each(|e| e.handle_timeout(self.now));
            }
        }
    }
}

fn transfer(c: &mut Criterion) {
    let payload = Bytes::from(vec![7; MESSAGE]);
    let mut pair = Pair::new(None, plain::windowed(400_000));
    let mut group = c.benchmark_group("transfer");
    group.throughput(Throughput::Bytes((MESSAGE * MESSAGES) as u64));
    group.bench_function("both ends, one path", |b| b.iter(|| pair.transfer(&payload)));
    let flush = Duration::from_millis(5);
    for (name, code, sources) in [
        ("source symbols alone", Code::Rlc, true),
        ("repair symbols alone, over GF(256)", Code::Rlc, false),
        ("repair symbols alone, over GF(2)", Code::Fountain, false),
    ] {
        let coding = Coding::Blocks(BlockCoding { code, sources: 0, flush });
        let margin = if code == Code::Fountain { 4 } else { 0 };
        // Not made where another case is measured.
        let mut pair = None;
        group.bench_function(format!("blocks: {name}"), |b| {
            let make = || Pair::new(Some(coding), plain::windowed_symbols(400_000, sources, margin));
            let pair = pair.get_or_insert_with(make);
            b.iter(|| pair.transfer(&payload));
        });
    }
    group.finish();
}

criterion_group!(benches, transfer);
criterion_main!(benches);
