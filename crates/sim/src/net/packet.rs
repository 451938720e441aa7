//! Packets of the simulated network.

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
    /// Contents of the packet, which only agents read.
    pub body: Body,
}

/// Frame that stations of a radio transmit.
pub type Frame = strandcast_routing::Packet<Packet>;

/// Fields of a packet that the network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Number of the packet among all packets of the run, in order of sending.
    pub id: u64,
    /// Flow to which the packet belongs.
    pub flow: FlowId,
    /// Route that the packet takes.
    pub route: RouteId,
    /// Number of steps of the route that the packet has taken.
    pub hop: u16,
    /// Number of the path in its flow.
    pub path: u8,
    /// Bytes at IP level, including headers.
    pub len: u32,
    /// Bytes of application data in the packet. The number of bytes is 0 for acknowledgements and control.
    pub payload: u32,
    /// True if the packet carries a retransmission.
    pub retransmission: bool,
    /// Framing of the user data in the packet's DATA chunks.
    pub framing: Framing,
    /// Time at which the sender passed the packet to the network.
    pub sent: Instant,
    /// True if the random loss of the present link spares the packet.
    pub spared: bool,
    /// True if a link has damaged the packet. The receiver's checksum then rejects it.
    pub damaged: bool,
}

/// Framing of the user data in DATA chunks of SCTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// User data are messages.
    #[default]
    Messages,
    /// User data are messages and repair symbols. Each follows the header of a symbol.
    Repair,
    /// User data are symbols of coded blocks. Chunks with symbols do not show which messages are in them.
    Blocks,
}

/// Contents of a packet, which agents exchange.
#[derive(Clone, Debug)]
pub enum Body {
    /// An encoded SCTP packet.
    Sctp(Bytes),
    /// A sealed datagram.
    Sealed {
        /// Bytes of the datagram in transit.
        datagram: Bytes,
        /// The SCTP packet in the datagram, for measurements. The copy of the packet is empty for a handshake and for a
        /// control message of the seal.
        packet: Bytes,
    },
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram, which is never retransmitted.
    Udp(Datagram),
    /// An IP packet of a program outside the simulation.
    Ip(Bytes),
    /// A damaged packet of any protocol. The checksums of IP, TCP and UDP reject it.
    Damaged,
}

impl Body {
    /// Returns the SCTP packet before sealing. If the packet is not sealed, returns the packet as sent.
    pub fn sctp(&self) -> Option<&Bytes> {
        match self {
            Body::Sctp(packet) | Body::Sealed { packet, .. } => Some(packet),
            Body::Tcp(_) | Body::Udp(_) | Body::Ip(_) | Body::Damaged => None,
        }
    }
}

/// A datagram of a source with constant rate, or of background load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the message in its flow.
    pub message: u64,
    /// Time at which the application submitted the message.
    pub submitted: Instant,
}

impl Packet {
    /// Removes and returns the contents of the packet. The packet is not used afterwards.
    pub fn take_body(&mut self) -> Body {
        core::mem::replace(&mut self.body, Body::Damaged)
    }

    /// Returns a value that distinguishes packets in fingerprints. The value is the length and SCTP's checksum, the end
    /// of a sealed datagram's tag, TCP's sequence number, or the number of the message.
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

/// Damages a packet. SCTP must detect the damage by its checksum, and the seal by its tag. An outside program must
/// detect it by the checksums of its protocols. Damaged packets of other protocols are not passed to their agents.
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

    /// Returns a key for the flow and direction of the packet. In a real network, addresses and ports would distinguish
    /// them.
    fn flow(&self) -> u64 {
        u64::from(self.meta.route.0)
    }

    fn is_spared(&self) -> bool {
        self.meta.spared
    }
}

/// Distinguishes originals from retransmissions on a radio. For each route, the comparison uses the end of a TCP
/// segment's bytes or the highest TSN of an SCTP packet.
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
