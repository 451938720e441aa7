//! Repair symbols of one byte, which cost more to decode than any others for their bytes, in an association that is not
//! played, during a running stream: nothing of the stream is lost.
#![cfg(target_os = "linux")]

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use strandcast_proto::association::Transmit;
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::policy::LinkId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time;
use strandcast_proto::wire::chunk::{CookieEcho, Data, DataHeader, Init};
use strandcast_proto::wire::{
    Chunk, Header, Packet, PacketWriter, Param, Ppid, Ssn, StreamId, Tsn, VerificationTag,
};
use strandcast_seal::{Access, ENVELOPE, Opened, Peer, Seal, SealConfig, Sealing, SecretKey};

use crate::common::home::Home;
use crate::common::{LONG, file, pairing, port, seconds};

/// The SCTP port of commands.
const PORT: u16 = 5000;
/// Source symbols of the window, and bytes of each, that the association announces.
const SOURCES: u16 = 340;
const LENGTH: u16 = 512;
/// Symbols in a packet.
const A_PACKET: u32 = 48;
/// Bytes of IP and UDP header of each datagram.
const HEADERS: usize = 28;
/// Latency of the stream, ms: on a busy machine a process may not run for a second.
const LATENCY: u32 = 1500;

/// Somebody who says anything in an association of its own, sealed or not.
struct Stranger {
    socket: UdpSocket,
    tuple: FourTuple,
    seal: Option<(Seal, SealId)>,
    begun: Instant,
    tag: VerificationTag,
    /// Bytes that left, and the highest TSN that the receiver has acknowledged.
    sent: usize,
    acknowledged: u32,
}

impl Stranger {
    fn new(to: SocketAddr, peer: Option<Peer>) -> Stranger {
        let socket = UdpSocket::bind("127.0.7.7:0").unwrap();
        socket.connect(to).unwrap();
        socket.set_nonblocking(true).unwrap();
        let tuple = FourTuple::new(LinkId(0), socket.local_addr().unwrap(), to);
        let seal = peer.map(|peer| {
            let seeds = Seeds::new(7, 7);
            let identity = SecretKey::generate(&mut seeds.stream("stranger"));
            let mut seal = Seal::new(SealConfig::new(identity, Access::default()), &seeds);
            let id = seal.connect(time::Instant::ZERO, peer);
            (seal, id)
        });
        let (begun, tag) = (Instant::now(), VerificationTag(0));
        Stranger { socket, tuple, seal, begun, tag, sent: 0, acknowledged: 0 }
    }

    fn now(&self) -> time::Instant {
        time::Instant::ZERO + self.begun.elapsed()
    }

    fn say(&mut self, chunks: &[Chunk]) {
        let header = Header { source_port: PORT, destination_port: PORT, verification_tag: self.tag };
        let mut packet = Vec::new();
        let mut writer = PacketWriter::new(&mut packet, header);
        chunks.iter().for_each(|chunk| assert!(writer.chunk(chunk)));
        let _ = writer.finish();
        let now = self.now();
        let Some((seal, id)) = &mut self.seal else { return self.leave(&packet) };
        let mut datagram = [&[0; ENVELOPE.front][..], &packet, &[0; ENVELOPE.back]].concat();
        let tuple = FourTuple { sealed: *id, ..self.tuple };
        let len = datagram.len();
        let transmit = Transmit { tuple, len, segment_size: len, fragment: false };
        if seal.seal(now, &transmit, &mut datagram) == Sealing::Sealed {
            self.leave(&datagram);
        }
        self.settle();
    }

    fn leave(&mut self, datagram: &[u8]) {
        // A buffer that is full loses a datagram as a network does.
        if self.socket.send(datagram).is_ok() {
            self.sent += datagram.len() + HEADERS;
        }
    }

    /// Sends the seal's output.
    fn settle(&mut self) {
        let now = self.now();
        let mut all = Vec::new();
        if let Some((seal, _)) = &mut self.seal {
            if seal.poll_timeout().is_some_and(|at| at <= now) {
                seal.handle_timeout(now);
            }
            let mut buffer = Vec::new();
            while seal.poll_output(now, &mut buffer).is_some() {
                all.push(std::mem::take(&mut buffer));
            }
            while seal.poll_event().is_some() {}
        }
        all.iter().for_each(|datagram| self.leave(datagram));
    }

    /// The chunks that came.
    fn hear(&mut self) -> Vec<Chunk> {
        let (mut chunks, mut buffer) = (Vec::new(), [0; 2048]);
        while let Ok(len) = self.socket.recv(&mut buffer) {
            let (now, bytes) = (self.now(), BytesMut::from(&buffer[..len]));
            let packets: Vec<Bytes> = match &mut self.seal {
                None => vec![bytes.freeze()],
                Some((seal, _)) => {
                    let mut opened = Vec::new();
                    seal.open(now, self.tuple, bytes, len, &mut opened);
                    let inside = |o: Opened| o.data.slice(ENVELOPE.front..o.data.len() - ENVELOPE.back);
                    opened.into_iter().map(inside).collect()
                }
            };
            let packets = packets.into_iter().filter_map(|p| Packet::authentic(p).ok());
            chunks.extend(packets.flat_map(|p| p.chunks().flatten().map(|(_, c)| c).collect::<Vec<_>>()));
            self.settle();
        }
        for chunk in &chunks {
            if let Chunk::Sack(sack) = chunk {
                self.acknowledged = self.acknowledged.max(sack.header.cumulative_tsn_ack.0);
            }
        }
        chunks
    }

    /// Says this until `found` is among what comes.
    fn ask<T>(&mut self, chunks: &[Chunk], found: impl Fn(&Chunk) -> Option<T>) -> T {
        let begun = Instant::now();
        while begun.elapsed() < LONG {
            self.say(chunks);
            for _ in 0..50 {
                std::thread::sleep(Duration::from_millis(10));
                self.settle();
                if let Some(found) = self.hear().iter().find_map(&found) {
                    return found;
                }
            }
        }
        panic!("no answer to {chunks:?}");
    }

    /// Opens an association that announces a sliding window of repair symbols.
    fn connect(&mut self) {
        let ([a, b], [c, d]) = (SOURCES.to_be_bytes(), LENGTH.to_be_bytes());
        let params = vec![
            Param::ForwardTsnSupported,
            Param::Random(Bytes::from_static(&[7; 32])),
            Param::HmacAlgo([3u16].into_iter().collect()),
            Param::SupportedExtensions(Bytes::from_static(&[0xc0, 0x0f, 0xb1])),
            Param::Coding(Bytes::copy_from_slice(&[1, 3, a, b, c, d])),
        ];
        let init = Init {
            initiate_tag: VerificationTag(0x0a0b_0c0d),
            a_rwnd: 100_000,
            outbound_streams: 10,
            inbound_streams: 10,
            initial_tsn: Tsn(1),
            params,
        };
        let (tag, cookie) = self.ask(&[init.into()], |chunk| match chunk {
            Chunk::InitAck(ack) => {
                let coding = ack.0.params.iter().any(|p| matches!(p, Param::Coding(_)));
                assert!(coding, "symbols are read here");
                Some((ack.0.initiate_tag, ack.state_cookie()?.clone()))
            }
            _ => None,
        });
        self.tag = tag;
        self.ask(&[CookieEcho { cookie }.into()], |chunk| matches!(chunk, Chunk::CookieAck(_)).then_some(()));
    }

    /// Sends repair symbols, each of one byte and of a window of its own, at `rate` bits per second until `done`.
    fn flood(&mut self, rate: f64, done: impl Fn() -> bool) {
        let (begun, mut n) = (Instant::now(), 0);
        self.sent = 0;
        while !done() {
            while (self.sent * 8) as f64 <= rate * begun.elapsed().as_secs_f64() {
                let chunks: Vec<Chunk> = (n..n + A_PACKET).map(symbol).collect();
                n += A_PACKET;
                self.say(&chunks);
            }
            std::thread::sleep(Duration::from_millis(5));
            self.hear();
        }
        let (bits, lasted) = ((self.sent * 8) as f64, begun.elapsed().as_secs_f64());
        assert!(bits / lasted > 0.8 * rate, "{} bit/s of {rate}", bits / lasted);
        assert!(self.acknowledged > n / 2, "{} of {n} symbols came in", self.acknowledged);
    }
}

/// Repair symbol `n`, new, of sources that never come.
fn symbol(n: u32) -> Chunk {
    let first = n / u32::from(SOURCES - 1) * u32::from(SOURCES);
    let kind = (6 << 12 | SOURCES).to_be_bytes();
    let seed = (15 << 16 | (n & 0xffff)).to_be_bytes();
    let payload = [&kind[..], &first.to_be_bytes(), &seed, &[n as u8 | 1]].concat();
    let header = DataHeader {
        tsn: Tsn(1 + n),
        stream_id: StreamId(0),
        ssn: Ssn(0),
        ppid: Ppid(0),
        immediate: false,
        unordered: true,
        beginning: true,
        ending: true,
    };
    Data { header, payload: payload.into() }.into()
}

/// Plays `length` seconds during a flood of `mbps` Mbit/s. Prints a row of a table.
fn beside(sealed: bool, mbps: f64, length: usize) {
    let name = format!("repair-{sealed}-{mbps}");
    let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
    let (port, out) = (port(), file(&format!("{name}.ts")));
    let (place, plain) = (format!("127.0.0.1:{port}"), if sealed { "" } else { "--plain" });
    let text = studio.pairing(&place, "");
    van.reads("key add studio", &text).succeeds();
    let receiver = studio.start(&format!("receive {place} {} --json {plain}", out.display()));
    receiver.says("listening");
    let (input, bytes) = seconds(length, &format!("{name}-in.ts"));
    let to = if sealed { "@studio" } else { &place };
    let mut sender = van.start(&format!("send {} {to} --latency {LATENCY} --json {plain}", input.display()));
    receiver.until("data", || std::fs::metadata(&out).is_ok_and(|m| m.len() > 20_000));
    let mut stranger =
        Stranger::new(SocketAddr::from(([127, 0, 0, 1], port)), sealed.then(|| pairing::peer(&text)));
    stranger.connect();
    let before = processor_time(receiver.id());
    let begun = Instant::now();
    let over = std::cell::Cell::new(false);
    let sender_over = std::cell::RefCell::new(&mut sender);
    stranger.flood(mbps * 1e6, || {
        over.set(over.get() || sender_over.borrow_mut().is_over());
        over.get()
    });
    let (lasted, took) = (begun.elapsed(), processor_time(receiver.id()) - before);
    let sender = sender.end();
    sender.succeeds();
    receiver.until("its end", || receiver.said().contains("played "));
    receiver.signal(nix::sys::signal::Signal::SIGTERM);
    let receiver = receiver.end();
    let (sent, got) = (sender.json(), receiver.json());
    println!(
        "| {} | {mbps} | {:.0} s | {} | {} | {} | {:.0} % |",
        if sealed { "sealed" } else { "plain" },
        lasted.as_secs_f64(),
        got["played"],
        got["lost"],
        got["late"],
        100.0 * took.as_secs_f64() / lasted.as_secs_f64(),
    );
    assert!(std::fs::read(&out).unwrap() == bytes, "{name}: {got}");
    assert_eq!(
        (&got["lost"], &got["late"], &sent["reconnects"]),
        (&0.into(), &0.into(), &0.into()),
        "{name}"
    );
}

/// Processor time of a process until now.
fn processor_time(id: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let behind_name = stat.rsplit(')').next().unwrap();
    let ticks: u64 = behind_name.split_whitespace().skip(11).take(2).map(|t| t.parse::<u64>().unwrap()).sum();
    // 100 per second, whatever the kernel counts in (time(7)).
    Duration::from_millis(ticks * 10)
}

#[test]
fn repair_symbols_of_a_stranger_or_a_second_sender_lose_nothing_of_a_stream() {
    for sealed in [false, true] {
        beside(sealed, 1.0, 6);
    }
}

mod thorough {
    use super::*;

    #[test]
    fn floods_of_repair_symbols_of_any_rate_lose_nothing() {
        for sealed in [false, true] {
            for mbps in [0.1, 0.5, 1.0, 2.0, 5.0] {
                beside(sealed, mbps, 12);
            }
        }
    }
}
