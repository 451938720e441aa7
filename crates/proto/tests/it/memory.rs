//! Costs of an association: heap while it is idle, and allocations while it transfers.

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::Arc;

use allocation_counter::{AllocationInfo, measure};
use bytes::{Bytes, BytesMut};
use strandcast_proto::association::SendOptions;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

/// A message that fills a packet.
const FULL: usize = 1328;
const HEAP: i64 = 16 << 10;

/// Two endpoints and the memory between them, none of which is allocated once the transfer runs.
struct Pair {
    now: Instant,
    ends: [Endpoint; 2],
    ids: [Option<AssociationId>; 2],
    tuples: [FourTuple; 2],
    buf: Vec<u8>,
    /// Datagrams in flight share one of these with the messages still held. It is reused when all are gone.
    arenas: Vec<BytesMut>,
    /// Interval of lost datagrams with data; 0: none is lost.
    lose: u64,
    /// Application bytes received, by side.
    received: [usize; 2],
    packets: u64,
}

impl Pair {
    /// Two endpoints without an association.
    fn unconnected() -> Self {
        let seeds = Seeds::new(1, 0);
        let client = EndpointConfig::default();
        let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
        let accept = Some(accept);
        let server = EndpointConfig { accept, ..EndpointConfig::default() };
        let (a, b): (SocketAddr, SocketAddr) =
            ("10.0.0.1:9899".parse().expect("an address"), "10.0.0.2:9899".parse().expect("an address"));
        let tuple = |local, remote| FourTuple::new(LinkId(0), local, remote);
        Pair {
            now: Instant::from_millis(5000),
            ends: [Endpoint::new(client, &seeds.child("a")), Endpoint::new(server, &seeds.child("b"))],
            ids: [None; 2],
            tuples: [tuple(a, b), tuple(b, a)],
            buf: Vec::with_capacity(1 << 16),
            arenas: (0..8).map(|_| BytesMut::with_capacity(1 << 20)).collect(),
            lose: 0,
            received: [0; 2],
            packets: 0,
        }
    }

    fn connected() -> Self {
        let mut pair = Pair::unconnected();
        let scheme = Box::new(rfc::scheme());
        let connect = Connect { paths: vec![(pair.tuples[0], None)], port: 5000, scheme, transport: None };
        pair.ids[0] = Some(pair.ends[0].connect(pair.now, connect).expect("a free endpoint"));
        while pair.exchange() {}
        assert!(pair.ids[1].is_some(), "the server accepted");
        pair
    }

    /// Carries all pending packets of both sides; returns whether there were any.
    fn exchange(&mut self) -> bool {
        let mut any = false;
        for side in 0..2 {
            while let Some(t) = self.ends[side].poll_output(self.now, &mut self.buf) {
                any = true;
                self.now += Duration::from_micros(5);
                let (whole, segment_size) = (t.len, t.segment_size);
                let mut arenas = self.arenas.iter_mut();
                let arena = arenas.find_map(|a| a.try_reclaim(whole).then_some(a)).expect("a free arena");
                for datagram in self.buf.chunks(segment_size) {
                    self.packets += 1;
                    if self.lose == 0 || !self.packets.is_multiple_of(self.lose) {
                        arena.extend_from_slice(datagram);
                    }
                }
                self.buf.clear();
                let data = arena.split().freeze();
                let input = Input::Datagrams { tuple: self.tuples[1 - side], data, segment_size };
                self.ends[1 - side].handle_input(self.now, input);
                self.read(1 - side);
            }
            self.read(side);
        }
        any
    }

    fn read(&mut self, side: usize) {
        while let Some((id, _)) = self.ends[side].poll_event() {
            self.ids[side] = Some(id);
        }
        let Some(id) = self.ids[side] else { return };
        while let Some(m) = self.ends[side].recv(id) {
            self.received[side] += m.payload.len();
        }
    }

    /// Sends `messages` messages from `from` as fast as it takes them, until all arrived.
    fn transfer(&mut self, from: usize, payload: &Bytes, messages: usize) {
        let id = self.ids[from].expect("connected");
        let target = self.received[1 - from] + messages * payload.len();
        let mut left = messages;
        while self.received[1 - from] < target {
            while left > 0
                && self.ends[from].send(self.now, id, payload.clone(), SendOptions::default()).is_ok()
            {
                left -= 1;
            }
            if !self.exchange() {
                self.timeout();
            }
        }
    }

    fn timeout(&mut self) {
        self.now = self.ends.iter().filter_map(|e| e.poll_timeout()).min().expect("a timer runs");
        for end in &mut self.ends {
            end.handle_timeout(self.now);
        }
    }

    /// Lets time pass: data in flight are acknowledged, and heartbeats are exchanged.
    fn idle(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            while self.exchange() {}
            if !self.ends.iter().any(|e| e.poll_timeout().is_some_and(|t| t <= end)) {
                break;
            }
            self.timeout();
        }
        self.now = self.now.max(end);
    }

    /// Heap that each side's endpoint holds.
    fn heap(self) -> [i64; 2] {
        let Pair { ends: [a, b], .. } = self;
        [a, b].map(|end| -measure(|| drop(black_box(end))).bytes_current)
    }

    /// Heap that each side holds beyond what an endpoint without associations does.
    fn heap_of_association(self) -> [i64; 2] {
        let (bare, all) = (Pair::unconnected().heap(), self.heap());
        [all[0] - bare[0], all[1] - bare[1]]
    }
}

/// Allocations of `messages` messages after the same number of warm-up messages, and the packets of these messages.
fn count(pair: &mut Pair, size: usize, messages: usize) -> (AllocationInfo, u64) {
    let payload = Bytes::from(vec![7; size]);
    drop(payload.clone());
    pair.transfer(0, &payload, messages);
    let before = pair.packets;
    let counted = measure(|| pair.transfer(0, &payload, messages));
    (counted, pair.packets - before)
}

#[test]
fn a_new_association_takes_little() {
    let heap = Pair::connected().heap_of_association();
    assert!(heap.iter().all(|h| (1..HEAP).contains(h)), "{heap:?} bytes");
}

#[test]
fn what_a_transfer_needed_is_given_back() {
    let mut pair = Pair::connected();
    for size in [100, FULL, 5000] {
        let payload = Bytes::from(vec![7; size]);
        pair.transfer(0, &payload, 3000);
        pair.transfer(1, &payload, 3000);
    }
    pair.lose = 40;
    pair.transfer(0, &Bytes::from(vec![7; 5000]), 1000);
    pair.lose = 0;
    // Twice the heartbeat interval, so that a heartbeat found nothing to do.
    pair.idle(Duration::from_secs(70));
    let heap = pair.heap_of_association();
    assert!(heap.iter().all(|h| (1..HEAP).contains(h)), "{heap:?} bytes");
}

#[test]
fn packets_cost_no_allocation() {
    let (counted, packets) = count(&mut Pair::connected(), FULL, 20_000);
    assert!(packets > 20_000);
    assert_eq!(counted.count_total, 0, "{counted:?} for {packets} packets");
}

/// After 20 s or more a heartbeat leaves; idle room is then released and grows again.
#[test]
fn a_live_stream_costs_no_allocation_but_for_heartbeats() {
    let mut pair = Pair::connected();
    let payload = Bytes::from(vec![7; FULL]);
    drop(payload.clone());
    let frames = |pair: &mut Pair| {
        for _ in 0..500 {
            pair.transfer(0, &payload, 7);
            pair.idle(Duration::from_millis(40));
        }
    };
    frames(&mut pair);
    let counted = measure(|| frames(&mut pair));
    assert!(counted.count_total <= 20, "{counted:?}");
}

/// Small payloads are copied out of their datagram, which they would otherwise keep from being reused.
#[test]
fn a_small_message_costs_its_copy() {
    let (counted, packets) = count(&mut Pair::connected(), 100, 40_000);
    assert!(counted.count_total <= 40_000, "{counted:?} for {packets} packets");
}

/// The three are its list of pieces, which grows once, and its copy into one piece.
#[test]
fn a_message_of_several_chunks_costs_three_allocations() {
    let (counted, packets) = count(&mut Pair::connected(), 4 * FULL, 5000);
    assert!(counted.count_total <= 3 * 5000, "{counted:?} for {packets} packets");
}

/// The receiver's reordering queue is a tree, and the sender lists each transmission of a chunk sent again.
#[test]
fn a_lost_packet_costs_a_few_allocations() {
    let mut pair = Pair::connected();
    pair.lose = 97;
    let (counted, packets) = count(&mut pair, FULL, 20_000);
    assert!(counted.count_total <= 10 * packets / 97, "{counted:?} for {packets} packets");
}
