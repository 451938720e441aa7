//! Packets.

use bytes::Bytes;
use strandcast_netem::link::Payload;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;
use strandcast_routing::Transmission;

use crate::host::data_chunks;
use crate::tcp::Segment;

use super::ids::{FlowId, RouteId};

/// A packet at IP level.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What the network knows of it.
    pub meta: PacketMeta,
    /// What its agents say to each other.
    pub body: Body,
}

/// What stations transmit.
pub type Frame = strandcast_routing::Packet<Packet>;

/// What the network knows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Its number among all packets of the run, in order of sending.
    pub id: u64,
    /// Its flow.
    pub flow: FlowId,
    /// Which way it goes.
    pub route: RouteId,
    /// Steps of the route behind it.
    pub hop: u16,
    /// Which of its flow's paths it belongs to.
    pub path: u8,
    /// Bytes at IP level, headers included.
    pub len: u32,
    /// Bytes of application data in it; 0 for acknowledgements and control.
    pub payload: u32,
    /// It carries a retransmission.
    pub retransmission: bool,
    /// What the user data of its DATA chunks are.
    pub framing: Framing,
    /// When its sender handed it to the network.
    pub sent: Instant,
    /// Random loss of the link it is on does not take it.
    pub spared: bool,
    /// A link has damaged it: its receiver's checksum refuses it.
    pub damaged: bool,
}

/// What the user data of SCTP's DATA chunks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Messages.
    #[default]
    Messages,
    /// Messages and repair symbols, each behind the header of a symbol.
    Repair,
    /// Symbols of coded blocks: what messages are in them, no chunk says.
    Blocks,
}

/// What agents say to each other.
#[derive(Clone, Debug)]
pub enum Body {
    /// An SCTP packet, encoded.
    Sctp(Bytes),
    /// A sealed datagram.
    Sealed {
        /// As it travels.
        datagram: Bytes,
        /// The SCTP packet in it, for those who measure; empty if it is of a handshake, or a control message of the seal.
        packet: Bytes,
    },
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram that is never retransmitted.
    Udp(Datagram),
    /// Whatever it was, it arrives damaged: checksums of IP, TCP and UDP refuse it.
    Damaged,
}

impl Body {
    /// An SCTP packet as its sender wrote it, sealed or not.
    pub fn sctp(&self) -> Option<&Bytes> {
        match self {
            Body::Sctp(packet) | Body::Sealed { packet, .. } => Some(packet),
            Body::Tcp(_) | Body::Udp(_) | Body::Damaged => None,
        }
    }
}

/// A datagram of a constant-rate source or of background traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The message's number in its flow.
    pub message: u64,
    /// When the application handed it in.
    pub submitted: Instant,
}

impl Packet {
    /// Tells packets apart in fingerprints: its length and SCTP's checksum, the end of a sealed datagram's tag, TCP's or the
    /// message's number.
    pub fn digest(&self) -> u64 {
        let content = match &self.body {
            Body::Sctp(bytes) => {
                bytes.get(8..12).map_or(0, |b| u64::from(u32::from_be_bytes([b[0], b[1], b[2], b[3]])))
            }
            Body::Sealed { datagram, .. } => {
                datagram.last_chunk::<8>().map_or(0, |tag| u64::from_be_bytes(*tag))
            }
            Body::Tcp(s) => s.seq ^ s.ack.unwrap_or(0).rotate_left(20) ^ u64::from(s.subflow) << 36,
            Body::Udp(datagram) => datagram.message,
            Body::Damaged => u64::MAX,
        };
        content ^ u64::from(self.meta.len) << 40
    }
}

/// SCTP sees the damage and must find it by its own checksum, or the seal by its tag; the others' packets do not get through to their agents.
impl Payload for Packet {
    fn corrupt(&mut self, random: &mut Random) {
        self.meta.damaged = true;
        match &mut self.body {
            Body::Sctp(bytes) | Body::Sealed { datagram: bytes, .. } => bytes.corrupt(random),
            Body::Tcp(segment) => segment.corrupt(random),
            body => *body = Body::Damaged,
        }
    }

    fn is_spared(&self) -> bool {
        self.meta.spared
    }
}

/// What tells originals from retransmissions on a radio: the end of a TCP segment's bytes, or the highest TSN of an SCTP
/// packet, each within its route.
impl strandcast_routing::Body for Packet {
    fn transmission(&self) -> Option<Transmission> {
        let end = match &self.body {
            Body::Tcp(segment) if segment.len > 0 => (segment.seq + u64::from(segment.len)) as u32,
            Body::Sctp(bytes) | Body::Sealed { packet: bytes, .. } => {
                let later = |a: u32, b: u32| if (b.wrapping_sub(a) as i32) > 0 { b } else { a };
                data_chunks(bytes).map(|chunk| chunk.tsn).reduce(later)?.wrapping_add(1)
            }
            Body::Tcp(_) | Body::Udp(_) | Body::Damaged => return None,
        };
        Some(Transmission { flow: self.meta.route.0, end })
    }
}
