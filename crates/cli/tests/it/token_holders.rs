//! Holders of one pairing string that open as many sessions as they can, use as many paths of each as there are, and name key
//! generations ahead on all of them: memory stays within `--memory`.
#![cfg(target_os = "linux")]

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use strandcast_proto::association::Transmit;
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::policy::LinkId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time;
use strandcast_proto::wire::chunk::{CookieEcho, Init};
use strandcast_proto::wire::{Chunk, Header, PacketWriter, Tsn, VerificationTag};
use strandcast_seal::{Access, ENVELOPE, Peer, Seal, SealConfig, SecretKey};

use crate::common::home::Home;
use crate::common::{pairing, port};

/// Sessions that are tried, and of one key.
const SESSIONS: usize = 1100;
const OF_KEY: usize = 8;
/// Paths of each that are used before a new handshake is due, and generations ahead of each that are named.
const PATHS: u32 = 24;
const AHEAD: u32 = 4;
/// New sessions per second: below what makes a receiver ask for cookies.
const A_SECOND: u32 = 90;
/// Memory of a receiver in addition to its sessions, which get an eighth of `--memory`: arenas of datagrams, tables of
/// handshakes.
const BESIDE: u64 = 24 << 20;

/// A key, and the sessions that were begun with it.
struct Holder {
    seal: Seal,
    socket: UdpSocket,
    to: SocketAddr,
    sessions: Vec<SealId>,
}

impl Holder {
    fn new(n: usize, to: SocketAddr) -> Holder {
        let seeds = Seeds::new(n as u64, 9);
        let identity = SecretKey::generate(&mut seeds.stream("holder"));
        let seal = Seal::new(SealConfig::new(identity, Access::default()), &seeds);
        let socket = UdpSocket::bind("127.0.8.8:0").unwrap();
        socket.connect(to).unwrap();
        socket.set_nonblocking(true).unwrap();
        Holder { seal, socket, to, sessions: Vec::new() }
    }

    /// Asks for a session: the answer rides in it, and no association follows.
    fn begin(&mut self, now: time::Instant, peer: Peer) {
        let session = self.seal.connect(now, peer);
        self.sessions.push(session);
        let init = Init {
            initiate_tag: VerificationTag(7),
            a_rwnd: 100_000,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            params: Vec::new(),
        };
        self.say(now, session, 0, (VerificationTag(0), init.into()));
    }

    /// Something that opens no association; the datagram, if one left.
    fn junk(&mut self, now: time::Instant, session: SealId, path: u32) -> Option<Vec<u8>> {
        let junk = CookieEcho { cookie: vec![7; 40].into() };
        self.say(now, session, path, (VerificationTag(1), junk.into()))
    }

    /// Something in a session, on one of its paths; the datagram, if one left.
    fn say(
        &mut self,
        now: time::Instant,
        session: SealId,
        path: u32,
        (verification_tag, chunk): (VerificationTag, Chunk),
    ) -> Option<Vec<u8>> {
        let header = Header { source_port: 5000, destination_port: 5000, verification_tag };
        let mut packet = Vec::new();
        let mut writer = PacketWriter::new(&mut packet, header);
        assert!(writer.chunk(&chunk));
        let _ = writer.finish();
        let mut datagram = [&[0; ENVELOPE.front][..], &packet, &[0; ENVELOPE.back]].concat();
        let local = SocketAddr::from(([127, 0, 8, 8], 1 + path as u16));
        let tuple = FourTuple { sealed: session, ..FourTuple::new(LinkId(path), local, self.to) };
        let len = datagram.len();
        let transmit = Transmit { tuple, len, segment_size: len, fragment: false };
        let sealed = self.seal.seal(now, &transmit, &mut datagram) == strandcast_seal::Sealing::Sealed;
        if sealed {
            let _ = self.socket.send(&datagram);
        }
        self.settle(now);
        sealed.then_some(datagram)
    }

    fn settle(&mut self, now: time::Instant) {
        let mut buffer = Vec::new();
        while self.seal.poll_output(now, &mut buffer).is_some() {
            let _ = self.socket.send(&buffer);
            buffer.clear();
        }
        while self.seal.poll_event().is_some() {}
    }

    fn hear(&mut self, now: time::Instant) {
        let mut buffer = [0; 2048];
        while let Ok(len) = self.socket.recv(&mut buffer) {
            let local = SocketAddr::from(([127, 0, 8, 8], 1));
            let tuple = FourTuple::new(LinkId(0), local, self.to);
            self.seal.open(now, tuple, BytesMut::from(&buffer[..len]), len, &mut Vec::new());
            self.settle(now);
        }
    }
}

mod thorough {
    use super::*;

    #[test]
    fn sessions_of_nothing_take_no_more_than_their_share_of_the_memory() {
        let (studio, port) = (Home::new("holders-studio"), port());
        let peer: Peer = pairing::peer(&studio.pairing(&format!("127.0.0.1:{port}"), ""));
        let receiver = studio.start(&format!("receive 127.0.0.1:{port} /dev/null --memory 256MiB"));
        receiver.says("listening");
        let (to, begun) = (SocketAddr::from(([127, 0, 0, 1], port)), Instant::now());
        let now = || time::Instant::from_millis(1000) + begun.elapsed();
        let mut holders: Vec<Holder> = (0..SESSIONS.div_ceil(OF_KEY)).map(|n| Holder::new(n, to)).collect();
        let first = receiver.resident();
        for n in 0..SESSIONS {
            let holder = &mut holders[n / OF_KEY];
            holder.begin(now(), peer.clone());
            std::thread::sleep(Duration::from_secs(1) / A_SECOND);
            for holder in &mut holders[(n / OF_KEY).saturating_sub(1)..=n / OF_KEY] {
                holder.hear(now());
                // The first datagram under its keys opens a session.
                holder.sessions.clone().into_iter().for_each(|session| drop(holder.junk(now(), session, 0)));
            }
        }
        let (opened, mut used) = (receiver.resident(), 0);
        for holder in &mut holders {
            for session in holder.sessions.clone() {
                for path in 0..PATHS {
                    let Some(datagram) = holder.junk(now(), session, path) else { continue };
                    used += 1;
                    let number = u32::from_be_bytes(datagram[9..13].try_into().unwrap());
                    for ahead in 1..=AHEAD {
                        let mut forged = datagram.clone();
                        forged[9..13].copy_from_slice(&(number + (ahead << 22)).to_be_bytes());
                        let _ = holder.socket.send(&forged);
                    }
                }
                holder.hear(now());
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        std::thread::sleep(Duration::from_millis(500));
        let last = receiver.resident();
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!(
            "{:.1} MiB at first, {:.1} with {SESSIONS} sessions tried, {:.1} with {used} paths used: {:.0} s",
            mib(first),
            mib(opened),
            mib(last),
            begun.elapsed().as_secs_f64()
        );
        assert!(used > 1000, "{used} paths are not an attack");
        assert!(last - first < (256 << 20) / 8 + BESIDE, "{:.1} MiB more", mib(last - first));
        receiver.signal(nix::sys::signal::Signal::SIGTERM);
        receiver.end().succeeds();
    }
}
