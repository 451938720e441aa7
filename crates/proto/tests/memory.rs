//! What associations hold and what packets cost: counted at the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

/// Counts the calls and bytes of its thread.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

fn count(calls: u64, bytes: i64) {
    // A thread that ends may free after its counters are gone.
    let _ = CALLS.try_with(|c| c.set(c.get() + calls));
    let _ = HELD.try_with(|h| h.set(h.get() + bytes));
}

// SAFETY: everything is handed to the system's allocator unchanged.
#[allow(unsafe_code, reason = "an allocator is unsafe by its nature")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as i64 - layout.size() as i64);
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn calls() -> u64 {
    CALLS.with(Cell::get)
}

fn held() -> i64 {
    HELD.with(Cell::get)
}

const BUFFERS: usize = 256;
const BUFFER: usize = 64 * 1024;

/// Two endpoints whose packets travel 5 ms, in arrays that are there from the beginning.
struct Pair {
    now: Instant,
    ends: [Endpoint; 2],
    ids: [AssociationId; 2],
    tuples: [FourTuple; 2],
    /// (when, where to, datagrams, size of each).
    flying: VecDeque<(Instant, usize, Bytes, usize)>,
    buf: Vec<u8>,
    /// Memory for datagrams under way, each used again once it is read.
    arena: VecDeque<BytesMut>,
    packets: u64,
    received: u64,
}

impl Pair {
    fn new() -> Self {
        let transport = Arc::new(TransportConfig::default());
        let config =
            |accept| EndpointConfig { transport: Arc::clone(&transport), accept, ..Default::default() };
        let seeds = Seeds::new(1, 0);
        let (a, b) = (SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 2)));
        let tuple = |local, remote| FourTuple { link: LinkId(0), local, remote };
        let mut ends = [
            Endpoint::new(config(None), &seeds.child("a")),
            Endpoint::new(config(Some(Arc::new(|_| Box::new(rfc::scheme())))), &seeds.child("b")),
        ];
        let now = Instant::from_millis(10_000);
        let (paths, scheme) = (vec![(tuple(a, b), None)], Box::new(rfc::scheme()));
        let id = ends[0].connect(now, Connect { paths, port: 5000, scheme, transport: None }).expect("free");
        let mut pair = Pair {
            now,
            ends,
            ids: [id; 2],
            tuples: [tuple(a, b), tuple(b, a)],
            flying: VecDeque::with_capacity(1024),
            buf: Vec::with_capacity(64 * 1024),
            arena: (0..BUFFERS).map(|_| BytesMut::with_capacity(BUFFER)).collect(),
            packets: 0,
            received: 0,
        };
        pair.run(Duration::from_millis(500));
        pair
    }

    /// Takes all output and events.
    fn pump(&mut self) {
        for side in 0..2 {
            self.buf.clear();
            while let Some(t) = self.ends[side].poll_output(self.now, &mut self.buf) {
                let mut room = self.arena.pop_front().expect("they go round");
                assert!(room.try_reclaim(t.len), "all buffers are under way");
                room.extend_from_slice(&self.buf);
                let data = room.split().freeze();
                self.arena.push_back(room);
                self.packets += self.buf.len().div_ceil(t.segment_size) as u64;
                let at = self.now + Duration::from_millis(5);
                self.flying.push_back((at, 1 - side, data, t.segment_size));
                self.buf.clear();
            }
            while let Some((id, _)) = self.ends[side].poll_event() {
                self.ids[side] = id;
            }
            while let Some(m) = self.ends[side].recv(self.ids[side]) {
                self.received += m.payload.len() as u64;
            }
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        self.pump();
        loop {
            let arrival = self.flying.front().map(|f| f.0);
            let timers = [self.ends[0].poll_timeout(), self.ends[1].poll_timeout()];
            let next = arrival.into_iter().chain(timers.into_iter().flatten()).min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            if arrival == Some(at) {
                let (_, to, data, segment_size) = self.flying.pop_front().expect("an arrival");
                let tuple = self.tuples[to];
                self.ends[to].handle_input(self.now, Input::Datagrams { tuple, data, segment_size });
            } else {
                for e in &mut self.ends {
                    e.handle_timeout(self.now);
                }
            }
            self.pump();
        }
        self.now = end;
    }

    /// `messages` messages each 10 ms for `time`.
    fn stream(&mut self, time: Duration, messages: usize, payload: &Bytes) {
        let end = self.now + time;
        while self.now < end {
            for _ in 0..messages {
                let sent = self.ends[0].send(self.now, self.ids[0], payload.clone(), SendOptions::default());
                sent.expect("room");
            }
            self.run(Duration::from_millis(10));
        }
    }
}

/// One path, nothing queued: what the two sides of one association add to their endpoints.
#[test]
fn an_idle_association_holds_less_than_16_kib() {
    let before = held();
    let mut pair = Pair::new();
    let payload = Bytes::from(vec![7; 1000]);
    pair.stream(Duration::from_millis(2000), 20, &payload);
    pair.run(Duration::from_millis(1000));
    let pair_held = held() - before;
    let [a, b] = &mut pair.ends;
    a.release(pair.ids[0]);
    b.release(pair.ids[1]);
    let each = (pair_held - (held() - before)) / 2;
    assert!(each < 16 * 1024, "{each} bytes an association");
    assert!(each > 1024, "{each}: something is counted wrongly");
}

/// Whole packets: nothing is allocated for a packet once queues have found their size.
fn allocations_per_packet(message: usize, each_10_ms: usize) -> f64 {
    let mut pair = Pair::new();
    let payload = Bytes::from(vec![7; message]);
    // A `Bytes` made of a `Vec` counts references in a heap cell from its first clone on.
    drop(payload.clone());
    pair.stream(Duration::from_millis(3000), each_10_ms, &payload);
    let (calls_before, packets_before, received_before) = (calls(), pair.packets, pair.received);
    pair.stream(Duration::from_millis(3000), each_10_ms, &payload);
    let (calls, packets) = (calls() - calls_before, pair.packets - packets_before);
    let received = pair.received - received_before;
    assert!(received > 250 * (message * each_10_ms) as u64, "{received} bytes arrived");
    assert!(packets > 300, "{packets}");
    eprintln!("{message} bytes, {each_10_ms} each 10 ms: {calls} allocations for {packets} packets");
    calls as f64 / packets as f64
}

#[test]
fn a_packet_in_steady_state_allocates_nothing() {
    for (message, each_10_ms) in [(1300, 20), (1300, 1), (300, 40)] {
        let per_packet = allocations_per_packet(message, each_10_ms);
        // A heartbeat now and then and the arena's own bookkeeping remain.
        assert!(per_packet < 0.01, "{message}: {per_packet} allocations a packet");
    }
}
