//! An endpoint whose peer is the test. The test creates the packets that the endpoint receives, and reads the packets
//! that it sends.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{Association, Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::rx::Message;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::{
    CookieAck, CookieEcho, Data, DataHeader, GapBlock, Init, InitAck, Sack, SackHeader,
};
use strandcast_proto::wire::{
    Chunk, Header, Packet, PacketWriter, Param, Ppid, Ssn, StreamId, Tsn, VerificationTag,
};

/// Verification tag of the test. `OUR_TSN` is the first TSN of the test.
pub const OUR_TAG: u32 = 0x0a0b_0c0d;
pub const OUR_TSN: u32 = 1000;
pub const PORT: u16 = 5000;

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A packet that the endpoint sent.
#[derive(Clone, Debug)]
pub struct SentPacket {
    pub at: Instant,
    pub tuple: FourTuple,
    pub tag: u32,
    pub len: usize,
    pub chunks: Vec<Chunk>,
}

pub struct RawPeer {
    pub now: Instant,
    pub end: Endpoint,
    pub tuple: FourTuple,
    pub id: Option<AssociationId>,
    /// Verification tag of the endpoint, once it is known; `tsn` is its first TSN.
    pub tag: u32,
    pub tsn: u32,
    pub events: Vec<Event>,
    /// If true, received messages stay unread.
    pub lazy: bool,
    pub messages: Vec<Message>,
}

impl RawPeer {
    pub fn new(transport: TransportConfig) -> Self {
        let config = EndpointConfig {
            transport: Arc::new(transport),
            accept: Some(Arc::new(|_| Box::new(rfc::scheme()))),
            ..EndpointConfig::default()
        };
        RawPeer::with(config)
    }

    pub fn with(config: EndpointConfig) -> Self {
        let local = SocketAddr::from(([192, 0, 2, 1], 9899));
        let remote = SocketAddr::from(([198, 51, 100, 7], 40_000));
        RawPeer {
            now: Instant::from_millis(100_000),
            end: Endpoint::new(config, &Seeds::new(7, 0)),
            tuple: FourTuple::new(LinkId(0), local, remote),
            id: None,
            tag: 0,
            tsn: 0,
            events: Vec::new(),
            lazy: false,
            messages: Vec::new(),
        }
    }

    /// Returns an established association that the test opened. The INIT of this association has the parameters
    /// `params`.
    pub fn accepted(transport: TransportConfig, params: Vec<Param>) -> Self {
        let mut l = RawPeer::new(transport);
        l.shake_hands(params);
        l
    }

    pub fn shake_hands(&mut self, params: Vec<Param>) {
        let ack = self.init(params);
        let cookie = ack.state_cookie().expect("a cookie").clone();
        (self.tag, self.tsn) = (ack.0.initiate_tag.0, ack.0.initial_tsn.0);
        let out = self.give(&[CookieEcho { cookie }.into()]);
        assert!(matches!(out[0].chunks[0], Chunk::CookieAck(_)), "{out:?}");
        assert!(self.id.is_some(), "an association");
    }

    /// Sends an INIT. Returns the INIT ACK.
    pub fn init(&mut self, params: Vec<Param>) -> InitAck {
        let out = self.give_tagged(0, &[init(params).into()]);
        match out.first().map(|o| &o.chunks[..]) {
            Some([Chunk::InitAck(ack)]) => ack.clone(),
            other => panic!("no INIT ACK: {other:?}"),
        }
    }

    /// Returns an established association that the endpoint opened.
    pub fn opened(transport: TransportConfig) -> Self {
        let mut l = RawPeer::new(transport);
        l.connect();
        let out = l.take();
        let Chunk::Init(init_chunk) = &out[0].chunks[0] else { panic!("no INIT: {out:?}") };
        (l.tag, l.tsn) = (init_chunk.initiate_tag.0, init_chunk.initial_tsn.0);
        let cookie = Param::StateCookie(Bytes::from_static(b"cookie"));
        let out = l.give(&[InitAck(init(vec![cookie])).into()]);
        assert!(matches!(out[0].chunks[0], Chunk::CookieEcho(_)), "{out:?}");
        l.give(&[CookieAck.into()]);
        l
    }

    pub fn connect(&mut self) {
        let paths = vec![(self.tuple, None)];
        let scheme = Box::new(rfc::scheme());
        let connect = Connect { paths, port: PORT, scheme, transport: None };
        self.id = Some(self.end.connect(self.now, connect).expect("a free endpoint"));
    }

    /// Delivers a packet with the endpoint's verification tag. Returns the packets that the endpoint sends immediately.
    pub fn give(&mut self, chunks: &[Chunk]) -> Vec<SentPacket> {
        self.give_tagged(self.tag, chunks)
    }

    pub fn give_tagged(&mut self, tag: u32, chunks: &[Chunk]) -> Vec<SentPacket> {
        let bytes = packet(tag, chunks);
        self.give_bytes(self.tuple, bytes)
    }

    pub fn give_bytes(&mut self, tuple: FourTuple, data: Vec<u8>) -> Vec<SentPacket> {
        let segment_size = data.len();
        let data = data.into();
        self.end.handle_input(self.now, Input::Datagrams { tuple, data, segment_size });
        self.take()
    }

    /// Returns the packets that the endpoint sends now.
    pub fn take(&mut self) -> Vec<SentPacket> {
        let mut out = Vec::new();
        let mut buf = Vec::new();
        while let Some(t) = self.end.poll_output(self.now, &mut buf) {
            for datagram in buf.chunks(t.segment_size) {
                let p = Packet::parse(Bytes::copy_from_slice(datagram)).expect("what we send is SCTP");
                let chunks = p.chunks().map(|c| c.expect("and well-formed").1).collect();
                let tag = p.header.verification_tag.0;
                out.push(SentPacket { at: self.now, tuple: t.tuple, tag, len: datagram.len(), chunks });
            }
            buf.clear();
        }
        while let Some((id, event)) = self.end.poll_event() {
            self.id.get_or_insert(id);
            self.events.push(event);
        }
        if !self.lazy {
            self.read();
        }
        out
    }

    pub fn read(&mut self) {
        while let Some(m) = self.id.and_then(|id| self.end.recv(id)) {
            self.messages.push(m);
        }
    }

    /// Advances the time by `time`. Returns the packets that the endpoint sends meanwhile.
    pub fn run(&mut self, time: Duration) -> Vec<SentPacket> {
        let end = self.now + time;
        let mut out = self.take();
        while let Some(at) = self.end.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.end.handle_timeout(self.now);
            out.extend(self.take());
        }
        self.now = end;
        out
    }

    pub fn send(&mut self, payload: impl Into<Bytes>, options: SendOptions) -> Vec<SentPacket> {
        let id = self.id.expect("connected");
        self.end.send(self.now, id, payload.into(), options).expect("room");
        self.take()
    }

    pub fn association(&self) -> &Association {
        self.end.association(self.id.expect("connected")).expect("there")
    }

    pub fn saw(&self, event: &Event) -> bool {
        self.events.contains(event)
    }
}

pub fn packet(tag: u32, chunks: &[Chunk]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header { source_port: PORT, destination_port: PORT, verification_tag: VerificationTag(tag) };
    let mut w = PacketWriter::new(&mut bytes, header);
    for c in chunks {
        w.chunk(c);
    }
    w.finish();
    bytes
}

/// Returns the parameters of a Strandcast peer with this coding: code, number of source symbols, and bytes of each
/// symbol.
pub fn coding(code: u8, sources: u16, length: u16) -> Vec<Param> {
    let ([a, b], [c, d]) = (sources.to_be_bytes(), length.to_be_bytes());
    vec![
        Param::ForwardTsnSupported,
        Param::Random(Bytes::from_static(&[7; 32])),
        Param::HmacAlgo([3u16].into_iter().collect()),
        Param::SupportedExtensions(Bytes::from_static(&[0xc0, 0x0f, 0xb1])),
        Param::Coding(Bytes::copy_from_slice(&[1, code, a, b, c, d])),
    ]
}

pub fn init(params: Vec<Param>) -> Init {
    Init {
        initiate_tag: VerificationTag(OUR_TAG),
        a_rwnd: 100_000,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(OUR_TSN),
        params,
    }
}

/// Returns a chunk with a complete ordered message on stream 0.
pub fn data(tsn: u32, ssn: u16, payload: &[u8]) -> Chunk {
    data_with(tsn, ssn, payload, |_| {})
}

pub fn data_with(tsn: u32, ssn: u16, payload: &[u8], change: impl FnOnce(&mut DataHeader)) -> Chunk {
    let mut header = DataHeader {
        tsn: Tsn(tsn),
        stream_id: StreamId(0),
        ssn: Ssn(ssn),
        ppid: Ppid(0),
        immediate: false,
        unordered: false,
        beginning: true,
        ending: true,
    };
    change(&mut header);
    Data { header, payload: Bytes::copy_from_slice(payload) }.into()
}

pub fn sack(cum: u32, a_rwnd: u32, gaps: &[(u16, u16)]) -> Chunk {
    let gaps: Vec<GapBlock> = gaps.iter().map(|(start, end)| GapBlock { start: *start, end: *end }).collect();
    Sack::new(SackHeader { cumulative_tsn_ack: Tsn(cum), a_rwnd, flags: 0 }, &gaps, &[]).into()
}

/// Returns the first SACK in `out`.
pub fn first_sack(out: &[SentPacket]) -> Option<(Instant, Sack)> {
    let of = |o: &SentPacket| {
        let sacks =
            o.chunks.iter().filter_map(|c| if let Chunk::Sack(s) = c { Some(s.clone()) } else { None });
        sacks.map(|s| (o.at, s)).next()
    };
    out.iter().find_map(of)
}

/// Returns the time, TSN and payload length of every DATA chunk in `out`.
pub fn sent_data(out: &[SentPacket]) -> Vec<(Instant, u32, usize)> {
    let mut all = Vec::new();
    for o in out {
        for c in &o.chunks {
            if let Chunk::Data(d) = c {
                all.push((o.at, d.header.tsn.0, d.payload.len()));
            }
        }
    }
    all
}

/// Returns the chunk types of all packets.
pub fn types(out: &[SentPacket]) -> Vec<Vec<u8>> {
    use strandcast_proto::wire::ChunkEncode as _;
    out.iter().map(|o| o.chunks.iter().map(|c| c.chunk_type()).collect()).collect()
}

/// Sets the right checksum after bytes were changed.
pub fn reseal(bytes: &mut [u8]) {
    bytes[8..12].fill(0);
    let checksum = strandcast_proto::wire::packet::checksum(bytes);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
}
