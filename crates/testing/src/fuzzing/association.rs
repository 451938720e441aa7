//! An established association, and a peer that sends arbitrary chunks.

use core::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_coding::symbol::Header;
use strandcast_proto::association::{Association, SendOptions};
use strandcast_proto::coding::Coding;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{Importance, LinkId, PathId};
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::{auth, data, forward_tsn, i_data, sack, shutdown};
use strandcast_proto::wire::packet::HEADER_LEN;
use strandcast_proto::wire::padded;

use super::packet::seal;
use super::script::{LONGEST, STUCK, Script};
use super::{acting, coded, work};

const PEER: usize = 0;
const VICTIM: usize = 1;

/// Time at which a script begins.
const START: Instant = Instant::from_millis(10_000);
/// Maximum number of packets sent at one time.
const MOST_PACKETS: usize = 20_000;

struct Harness<'a> {
    script: Script<'a>,
    now: Instant,
    ends: [Endpoint; 2],
    ids: [AssociationId; 2],
    codes: bool,
    /// TSN of the next symbol, counted from 0.
    symbols: u32,
}

/// Runs `data` as a script. The peer sends chunks in packets with the right tag and checksum (TSNs count from the
/// initial TSNs). The packets come from known and unknown addresses, and are signed or not. In between, time passes,
/// the application acts, and packets of the real peer arrive. Counters must agree, queues must stay within their
/// bounds, and the cost of a packet must be proportional to its length.
pub fn association(data: &[u8]) {
    play(Script(data), [None, None]);
}

/// Runs `data` with coding. A byte at its beginning selects the coding of the peer and the victim. The chunks then
/// include symbols: of any bytes, or of an honest sender.
pub fn coded_association(data: &[u8]) {
    let mut script = Script(data);
    let codings = [script.u8(), script.u8()].map(coded::coding);
    play(script, codings);
}

fn play(script: Script<'_>, codings: [Option<Coding>; 2]) {
    if script.0.len() > LONGEST {
        return;
    }
    let Some(mut harness) = Harness::established(script, codings) else { return };
    while !harness.script.is_empty() {
        harness.act();
        harness.drain(false);
    }
}

/// Returns the 4-tuple of the peer, or another one, as the victim sees it.
fn tuple(kind: u8) -> FourTuple {
    let (ip, port, link) = match kind % 8 {
        0..=3 => ([10, 0, 0, 1], 9899, 0),
        4 => ([10, 0, 0, 1], 9900, 0),
        5 => ([10, 0, 0, 1], 9899, 1),
        _ => ([10, 0, 1, kind], 9899, 0),
    };
    let local = SocketAddr::from(([10, 0, 0, 2], 9899));
    FourTuple::new(LinkId(link), local, SocketAddr::from((ip, port)))
}

impl<'a> Harness<'a> {
    /// Runs a script after the handshake. The first byte of the script selects the configuration.
    fn established(mut script: Script<'a>, codings: [Option<Coding>; 2]) -> Option<Self> {
        let kind = script.u8();
        let codes = codings != [None, None];
        let make = |coding| TransportConfig {
            strict_rfc: kind & 1 > 0,
            partial_reliability: kind & 2 == 0,
            auth: kind & 4 == 0,
            pf_max_retrans: (kind & 8 > 0).then_some(0),
            receive_buffer: if kind & 16 > 0 { 1 << 11 } else { 1 << 16 },
            coding,
            decodes: codes,
            ..TransportConfig::default()
        };
        let seeds = Seeds::new(1, 0);
        let accept: SchemeFactory = Arc::new(move |seeds| match () {
            () if codes => coded::scheme(),
            () if kind & 32 > 0 => acting::scheme(seeds),
            () => Box::new(rfc::scheme()),
        });
        let config = |coding| EndpointConfig {
            transport: Arc::new(make(coding)),
            accept: Some(Arc::clone(&accept)),
            ..EndpointConfig::default()
        };
        let peer = Endpoint::new(config(codings[PEER]), &seeds.child("peer"));
        let victim = Endpoint::new(config(codings[VICTIM]), &seeds.child("victim"));
        let mut harness = Harness {
            script,
            now: START,
            ends: [peer, victim],
            ids: [AssociationId(0); 2],
            codes,
            symbols: 0,
        };
        let t = tuple(0);
        let paths = vec![(FourTuple::new(t.link, t.remote, t.local), None)];
        let connect = Connect { paths, port: 5000, scheme: (accept)(&seeds), transport: None };
        harness.ids[PEER] = harness.ends[PEER].connect(harness.now, connect).ok()?;
        harness.drain(true);
        Some(harness)
    }

    fn act(&mut self) {
        match self.script.u8() % 8 {
            0 if self.codes => self.symbols(),
            0..=2 => self.forge(),
            3 => {
                let ms = u64::from(self.script.u8());
                self.pass(Duration::from_millis(ms * ms));
            }
            4 => self.send(VICTIM),
            5 => {
                self.send(PEER);
                self.drain(true);
            }
            6 => {
                let most = self.script.u8();
                for _ in 0..most {
                    if self.ends[VICTIM].recv(self.ids[VICTIM]).is_none() {
                        break;
                    }
                }
            }
            _ => self.call(),
        }
    }

    fn call(&mut self) {
        let (what, now, id) = (self.script.u8(), self.now, self.ids[VICTIM]);
        let path = PathId(what >> 4);
        match what % 16 {
            0 => self.ends[VICTIM].shutdown(now, id),
            1 => {
                let other = self.ids[PEER];
                self.ends[PEER].shutdown(now, other);
            }
            2 => self.ends[VICTIM].abort(id, "enough"),
            // Calls that make no sense are refused.
            3 => drop(self.ends[VICTIM].with(id, |a| a.suspend_path(now, path, true))),
            4 => drop(self.ends[VICTIM].with(id, |a| a.suspend_path(now, path, false))),
            5 => drop(self.ends[VICTIM].with(id, |a| a.remove_path(now, path))),
            6 => drop(self.ends[VICTIM].add_path(now, id, tuple(what), None)),
            7 => {
                let size = 64 * usize::from(self.script.u8());
                self.ends[VICTIM].handle_input(now, Input::TooBig { tuple: tuple(what), size });
            }
            8 => self.flood(),
            9 => drop(self.ends[VICTIM].with(id, |a| a.set_primary(now, path))),
            _ => self.drain(true),
        }
    }

    /// Sends chunks with symbols. The symbols contain the script's bytes, or zeros after a header that an honest sender
    /// may write.
    fn symbols(&mut self) {
        let (kind, count) = (self.script.u8(), self.script.u8() % 64);
        for n in 0..count {
            let (what, low) = (self.script.u8(), u16::from(self.script.u8()));
            let number = u32::from(self.script.u8());
            let seed = u32::from(n) | u32::from(kind & 15) << 16;
            let mut payload = Vec::new();
            match what % 8 {
                0 => Header::Source { block: number, index: low, last: what & 8 > 0 }.write(&mut payload),
                1 | 2 => Header::Repair { block: number, sources: low, seed }.write(&mut payload),
                3 => Header::WindowSource { number }.write(&mut payload),
                4 | 5 => Header::WindowRepair { first: number, sources: low, seed }.write(&mut payload),
                6 => Header::Plain.write(&mut payload),
                _ => {}
            }
            let script = usize::from(what >> 4);
            payload.extend_from_slice(self.script.take(2 * script));
            let longer = if kind & 64 > 0 { 1340 } else { 1 };
            payload.resize(payload.len().max(longer), 0);
            let len = 16 + payload.len();
            let mut chunk = vec![data::TYPE, 7];
            chunk.extend_from_slice(&(len as u16).to_be_bytes());
            chunk.extend_from_slice(&self.symbols.to_be_bytes());
            chunk.extend_from_slice(&[0; 8]);
            chunk.extend_from_slice(&payload);
            self.symbols += 1;
            self.give(kind & 16, chunk);
        }
    }

    /// Sends packets with one DATA chunk each, more than the victim has room for.
    fn flood(&mut self) {
        let (flags, most) = (self.script.u8(), 4 * u32::from(self.script.u8()));
        let (first, stride) = (u32::from(self.script.u8()), 1 + u32::from(self.script.u8() % 4));
        let (ssn, size) = (self.script.u16(), 1 + usize::from(self.script.u16()) % 1400);
        let len = 16 + size;
        for n in 0..most {
            let mut chunk = vec![data::TYPE, flags & 7];
            chunk.extend_from_slice(&(len as u16).to_be_bytes());
            chunk.extend_from_slice(&(first + n * stride).to_be_bytes());
            chunk.extend_from_slice(&u16::from(flags >> 6).to_be_bytes());
            // The same message, or the next.
            chunk
                .extend_from_slice(&ssn.wrapping_add(if flags & 8 > 0 { 0 } else { n as u16 }).to_be_bytes());
            chunk.resize(len, 0);
            self.give(0, chunk);
            if n % 64 == 0 {
                self.drain(false);
            }
        }
    }

    fn send(&mut self, side: usize) {
        let (kind, size) = (self.script.u8(), 1 + usize::from(self.script.u16()) % 8000);
        let lifetime = (kind & 2 > 0).then(|| Duration::from_millis(u64::from(kind)));
        let options = SendOptions {
            stream: u16::from(kind >> 4),
            unordered: kind & 1 > 0,
            lifetime,
            importance: Importance::ALL[usize::from(kind >> 2 & 3)],
            group: Some(u64::from(kind >> 3)),
            ..SendOptions::default()
        };
        // Full or closed is as good.
        let _ = self.ends[side].send(self.now, self.ids[side], vec![kind; size].into(), options);
    }

    fn victim(&self) -> Option<&Association> {
        self.ends[VICTIM].association(self.ids[VICTIM])
    }

    /// Sends a packet with the peer's address that the peer never sent.
    fn forge(&mut self) {
        let (kind, len) = (self.script.u8(), usize::from(self.script.u16() % 2048));
        let chunks = self.script.take(len).to_vec();
        self.give(kind, chunks);
    }

    /// Passes `chunks` to the victim, in a packet of the kind that `kind` selects.
    fn give(&mut self, kind: u8, mut chunks: Vec<u8>) {
        chunks.resize(padded(chunks.len()), 0);
        let Some(victim) = self.victim() else { return };
        let peer = self.ends[PEER].association(self.ids[PEER]);
        let theirs = peer.map_or(0, |a| a.local_initial_tsn().0);
        count_from(&mut chunks, theirs, victim.local_initial_tsn().0);
        let (ours, reflected) = victim.tags();
        let tag = if kind & 8 > 0 { reflected } else { ours };
        let mut packet = Vec::with_capacity(HEADER_LEN + chunks.len() + 40);
        packet.extend_from_slice(&[5000u16.to_be_bytes(), 5000u16.to_be_bytes()].concat());
        packet.extend_from_slice(&tag.0.to_be_bytes());
        packet.extend_from_slice(&[0; 4]);
        if kind & 16 > 0 {
            packet.extend_from_slice(&signature(victim, &chunks));
        }
        packet.extend_from_slice(&chunks);
        seal(&mut packet);
        let (segment_size, data) = (packet.len(), Bytes::from(packet));
        let entries = work::entries(self.victim());
        let input = Input::Datagrams { tuple: tuple(kind), data, segment_size };
        work::bounded(segment_size, entries, || self.ends[VICTIM].handle_input(self.now, input));
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut rounds = 0;
        while let Some(at) = self.ends[VICTIM].poll_timeout().filter(|at| *at <= end) {
            rounds = if at > self.now { 0 } else { rounds + 1 };
            assert!(rounds < STUCK, "{:?} at {at:?}", self.ends[VICTIM].timeout_reason(self.ids[VICTIM]));
            self.now = self.now.max(at);
            self.ends[VICTIM].handle_timeout(self.now);
            self.drain(false);
        }
        self.now = end;
        self.ends[PEER].handle_timeout(end);
    }

    /// Reads all output of both sides. If `talk` is true, the output is passed to the other side.
    fn drain(&mut self, talk: bool) {
        let mut buf = Vec::new();
        let mut packets = 0;
        loop {
            let before = packets;
            for side in [PEER, VICTIM] {
                if side == PEER && !talk {
                    continue;
                }
                while let Some(t) = self.ends[side].poll_output(self.now, &mut buf) {
                    packets += buf.len().div_ceil(t.segment_size.max(1));
                    assert!(packets < MOST_PACKETS, "they talk without end");
                    let data = Bytes::copy_from_slice(&buf);
                    buf.clear();
                    if talk {
                        let back = FourTuple { local: t.tuple.remote, remote: t.tuple.local, ..t.tuple };
                        let input = Input::Datagrams { tuple: back, data, segment_size: t.segment_size };
                        self.ends[1 - side].handle_input(self.now, input);
                    }
                }
                while let Some((id, _)) = self.ends[side].poll_event() {
                    self.ids[side] = id;
                }
            }
            if packets == before {
                break;
            }
        }
        if let Some(a) = self.victim() {
            a.assert_consistent();
            coded::assert_work(a, self.now - START);
        }
        let timer = self.ends[VICTIM].poll_timeout();
        assert!(
            timer.is_none_or(|t| t >= self.now) || !talk,
            "{:?} did not fire",
            self.ends[VICTIM].timeout_reason(self.ids[VICTIM])
        );
    }
}

/// Converts the TSNs in `chunks`, which count from 0, to TSNs that count from the initial ones. TSNs of data count from
/// the peer's initial TSN, and acknowledged TSNs from ours.
pub(super) fn count_from(chunks: &mut [u8], theirs: u32, ours: u32) {
    let mut at = 0;
    while let Some(&[kind, _, a, b]) = chunks.get(at..).and_then(|c| c.first_chunk()) {
        let len = usize::from(u16::from_be_bytes([a, b]));
        let base = match kind {
            data::TYPE | i_data::TYPE | forward_tsn::TYPE => theirs,
            sack::TYPE | shutdown::TYPE => ours,
            _ => 0,
        };
        if let Some(tsn) = chunks.get_mut(at + 4..).and_then(|c| c.first_chunk_mut()) {
            *tsn = u32::from_be_bytes(*tsn).wrapping_add(base).to_be_bytes();
        }
        at += padded(len.max(4));
    }
}

/// Returns the AUTH chunk that signs `chunks`. Returns no bytes if the association has no keys.
pub(super) fn signature(victim: &Association, chunks: &[u8]) -> Vec<u8> {
    let Some((id, hmac)) = victim.sign(&[]) else { return Vec::new() };
    let len = 8 + hmac.len();
    let mut signed = vec![auth::TYPE, 0, 0, len as u8, 0, 0];
    signed.extend_from_slice(&id.to_be_bytes());
    signed.resize(len, 0);
    signed.extend_from_slice(chunks);
    let (_, hmac) = victim.sign(&signed).expect("it has keys");
    signed.truncate(8);
    signed.extend_from_slice(&hmac);
    signed
}
