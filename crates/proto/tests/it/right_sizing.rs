//! Peers that make a receive buffer grow, and peers that do not.

use std::sync::Arc;

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::rfc;
use strandcast_proto::wire::Chunk;
use strandcast_proto::wire::chunk::HeartbeatAck;
use strandcast_testing::raw::{OUR_TSN, RawPeer, data_with, first_sack, ms};

const START: usize = 64 << 10;
const LIMIT: usize = 4 << 20;
const LEN: usize = 1024;

fn growing() -> TransportConfig {
    TransportConfig {
        receive_buffer: START as u32,
        send_buffer: START,
        buffer_limit: Some(LIMIT),
        auth: false,
        ..TransportConfig::live()
    }
}

/// A sender of whole messages, `rtt` away: as many packets as arrive in that time, then the answers to the requests.
struct Source {
    l: RawPeer,
    next: u32,
    rtt: u64,
    /// If true, HEARTBEATs are answered.
    answers: bool,
    /// Requests during the last round.
    asked: Vec<Chunk>,
}

impl Source {
    fn new(l: RawPeer) -> Self {
        Source { l, next: 0, rtt: 100, answers: true, asked: Vec::new() }
    }

    /// Sends `packets` messages; the `skipped`th never arrives. Returns the last advertised window.
    fn round(&mut self, packets: u32, skipped: Option<u32>) -> Option<u32> {
        let asked = std::mem::take(&mut self.asked);
        let mut window = None;
        for i in 0..packets {
            let n = self.next;
            self.next += 1;
            if skipped == Some(i) {
                continue;
            }
            let mut chunks = vec![data_with(OUR_TSN.wrapping_add(n), n as u16, &[7; LEN], |_| {})];
            if i == 0 && self.answers {
                chunks.splice(0..0, asked.clone());
            }
            self.l.now += ms(self.rtt) / packets;
            let out = self.l.give(&chunks);
            self.l.messages.clear();
            window = first_sack(&out).map(|(_, sack)| sack.header.a_rwnd).or(window);
            let asks = out.iter().flat_map(|o| &o.chunks).filter_map(|c| match c {
                Chunk::Heartbeat(h) => Some(HeartbeatAck { info: h.info.clone() }.into()),
                _ => None,
            });
            self.asked.extend(asks);
        }
        self.l.association().assert_consistent();
        window
    }

    fn size(&self) -> usize {
        self.l.association().buffers().receive.size
    }
}

#[test]
fn the_window_follows_what_comes_in_a_round_trip() {
    let mut s = Source::new(RawPeer::accepted(growing(), Vec::new()));
    for packets in [10, 15, 20] {
        s.round(packets, None);
    }
    assert_eq!(s.size(), START, "20 KiB in a round trip need no more");
    // Slow start: the data of the next round fit the window that was advertised in this one.
    let mut offered = START as u32;
    for packets in [40, 80, 160, 320, 640, 1280] {
        assert!(offered >= packets * LEN as u32 / 2, "{offered} for {packets}");
        offered = s.round(packets, None).expect("a SACK");
    }
    for _ in 0..3 {
        s.round(1280, None);
    }
    let need = 2 * 1280 * LEN;
    assert!((need..=2 * need).contains(&s.size()), "{} for 1280 KiB in a round trip", s.size());
    // Nothing exceeds the limit.
    for _ in 0..10 {
        s.round(5000, None);
    }
    assert_eq!(s.size(), LIMIT);
}

#[test]
fn what_is_not_read_makes_nothing_grow() {
    let mut s = Source::new(RawPeer::accepted(growing(), Vec::new()));
    s.round(10, None);
    s.l.lazy = true;
    for _ in 0..20 {
        s.round(50, None);
    }
    assert_eq!(s.size(), START);
    assert!(s.l.association().buffers().receive.used <= 2 * START);
}

/// A peer that never fills its gap lets nothing be read, however much it sends.
#[test]
fn what_cannot_be_read_makes_nothing_grow() {
    let mut s = Source::new(RawPeer::accepted(growing(), Vec::new()));
    s.round(10, None);
    s.round(10, Some(0));
    for _ in 0..200 {
        s.round(200, None);
    }
    assert!(s.size() <= START + 2 * 20 * LEN, "{}: what was read earns twice as much", s.size());
    let heap = s.l.end.heap();
    assert!(heap <= 2 * s.size() + (640 << 10), "{heap} bytes");
}

/// Heartbeats unanswered: no peer has proven its address (RFC 9260 §5.4), and no round trip is known.
#[test]
fn without_an_answer_nothing_grows() {
    let mut s = Source::new(RawPeer::accepted(growing(), Vec::new()));
    s.answers = false;
    for _ in 0..50 {
        s.round(60, None);
    }
    assert_eq!(s.size(), START);
    s.answers = true;
    for _ in 0..50 {
        s.round(60, None);
    }
    assert!(s.size() > START, "it does once there is one");
}

#[test]
fn fixed_buffers_stay_and_ask_nothing() {
    let fixed = TransportConfig { buffer_limit: None, ..growing() };
    let mut s = Source::new(RawPeer::accepted(fixed, Vec::new()));
    for _ in 0..20 {
        s.round(60, None);
    }
    assert_eq!(s.size(), START);
    assert!(s.asked.is_empty(), "{:?}", s.asked);
}

/// RFC 9260 §6.2: an offered window stays offered; a buffer that is no longer needed shrinks as data are read.
#[test]
fn a_buffer_no_longer_needed_shrinks_without_taking_back_what_it_offered() {
    let mut s = Source::new(RawPeer::accepted(growing(), Vec::new()));
    for packets in [40, 80, 160, 320, 640, 1280] {
        s.round(packets, None);
    }
    let large = s.size();
    assert!(large > 2 << 20, "{large}");
    // A trickle, for a minute.
    let mut edge = 0;
    for _ in 0..600 {
        let window = s.round(10, None).expect("a SACK");
        let now = s.next as usize * LEN + window as usize;
        assert!(now >= edge, "the window's edge went back from {edge} to {now}");
        edge = now;
    }
    assert!(s.size() <= START + 20 * LEN, "{} is left of {large}", s.size());
    assert!(s.l.end.heap() < 64 << 10, "{} bytes are held", s.l.end.heap());
}

/// The memory of an endpoint bounds what all its associations together may offer and hold.
#[test]
fn growth_stays_within_the_memory_of_the_endpoint() {
    let config = |memory| EndpointConfig {
        transport: Arc::new(growing()),
        accept: Some(Arc::new(|_| Box::new(rfc::scheme()))),
        memory,
        ..EndpointConfig::default()
    };
    for memory in [4 << 20, 16 << 20, 256 << 20] {
        let mut l = RawPeer::with(config(memory));
        l.shake_hands(Vec::new());
        let mut s = Source::new(l);
        for packets in [60, 120, 240, 480, 960, 1920, 3000, 3000] {
            s.round(packets, None);
        }
        assert!(s.size() <= (memory / 4).max(START), "{} of {memory}", s.size());
        assert!(memory < 256 << 20 || s.size() == LIMIT, "{}", s.size());
        // It now holds as much as it can.
        s.round(1, Some(0));
        for _ in 0..5 {
            s.round(2000, None);
        }
        assert!(s.l.end.heap() <= memory, "{} of {memory}", s.l.end.heap());
    }
}

/// Messages with a lifetime leave by themselves: such a stream waits up to the limit, and no longer.
#[test]
fn a_live_stream_waits_as_long_as_its_messages_live() {
    let mut l = RawPeer::accepted(growing(), Vec::new());
    let id = l.id.expect("connected");
    let send = |l: &mut RawPeer, lifetime| {
        let options = SendOptions { lifetime, ..SendOptions::default() };
        l.end.send(l.now, id, vec![7; LEN].into(), options).is_ok()
    };
    // Nothing is acknowledged: 1 MB/s for ten seconds, each message for one.
    for _ in 0..10_000 {
        l.now += ms(1);
        assert!(send(&mut l, Some(ms(1000))), "it fits");
        l.end.handle_timeout(l.now);
        l.take();
    }
    let buffers = l.association().buffers();
    assert!((900 * LEN..1200 * LEN).contains(&buffers.send.used), "{buffers:?}");
    assert!(buffers.send.most_used < 1200 * LEN, "{buffers:?}");
    // Without a lifetime there is no room.
    assert!(!send(&mut l, None));
    // There is no room beyond the limit either.
    while send(&mut l, Some(ms(10_000))) {}
    let used = l.association().buffers().send.used;
    assert!((LIMIT - LEN..=LIMIT).contains(&used), "{used}");
}
