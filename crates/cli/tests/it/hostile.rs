//! The memory of a receiver under attack: scripted peers over loopback against the built command.
#![cfg(target_os = "linux")]

use std::net::UdpSocket;
use std::time::Duration;

use bytes::Bytes;
use strandcast_proto::wire::chunk::{CookieEcho, Data, DataHeader, Init};
use strandcast_proto::wire::{
    Chunk, Header, Packet, PacketWriter, Ppid, Ssn, StreamId, Tsn, VerificationTag,
};

use crate::common;
use crate::common::{Running, port, start};

const TSN: u32 = 1000;
/// Memory of the process without peers, plus receive buffers: 8 MiB of arenas, and inboxes.
const BASE: u64 = 24 << 20;

/// A peer of a receiver.
struct Peer {
    socket: UdpSocket,
    tag: u32,
    /// The last cumulative TSN acknowledged.
    cum: u32,
    aborted: bool,
}

impl Peer {
    fn new(port: u16) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(("127.0.0.1", port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        Peer { socket, tag: 0, cum: TSN - 1, aborted: false }
    }

    /// Performs the handshake; false without an answer.
    fn connect(&mut self) -> bool {
        let init = Init {
            initiate_tag: VerificationTag(7),
            a_rwnd: 1 << 20,
            outbound_streams: 2,
            inbound_streams: 2,
            initial_tsn: Tsn(TSN),
            params: Vec::new(),
        };
        for _ in 0..10 {
            self.give_tagged(0, &[init.clone().into()]);
            let Some(Chunk::InitAck(ack)) = self.hear() else { continue };
            self.tag = ack.0.initiate_tag.0;
            let cookie = ack.state_cookie().unwrap().clone();
            self.give(&[CookieEcho { cookie }.into()]);
            return matches!(self.hear(), Some(Chunk::CookieAck(_)));
        }
        false
    }

    fn give(&self, chunks: &[Chunk]) {
        self.give_tagged(self.tag, chunks);
    }

    fn give_tagged(&self, tag: u32, chunks: &[Chunk]) {
        let mut bytes = Vec::new();
        let tag = VerificationTag(tag);
        let header = Header { source_port: 5000, destination_port: 5000, verification_tag: tag };
        let mut w = PacketWriter::new(&mut bytes, header);
        for chunk in chunks {
            assert!(w.chunk(chunk), "it fits");
        }
        w.finish();
        let _ = self.socket.send(&bytes);
    }

    /// The first chunk of the next packet.
    fn hear(&mut self) -> Option<Chunk> {
        let mut buffer = [0; 4096];
        let len = self.socket.recv(&mut buffer).ok()?;
        let packet = Packet::parse(Bytes::copy_from_slice(&buffer[..len])).ok()?;
        let chunk = packet.chunks().next()?.ok()?.1;
        match &chunk {
            Chunk::Sack(sack) => self.cum = sack.header.cumulative_tsn_ack.0,
            Chunk::Abort(_) => self.aborted = true,
            _ => {}
        }
        Some(chunk)
    }

    /// Sends `packets` in order with retransmissions until the peer gives up.
    fn insist(&mut self, packets: u32, data: impl Fn(u32) -> Chunk) {
        let end = TSN + packets;
        let mut waits = 0;
        while self.cum + 1 < end && !self.aborted && waits < 10 {
            let from = self.cum + 1;
            for tsn in from..end.min(from + 40) {
                self.give(&[data(tsn - TSN)]);
            }
            while self.cum + 1 < end.min(from + 40) && !self.aborted {
                if self.hear().is_none() {
                    break;
                }
            }
            waits = if self.cum + 1 == from { waits + 1 } else { 0 };
        }
    }
}

fn data(n: u32, ssn: u32, len: usize, unordered: bool) -> Chunk {
    let header = DataHeader {
        tsn: Tsn(TSN + n),
        stream_id: StreamId(1),
        ssn: Ssn(ssn as u16),
        ppid: Ppid(0),
        immediate: false,
        unordered,
        beginning: true,
        ending: true,
    };
    Data { header, payload: vec![7; len].into() }.into()
}

fn receiver(options: &str) -> (Running, u16) {
    let port = port();
    let running = start(&format!("receive 127.0.0.1:{port} - {options}"));
    running.says("listening");
    (running, port)
}

/// 60 MB of ordered messages without the first one, mixed with unordered ones.
#[test]
fn messages_out_of_order() {
    let (receiver, port) = receiver("");
    let mut peer = Peer::new(port);
    assert!(peer.connect());
    peer.insist(45_000, |n| data(n, n + 1, 1344, n % 7 == 0));
    assert!(peer.aborted, "{} taken", peer.cum - TSN);
    let peak = receiver.peak();
    eprintln!("peak: {peak} bytes");
    assert!(peak < BASE + (3 << 20), "{peak} bytes");
}

/// Payloads of 256 bytes after a gap, each in a buffer filled with datagrams that are dropped.
#[test]
fn small_payloads_after_a_gap() {
    let (receiver, port) = receiver("");
    let mut peer = Peer::new(port);
    assert!(peer.connect());
    let junk = vec![0; 60_000];
    for n in 0..500 {
        peer.give(&[data(n + 1, n + 1, 256, false)]);
        for _ in 0..5 {
            let _ = peer.socket.send(&junk);
        }
        peer.hear();
    }
    let peak = receiver.peak();
    eprintln!("peak: {peak} bytes");
    assert!(peak < BASE + (3 << 20), "{peak} bytes");
}

/// Opens as many associations as are accepted, up to 1024, each of which fills its window after a gap; returns their
/// number.
fn hoarders(options: &str, most: u64) -> usize {
    let (receiver, port) = receiver(options);
    let mut peers = Vec::new();
    for _ in 0..1024 {
        let mut peer = Peer::new(port);
        peer.socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        if !peer.connect() {
            break;
        }
        for n in 0..1000 {
            peer.give(&[data(n + 1, n + 1, 1344, false)]);
            if n % 40 == 39 {
                peer.hear();
            }
        }
        peers.push(peer);
    }
    let peak = receiver.peak();
    eprintln!("peak: {peak} bytes with {} associations", peers.len());
    assert!(peak < most, "{peak} bytes with {} associations", peers.len());
    peers.len()
}

#[test]
fn a_thousand_hostile_associations_together() {
    assert_eq!(hoarders("", 256 << 20), 1024);
}

#[test]
fn fewer_are_accepted_with_less_memory() {
    assert!((100..1024).contains(&hoarders("--memory 64MiB", 64 << 20)));
}

#[test]
fn memory_has_a_minimum_and_units() {
    common::run("receive - --memory 1MiB").fails(2, &["--memory", "32MiB is the least"]);
    common::run("perf server --memory lots").fails(2, &["--memory", "256MiB"]);
}
