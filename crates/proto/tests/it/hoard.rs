//! Memory that hostile peers can make an endpoint hold: heap, counted by allocation.

use std::net::SocketAddr;
use std::sync::Arc;

use allocation_counter::measure;
use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AnswerRates, AssociationId, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_proto::wire::chunk::{Asconf, CookieEcho, DataHeader, Heartbeat, Init, UnknownChunk};
use strandcast_proto::wire::{Chunk, Packet, Param, StreamId};
use strandcast_testing::raw::{OUR_TSN, RawPeer, data_with, init, ms, packet, sack};

const GRANTED: u32 = 1 << 20;
const BOUND: u64 = 2 * GRANTED as u64 + (1 << 20);

fn victim() -> RawPeer {
    let mut l = RawPeer::accepted(
        TransportConfig { receive_buffer: GRANTED, auth: false, ..TransportConfig::default() },
        Vec::new(),
    );
    // This is the call of a driver whose own buffers are used up.
    l.end.copy_kept(true);
    l
}

/// The `n`th chunk of the attack, from 0: its TSN's offset, whether it is sent at all, and the chunk.
type Chunks = fn(u32) -> (u32, Chunk);

/// Sends `packets` packets of `each` chunks. Returns the maximum heap in bytes.
fn attack(l: &mut RawPeer, packets: u32, each: u32, chunk: Chunks) -> u64 {
    let mut give = |p: u32| {
        let chunks: Vec<Chunk> = (0..each)
            .map(|i| {
                let (offset, mut chunk) = chunk(p * each + i);
                if let Chunk::Data(d) = &mut chunk {
                    d.header.tsn += offset;
                }
                chunk
            })
            .collect();
        l.give(&chunks);
        l.messages.clear();
    };
    let most = measure(|| (0..packets).for_each(&mut give)).bytes_max;
    l.association().assert_consistent();
    most
}

fn ended(l: &RawPeer) -> Option<&str> {
    l.events.iter().find_map(|e| match e {
        Event::Closed(CloseReason::Protocol(words)) => Some(&words[..]),
        _ => None,
    })
}

/// Every stream sequence number except the first: all data wait forever.
#[test]
fn one_sequence_number_left_out() {
    let mut l = victim();
    let most = attack(&mut l, 20_000, 1, |n| (n, data_with(OUR_TSN, n as u16 + 1, &[7; 1344], |_| {})));
    assert!(most <= BOUND, "{most} bytes");
    assert!(ended(&l).is_some_and(|words| words.contains("no message in it can be read")), "{:?}", l.events);
}

/// Every stream sequence number except the first, with unordered messages between them that are read at once.
#[test]
fn one_sequence_number_left_out_and_unordered_messages_between() {
    let mut l = victim();
    let most = attack(&mut l, 20_000, 1, |n| {
        (n, data_with(OUR_TSN, n as u16 + 1, &[7; 1344], |h| h.unordered = n % 2 == 0))
    });
    assert!(most <= BOUND, "{most} bytes");
    assert!(ended(&l).is_some());
}

/// A message without end.
#[test]
fn a_message_that_never_ends() {
    let mut l = victim();
    let most = attack(&mut l, 20_000, 1, |n| {
        (n, data_with(OUR_TSN, 0, &[7; 1344], |h| (h.beginning, h.ending) = (n == 0, false)))
    });
    assert!(most <= BOUND, "{most} bytes");
    assert!(ended(&l).is_some());
}

/// Payloads of 256 bytes after a gap: the window admits them, and nothing is aborted.
#[test]
fn small_messages_behind_a_gap() {
    let mut l = victim();
    let most = attack(&mut l, 5000, 5, |n| (n + 1, data_with(OUR_TSN, n as u16 + 1, &[7; 256], |_| {})));
    assert!(most <= BOUND, "{most} bytes");
    assert_eq!(ended(&l), None);
    // The gap is closed: everything can be read.
    l.give(&[data_with(OUR_TSN, 0, &[7; 256], |_| {})]);
    assert!(l.messages.len() > 2000, "{}", l.messages.len());
}

/// Fragments of one byte, each separate from the others: only their bookkeeping takes memory.
#[test]
fn the_tiniest_fragments_apart_from_each_other() {
    let mut l = victim();
    let most = attack(&mut l, 800, 70, |n| {
        (2 * n + 1, data_with(OUR_TSN, n as u16, b"x", |h| (h.beginning, h.ending) = (false, false)))
    });
    assert!(most <= BOUND, "{most} bytes");
    assert_eq!(ended(&l), None);
}

/// An application that does not read.
#[test]
fn the_tiniest_messages_unread() {
    let mut l = victim();
    l.lazy = true;
    let most = attack(&mut l, 800, 70, |n| (n, data_with(OUR_TSN, n as u16, b"x", |_| {})));
    assert!(most <= BOUND, "{most} bytes");
    assert_eq!(ended(&l), None);
    l.lazy = false;
    l.take();
    assert!(l.messages.len() > 5000, "{}", l.messages.len());
}

/// An application that does not read, with a list of messages that is long before it is full.
#[test]
fn the_tiniest_messages_unread_in_a_large_buffer() {
    const LARGE: u32 = 4 << 20;
    let mut l = RawPeer::accepted(
        TransportConfig { receive_buffer: LARGE, auth: false, ..TransportConfig::default() },
        Vec::new(),
    );
    l.lazy = true;
    let most = attack(&mut l, 1200, 70, |n| (n, data_with(OUR_TSN, n as u16, b"x", |_| {})));
    assert!(most <= 2 * u64::from(LARGE) + (1 << 20), "{most} bytes");
    assert_eq!(ended(&l), None);
}

/// The next sequence number of each stream.
#[test]
fn sequence_numbers_of_many_streams_count() {
    let transport = TransportConfig {
        receive_buffer: 1 << 16,
        inbound_streams: u16::MAX,
        auth: false,
        ..TransportConfig::default()
    };
    let mut l = RawPeer::new(transport);
    let init = Init { outbound_streams: u16::MAX, ..init(Vec::new()) };
    let out = l.give_tagged(0, &[init.into()]);
    let Chunk::InitAck(ack) = &out[0].chunks[0] else { panic!("no INIT ACK: {out:?}") };
    let cookie = ack.state_cookie().expect("a cookie").clone();
    l.tag = ack.0.initiate_tag.0;
    l.give(&[CookieEcho { cookie }.into()]);
    let last = data_with(OUR_TSN, 0, b"x", |h| h.stream_id = StreamId(u16::MAX - 1));
    l.give(&[last]);
    assert_eq!(l.messages.len(), 1);
    let heap = l.end.heap();
    assert!(heap >= 8 * usize::from(u16::MAX), "{heap} bytes");
}

/// A message as long as the whole buffer is not an attack.
#[test]
fn a_message_that_fills_the_buffer_arrives() {
    let mut l = victim();
    let chunks = GRANTED / 1024;
    for n in 0..chunks {
        let ends = |h: &mut DataHeader| {
            (h.beginning, h.ending) = (n == 0, n == chunks - 1);
        };
        l.give(&[data_with(OUR_TSN + n, 0, &[7; 1024], ends)]);
    }
    assert_eq!(l.messages.iter().map(|m| m.payload.len()).sum::<usize>(), GRANTED as usize);
}

/// All chunks that request an answer, thousands in one packet each.
#[test]
fn answers_that_wait() {
    let mut l = victim();
    let ask = |n: u32| match n % 4 {
        0 => Chunk::Heartbeat(Heartbeat { info: vec![1; 8].into() }),
        1 => data_with(OUR_TSN, 0, b"x", |h| h.stream_id = StreamId(999)),
        2 => Chunk::Asconf(Asconf {
            serial: n,
            address: [192, 0, 2, 9].into(),
            params: vec![Param::Address([192, 0, 2, 9].into())],
        }),
        _ => Chunk::Unknown(UnknownChunk { chunk_type: 0xfe, flags: 0, body: vec![1; 4].into() }),
    };
    let bytes = packet(l.tag, &(0..2000).map(ask).collect::<Vec<_>>());
    let (now, tuple) = (l.now, l.tuple);
    // The driver's sockets are busy: nothing leaves.
    let most = measure(|| {
        for _ in 0..50 {
            let (data, segment_size) = (bytes.clone().into(), bytes.len());
            l.end.handle_input(now, Input::Datagrams { tuple, data, segment_size });
        }
    })
    .bytes_max;
    assert!(most <= 1 << 20, "{most} bytes");
    assert!(l.association().stats().answers_withheld > 0);
}

/// A peer that never acknowledges the data that it requested: the sender keeps no more than the send buffer holds.
#[test]
fn messages_nobody_acknowledges() {
    let mut l = victim();
    l.give(&[sack(l.tsn.wrapping_sub(1), 1 << 30, &[])]);
    let id = l.id.expect("connected");
    let payload = bytes::Bytes::from(vec![7; 64]);
    let most = measure(|| {
        while l.end.send(l.now, id, payload.clone(), SendOptions::default()).is_ok() {}
        l.run(ms(100));
    })
    .bytes_max;
    assert!(most <= 8 << 20, "{most} bytes for at most 16384 messages");
}

/// Many peers at once.
struct Crowd {
    now: Instant,
    end: Endpoint,
    /// Tag, path and association of each peer.
    peers: Vec<(u32, FourTuple, AssociationId)>,
    read: usize,
}

impl Crowd {
    fn new(memory: usize) -> Self {
        let transport =
            TransportConfig { receive_buffer: GRANTED, auth: false, ..TransportConfig::default() };
        let config = EndpointConfig {
            transport: Arc::new(transport),
            accept: Some(Arc::new(|_| Box::new(rfc::scheme()))),
            init_answers: AnswerRates { all: 1_000_000, prefix: 1_000_000, address: 1_000_000 },
            memory,
            ..EndpointConfig::default()
        };
        let end = Endpoint::new(config, &Seeds::new(7, 0));
        Crowd { now: Instant::from_millis(100_000), end, peers: Vec::new(), read: 0 }
    }

    /// Delivers a packet. Returns the first chunk of the output.
    fn give(&mut self, tuple: FourTuple, tag: u32, chunks: &[Chunk]) -> Option<Chunk> {
        let bytes = packet(tag, chunks);
        let segment_size = bytes.len();
        self.end.copy_kept(true);
        self.end.handle_input(self.now, Input::Datagrams { tuple, data: bytes.into(), segment_size });
        let (mut buf, mut first) = (Vec::new(), None);
        while let Some(t) = self.end.poll_output(self.now, &mut buf) {
            let packet = Packet::parse(bytes::Bytes::copy_from_slice(&buf[..t.segment_size.min(buf.len())]));
            first = first.or_else(|| Some(packet.ok()?.chunks().next()?.ok()?.1));
            buf.clear();
        }
        while let Some((id, event)) = self.end.poll_event() {
            if matches!(event, Event::Connected { .. }) {
                self.peers.push((0, tuple, id));
            }
            while let Some(m) = self.end.recv(id) {
                self.read += m.payload.len();
            }
        }
        first
    }

    /// Adds a peer. Returns false if it is refused.
    fn join(&mut self) -> bool {
        let n = self.peers.len() as u16;
        let remote = SocketAddr::from(([198, 51, 100, (n >> 8) as u8], 1024 + (n & 255)));
        let local = SocketAddr::from(([192, 0, 2, 1], 9899));
        let tuple = FourTuple { remote, local, ..FourTuple::loopback(1, 2) };
        let Some(Chunk::InitAck(ack)) = self.give(tuple, 0, &[init(Vec::new()).into()]) else { return false };
        let (tag, cookie) = (ack.0.initiate_tag.0, ack.state_cookie().expect("a cookie").clone());
        let before = self.peers.len();
        self.give(tuple, tag, &[CookieEcho { cookie }.into()]);
        if let Some(peer) = self.peers.get_mut(before) {
            peer.0 = tag;
        }
        self.peers.len() > before
    }

    fn data(&mut self, peer: usize, n: u32, ssn: u32) {
        let (tag, tuple, _) = self.peers[peer];
        self.give(tuple, tag, &[data_with(OUR_TSN + n, ssn as u16, &[7; 1344], |_| {})]);
    }
}

/// More peers than the memory can serve, each of which leaves a gap and fills its window: together they take the memory
/// that was granted to all of them, and a peer that arrived last and whose data are read continues.
#[test]
fn a_thousand_hoarders_and_one_that_is_read() {
    const MEMORY: usize = 128 << 20;
    let mut crowd = Crowd::new(MEMORY);
    let most = measure(|| {
        while crowd.peers.len() < 1023 {
            assert!(crowd.join(), "{} are in", crowd.peers.len());
            let hostile = crowd.peers.len() - 1;
            for n in 0..1600 {
                // The second half of them leaves no gap, but omits a stream sequence number.
                crowd.data(hostile, n + u32::from(hostile.is_multiple_of(2)), n + 1);
                if crowd.end.heap() > MEMORY {
                    break;
                }
            }
        }
        assert!(crowd.join());
        crowd.read = 0;
        for n in 0..200 {
            // Every second packet overtakes the one before.
            crowd.data(1023, n ^ 1, n ^ 1);
        }
        assert_eq!(crowd.read, 200 * 1344, "the last one is read");
        assert!(!crowd.join(), "there is no place left");
    })
    .bytes_max;
    assert!(most <= MEMORY as u64, "{most} bytes");
}
