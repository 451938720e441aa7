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
    /// Fields that the network reads.
    pub meta: PacketMeta,
    /// Contents, which only agents read.
    pub body: Body,
}

/// Frames of stations.
pub type Frame = strandcast_routing::Packet<Packet>;

/// Fields of a packet that the network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Number among all packets of the run, in order of sending.
    pub id: u64,
    /// Flow.
    pub flow: FlowId,
    /// Route.
    pub route: RouteId,
    /// Number of steps of the route already taken.
    pub hop: u16,
    /// Path number in its flow.
    pub path: u8,
    /// Bytes at IP level, headers included.
    pub len: u32,
    /// Bytes of application data in it; 0 for acknowledgements and control.
    pub payload: u32,
    /// True if the packet carries a retransmission.
    pub retransmission: bool,
    /// Framing of the user data in its DATA chunks.
    pub framing: Framing,
    /// Time at which the packet's sender handed it to the network.
    pub sent: Instant,
    /// True if the random loss of the present link spares the packet.
    pub spared: bool,
    /// True if a link has damaged the packet, so that the receiver's checksum rejects it.
    pub damaged: bool,
}

/// Framing of the user data in SCTP's DATA chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Messages.
    #[default]
    Messages,
    /// Messages and repair symbols, each after the header of a symbol.
    Repair,
    /// Symbols of coded blocks, whose chunks do not show the messages in them.
    Blocks,
}

/// Contents that agents exchange.
#[derive(Clone, Debug)]
pub enum Body {
    /// An SCTP packet, encoded.
    Sctp(Bytes),
    /// A sealed datagram.
    Sealed {
        /// The datagram in transit.
        datagram: Bytes,
        /// The SCTP packet in it, for measurements; empty for a handshake, or for a control message of the
        /// seal.
        packet: Bytes,
    },
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram that is never retransmitted.
    Udp(Datagram),
    /// An IP packet of a program outside the simulation.
    Ip(Bytes),
    /// A damaged packet of any protocol: checksums of IP, TCP and UDP reject it.
    Damaged,
}

impl Body {
    /// SCTP packet before sealing, or as sent if it is not sealed.
    pub fn sctp(&self) -> Option<&Bytes> {
        match self {
            Body::Sctp(packet) | Body::Sealed { packet, .. } => Some(packet),
            Body::Tcp(_) | Body::Udp(_) | Body::Ip(_) | Body::Damaged => None,
        }
    }
}

/// A datagram of a constant-rate source or of background load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the message in its flow.
    pub message: u64,
    /// Time at which the application submitted it.
    pub submitted: Instant,
}

impl Packet {
    /// Takes the contents out of the packet, which is not used afterwards.
    pub fn take_body(&mut self) -> Body {
        core::mem::replace(&mut self.body, Body::Damaged)
    }

    /// Value that distinguishes packets in fingerprints: the length and SCTP's checksum, the end of a sealed
    /// datagram's tag, TCP's number or the message's number.
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
            Body::Ip(_) => 0,
            Body::Damaged => u64::MAX,
        };
        content ^ u64::from(self.meta.len) << 40
    }
}

/// Damages a packet. SCTP must find the damage by its checksum, the seal by its tag, and a program outside by the
/// checksums of its protocols. Damaged packets of other protocols do not reach their agents.
impl Payload for Packet {
    fn corrupt(&mut self, random: &mut Random) {
        self.meta.damaged = true;
        match &mut self.body {
            Body::Sctp(bytes) | Body::Sealed { datagram: bytes, .. } | Body::Ip(bytes) => {
                bytes.corrupt(random)
            }
            Body::Tcp(segment) => segment.corrupt(random),
            body => *body = Body::Damaged,
        }
    }

    /// Key of a flow's path and direction, which addresses and ports would distinguish.
    fn flow(&self) -> u64 {
        u64::from(self.meta.route.0)
    }

    fn is_spared(&self) -> bool {
        self.meta.spared
    }
}

/// Distinguishes originals from retransmissions on a radio. For each route it compares the end of a TCP segment's
/// bytes, or the highest TSN of an SCTP packet.
impl strandcast_routing::Body for Packet {
    fn transmission(&self) -> Option<Transmission> {
        let end = match &self.body {
            Body::Tcp(segment) if segment.len > 0 => (segment.seq + u64::from(segment.len)) as u32,
            Body::Sctp(bytes) | Body::Sealed { packet: bytes, .. } => {
                let later = |a: u32, b: u32| if (b.wrapping_sub(a) as i32) > 0 { b } else { a };
                data_chunks(bytes).map(|chunk| chunk.tsn).reduce(later)?.wrapping_add(1)
            }
            Body::Tcp(_) | Body::Udp(_) | Body::Ip(_) | Body::Damaged => return None,
        };
        Some(Transmission { flow: self.meta.route.0, end })
    }
}
