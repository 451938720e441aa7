//! One second of a stream of 10 Mbit/s between two endpoints in memory. The path has a one-way delay of 150 ms in both
//! directions, and loses every 50th packet. A message is useless after 300 ms. Each lost message can be repaired within
//! this time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use strandcast_proto::association::SendOptions;
use strandcast_proto::coding::{Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use crate::plain;

const MESSAGE: usize = 1316;
/// Number of messages per second: 950 messages of 1316 bytes are 10 Mbit.
const MESSAGES: u32 = 950;
const INTERVAL: Duration = Duration::from_micros(1_000_000 / MESSAGES as u64);
const ONE_WAY: Duration = Duration::from_millis(150);
const LATENCY: Duration = Duration::from_millis(300);
/// Interval between lost packets, counted in packets with data.
const LOST: u64 = 50;

pub struct Live {
    now: Instant,
    ends: [Endpoint; 2],
    ids: [Option<AssociationId>; 2],
    tuples: [FourTuple; 2],
    /// Datagrams in flight with their times of arrival, by the end that receives them.
    air: [VecDeque<(Instant, Bytes)>; 2],
    buf: Vec<u8>,
    wire: BytesMut,
    sent: u64,
    pub received: u64,
}

impl Live {
    /// Creates a connected stream.
    pub fn new(coding: Option<Coding>) -> Self {
        Live::with(coding, plain::windowed(1 << 20))
    }

    /// Creates a connected stream whose sender uses `scheme`.
    pub fn with(coding: Option<Coding>, scheme: Box<dyn Scheme>) -> Self {
        let transport = Arc::new(TransportConfig { coding, ..TransportConfig::live() });
        let seeds = Seeds::new(1, 0);
        let config = EndpointConfig { transport, ..EndpointConfig::default() };
        let server =
            EndpointConfig { accept: Some(Arc::new(|_| plain::windowed(1 << 20))), ..config.clone() };
        let (a, b): (SocketAddr, SocketAddr) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let tuple = |local, remote| FourTuple::new(LinkId(0), local, remote);
        let mut live = Live {
            now: Instant::from_millis(5000),
            ends: [Endpoint::new(config, &seeds.child("a")), Endpoint::new(server, &seeds.child("b"))],
            ids: [None; 2],
            tuples: [tuple(a, b), tuple(b, a)],
            air: [VecDeque::new(), VecDeque::new()],
            buf: Vec::with_capacity(1 << 16),
            wire: BytesMut::with_capacity(1 << 20),
            sent: 0,
            received: 0,
        };
        let connect = Connect { paths: vec![(live.tuples[0], None)], port: 5000, scheme, transport: None };
        live.ids[0] = Some(live.ends[0].connect(live.now, connect).unwrap());
        live.run(Duration::from_secs(2));
        assert!(live.ids[1].is_some());
        live
    }

    /// Puts the output of both ends into flight.
    fn flush(&mut self) {
        for side in 0..2 {
            while let Some(t) = self.ends[side].poll_output(self.now, &mut self.buf) {
                let segment = t.segment_size.max(1);
                for packet in self.buf.chunks(segment) {
                    self.sent += u64::from(packet.len() > MESSAGE);
                    if packet.len() > MESSAGE && self.sent.is_multiple_of(LOST) {
                        continue;
                    }
                    self.wire.extend_from_slice(packet);
                    let data = self.wire.split().freeze();
                    self.air[1 - side].push_back((self.now + ONE_WAY, data));
                }
                self.buf.clear();
            }
            while let Some((id, _)) = self.ends[side].poll_event() {
                self.ids[side] = Some(id);
            }
            if let Some(id) = self.ids[side] {
                while let Some(message) = self.ends[side].recv(id) {
                    self.received += message.payload.len() as u64;
                }
            }
        }
    }

    /// Runs both ends for `time`.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.flush();
            let arrivals = self.air.iter().filter_map(|air| air.front()).map(|(at, _)| *at);
            let timers = self.ends.iter().filter_map(|e| e.poll_timeout());
            let Some(next) = arrivals.chain(timers).min().filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            for side in 0..2 {
                while let Some((_, data)) = self.air[side].pop_front_if(|(at, _)| *at <= self.now) {
                    let input = Input::Datagrams {
                        tuple: self.tuples[side],
                        data: data.clone(),
                        segment_size: data.len(),
                    };
                    self.ends[side].handle_input(self.now, input);
                }
                if self.ends[side].poll_timeout().is_some_and(|at| at <= self.now) {
                    self.ends[side].handle_timeout(self.now);
                }
            }
        }
        self.now = end;
    }

    /// Sends one second of the stream.
    pub fn second(&mut self, payload: &Bytes) {
        let options = SendOptions { unordered: true, lifetime: Some(LATENCY), ..SendOptions::default() };
        for _ in 0..MESSAGES {
            self.ends[0].send(self.now, self.ids[0].unwrap(), payload.clone(), options).expect("room");
            self.run(INTERVAL);
        }
    }

    /// Returns the number of repair symbols sent so far, and of messages that the receiver computed from them.
    pub fn repairs(&self) -> (u64, u64) {
        let [sent, recovered] = [0, 1].map(|end| {
            let coding = self.ends[end].association(self.ids[end].unwrap()).unwrap().stats().coding;
            if end == 0 { coding.repairs_sent } else { coding.recovered }
        });
        (sent, recovered)
    }

    /// Returns the redundancy so far.
    pub fn redundancy(&self) -> Option<f64> {
        self.ends[0].association(self.ids[0].unwrap()).unwrap().stats().coding.redundancy()
    }
}

/// Returns the coding `Repair` with a redundancy of 5 %.
pub fn coding(code: RepairCode) -> Option<Coding> {
    Some(Coding::Repair(RepairCoding { code, redundancy: 0.05, when: RepairWhen::Late, window: 128 }))
}

/// Returns the payload of each message.
pub fn payload() -> Bytes {
    Bytes::from((0..MESSAGE).map(|i| (i * 7) as u8).collect::<Vec<_>>())
}
