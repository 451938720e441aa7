//! Fuzz target of an endpoint that accepts associations, and an unknown source. The source owns two addresses and
//! claims others.

use core::net::{IpAddr, SocketAddr};
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{Association, Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::{CookieAck, CookieEcho, HeartbeatAck, Init, Sack, SackHeader};
use strandcast_proto::wire::packet::HEADER_LEN;
use strandcast_proto::wire::param::UnknownParam;
use strandcast_proto::wire::{Chunk, Packet, PacketWriter, Param, Tsn, VerificationTag, padded};

use super::association::{count_from, signature};
use super::packet::seal;
use super::script::{LONGEST, STUCK, Script};
use super::work;

/// Number of bytes of the IPv4 and UDP headers.
const HEADERS: usize = 28;
/// Number of addresses that belong to the unknown source. The unknown source reads the packets that are sent to them.
const OWN: u8 = 2;
const PLACES: u8 = 8;
/// Number of cookies and heartbeats that the unknown source keeps.
const KEPT: usize = 16;
/// Maximum number of packets sent at one time.
const MOST_PACKETS: usize = 20_000;

/// Returns address number `n`. Two addresses belong to the unknown source, one to another host that shares the first
/// one's NAT, and the rest to others.
fn place(n: u8) -> SocketAddr {
    match n % PLACES {
        0 => SocketAddr::from(([10, 0, 0, 1], 9899)),
        1 => SocketAddr::from(([10, 0, 0, 2], 9899)),
        2 => SocketAddr::from(([10, 0, 0, 1], 9900)),
        n => SocketAddr::from(([203, 0, 113, n], 9899)),
    }
}

fn own(address: SocketAddr) -> bool {
    (0..OWN).any(|n| place(n) == address)
}

/// Values that the unknown source received in an INIT ACK.
#[derive(Clone)]
struct Held {
    cookie: Bytes,
    tag: VerificationTag,
}

/// Bytes from and to one address, including headers.
#[derive(Copy, Clone, Default, Debug)]
struct ByteCounter {
    given: usize,
    got: usize,
    /// Bytes of heartbeats to an address that an INIT listed.
    listed: usize,
}

struct Harness<'a> {
    script: Script<'a>,
    now: Instant,
    end: Endpoint,
    announces: bool,
    ids: Vec<AssociationId>,
    held: Vec<Held>,
    heartbeats: Vec<Bytes>,
    counters: BTreeMap<SocketAddr, ByteCounter>,
}

/// Runs `data` as a script. The script has handshakes, cookies that are echoed from elsewhere, chunks with or without a
/// signature, blind acknowledgements, and answers to heartbeats. Each packet has a source address that the unknown
/// source owns or forges. In between, time passes and the application sends messages. An address that is merely claimed
/// must receive at most three times the bytes that arrived from there, apart from a few heartbeats to listed addresses.
/// Held state must stay within bounds, and the cost of a packet must be proportional to its length.
pub fn unknown_sources(data: &[u8]) {
    if data.len() > LONGEST {
        return;
    }
    let mut harness = Harness::new(Script(data));
    while !harness.script.is_empty() {
        harness.act();
        harness.drain();
    }
    // Everything that waits for a timer leaves.
    harness.pass(Duration::from_secs(100));
}

impl<'a> Harness<'a> {
    /// The first byte of the script selects the configuration.
    fn new(mut script: Script<'a>) -> Self {
        let kind = script.u8();
        let announces = kind & 2 > 0;
        let transport = TransportConfig {
            receive_buffer: 1 << 16,
            strict_rfc: kind & 1 > 0,
            announce: announces,
            auth: kind & 4 == 0,
            pf_max_retrans: (kind & 8 > 0).then_some(0),
            ..TransportConfig::default()
        };
        let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
        let config = EndpointConfig {
            transport: Arc::new(transport),
            accept: Some(accept),
            locals: (1..=6).map(|n| (LinkId(n - 1), local(n as u8))).collect(),
            max_associations: 4,
            ..EndpointConfig::default()
        };
        Harness {
            script,
            now: Instant::from_millis(10_000),
            end: Endpoint::new(config, &Seeds::new(1, 0)),
            announces,
            ids: Vec::new(),
            held: Vec::new(),
            heartbeats: Vec::new(),
            counters: BTreeMap::new(),
        }
    }

    fn act(&mut self) {
        match self.script.u8() % 8 {
            0 => self.init(),
            1 => self.echo(),
            2 => self.forge(),
            3 => {
                let ms = u64::from(self.script.u8());
                self.pass(Duration::from_millis(ms * ms));
            }
            4 => self.send(),
            5 => self.answer_heartbeat(),
            6 => self.call(),
            _ => self.acknowledge(),
        }
    }

    /// Sends an INIT whose contents the script's bits select.
    fn init(&mut self) {
        let (from, kind) = (place(self.script.u8()), self.script.u8());
        let mut params = Vec::new();
        if kind & 1 > 0 {
            params.push(Param::Random(Bytes::from_static(&[7; 32])));
            params.push(Param::HmacAlgo(smallvec::smallvec![3]));
            params.push(Param::Chunks(Bytes::from_static(&[0xc1, 0x80])));
        }
        if kind & 2 > 0 {
            let types: &[u8] = &[0xc0, 0x0f, 0xc1, 0x80, 0xb1];
            params.push(Param::SupportedExtensions(Bytes::from_static(types)));
        }
        for n in 0..kind >> 4 {
            let listed = place(2 + n);
            params.push(Param::Address(listed.ip()));
            if self.announces {
                // Path.Max.Retrans + 1 heartbeats, whatever port the handshake comes from.
                for port in [9899, 9900] {
                    self.counter(SocketAddr::new(listed.ip(), port)).listed +=
                        6 * (HEADER_LEN + 20 + HEADERS);
                }
            }
        }
        if kind & 4 > 0 {
            let value = Bytes::copy_from_slice(self.script.take(100));
            params.push(Param::Unknown(UnknownParam { param_type: 0xc123, value }));
        }
        let init = Init {
            initiate_tag: VerificationTag(0x0a0b_0c00 | u32::from(kind)),
            a_rwnd: 1 << 30,
            outbound_streams: 16,
            inbound_streams: 16,
            initial_tsn: Tsn(1000),
            params,
        };
        self.give(from, VerificationTag(0), Some(init.into()), None);
    }

    /// Sends a cookie from any address, followed by any bytes.
    fn echo(&mut self) {
        let (from, which, len) = (place(self.script.u8()), self.script.u8(), self.script.u8());
        let bundled = self.script.take(usize::from(len) % 64).to_vec();
        let n = self.held.len().max(1);
        let Some(Held { cookie, tag }) = self.held.get(usize::from(which) % n).cloned() else { return };
        self.give(from, tag, Some(CookieEcho { cookie }.into()), Some(bundled));
    }

    /// Sends chunks with the verification tag of an association.
    fn forge(&mut self) {
        let (from, which, kind) = (place(self.script.u8()), self.script.u8(), self.script.u8());
        let len = usize::from(self.script.u16() % 2048);
        let mut chunks = self.script.take(len).to_vec();
        chunks.resize(padded(chunks.len()), 0);
        let Some(a) = self.association(which) else { return };
        let (ours, theirs) = a.tags();
        count_from(&mut chunks, 1000, a.local_initial_tsn().0);
        if kind & 1 > 0 {
            let mut signed = signature(a, &chunks);
            signed.extend_from_slice(&chunks);
            chunks = signed;
        }
        let tag = match kind & 6 {
            0 => ours,
            2 => theirs,
            4 => VerificationTag(0),
            _ => VerificationTag(1),
        };
        self.give(from, tag, None, Some(chunks));
    }

    /// Sends a SACK without gaps for a number of chunks from the script. The chunks need not have been received.
    fn acknowledge(&mut self) {
        let (from, which, count) = (place(self.script.u8()), self.script.u8(), self.script.u8());
        let Some(a) = self.association(which) else { return };
        let (tag, first) = (a.tags().0, a.local_initial_tsn());
        let cumulative_tsn_ack = first - 1 + u32::from(count);
        let header = SackHeader { cumulative_tsn_ack, a_rwnd: 1 << 30, flags: 0 };
        self.give(from, tag, Some(Sack::new(header, &[], &[]).into()), None);
    }

    /// Answers a heartbeat that the unknown source received, from any address and for any association.
    fn answer_heartbeat(&mut self) {
        let (from, which, index) = (place(self.script.u8()), self.script.u8(), self.script.u8());
        let n = self.heartbeats.len().max(1);
        let Some(info) = self.heartbeats.get(usize::from(index) % n).cloned() else { return };
        let Some(tag) = self.association(which).map(|a| a.tags().0) else { return };
        self.give(from, tag, Some(HeartbeatAck { info }.into()), None);
    }

    fn send(&mut self) {
        let (which, count, size) = (self.script.u8(), self.script.u8(), 1 + self.script.u16() % 8000);
        let Some(id) = self.id(which) else { return };
        for _ in 0..count {
            // Full or closed is as good.
            let payload = vec![count; usize::from(size)].into();
            let _ = self.end.send(self.now, id, payload, SendOptions::default());
        }
    }

    fn call(&mut self) {
        let (what, which) = (self.script.u8(), self.script.u8());
        let Some(id) = self.id(which) else { return };
        match what % 4 {
            0 => while self.end.recv(id).is_some() {},
            1 => self.end.shutdown(self.now, id),
            2 => self.end.abort(id, "enough"),
            _ => {
                self.end.release(id);
                self.ids.retain(|i| *i != id);
            }
        }
    }

    fn id(&self, which: u8) -> Option<AssociationId> {
        self.ids.get(usize::from(which) % self.ids.len().max(1)).copied()
    }

    fn association(&self, which: u8) -> Option<&Association> {
        self.end.association(self.id(which)?)
    }

    fn counter(&mut self, address: SocketAddr) -> &mut ByteCounter {
        self.counters.entry(address).or_default()
    }

    /// Sends a packet that contains `chunk`, followed by the bytes `more`.
    fn give(&mut self, from: SocketAddr, tag: VerificationTag, chunk: Option<Chunk>, more: Option<Vec<u8>>) {
        let header = strandcast_proto::wire::packet::Header {
            source_port: 5000,
            destination_port: 5000,
            verification_tag: tag,
        };
        let mut packet = Vec::new();
        let mut w = PacketWriter::new(&mut packet, header);
        // Without a chunk nothing would be written.
        let bare = chunk.is_none();
        w.chunk(&chunk.unwrap_or_else(|| CookieAck.into()));
        w.finish();
        if bare {
            packet.truncate(HEADER_LEN);
        }
        packet.extend_from_slice(&more.unwrap_or_default());
        packet.resize(padded(packet.len()), 0);
        seal(&mut packet);
        self.counter(from).given += packet.len() + HEADERS;
        let tuple = FourTuple::new(LinkId(0), local(1), from);
        let (segment_size, data) = (packet.len(), Bytes::from(packet));
        let entries = self.ids.iter().map(|id| work::entries(self.end.association(*id))).sum();
        let input = Input::Datagrams { tuple, data, segment_size };
        work::bounded(segment_size, entries, || self.end.handle_input(self.now, input));
        self.drain();
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut rounds = 0;
        while let Some(at) = self.end.poll_timeout().filter(|at| *at <= end) {
            rounds = if at > self.now { 0 } else { rounds + 1 };
            assert!(rounds < STUCK, "a timer at {at:?} fires for ever");
            self.now = self.now.max(at);
            self.end.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
    }

    /// Reads all output. The unknown source reads the packets that arrive at its own addresses.
    fn drain(&mut self) {
        let mut buf = Vec::new();
        let mut packets = 0;
        while let Some(t) = self.end.poll_output(self.now, &mut buf) {
            for datagram in core::mem::take(&mut buf).chunks(t.segment_size.max(1)) {
                packets += 1;
                self.sent(t.tuple.remote, datagram);
            }
            assert!(packets < MOST_PACKETS, "it talks without end");
        }
        while let Some((id, event)) = self.end.poll_event() {
            if matches!(event, Event::Connected { .. }) && !self.ids.contains(&id) {
                self.ids.push(id);
            }
        }
        for id in &self.ids {
            if let Some(a) = self.end.association(*id) {
                a.assert_consistent();
            }
        }
        self.end.assert_bounded();
    }

    fn sent(&mut self, to: SocketAddr, datagram: &[u8]) {
        if !own(to) {
            let counter = self.counter(to);
            counter.got += datagram.len() + HEADERS;
            let most = 3 * counter.given + counter.listed;
            assert!(counter.got <= most, "{to} got more than three times what came from there: {counter:?}");
            return;
        }
        let packet = Packet::parse(Bytes::copy_from_slice(datagram)).expect("what is sent is SCTP");
        for (_, chunk) in packet.chunks().flatten() {
            match chunk {
                Chunk::InitAck(ack) if self.held.len() < KEPT => {
                    let tag = ack.0.initiate_tag;
                    self.held.extend(ack.state_cookie().map(|c| Held { cookie: c.clone(), tag }));
                }
                Chunk::Heartbeat(h) if self.heartbeats.len() < KEPT => self.heartbeats.push(h.info),
                _ => {}
            }
        }
    }
}

fn local(n: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::from([192, 0, 2, n]), 9899)
}
