//! Packets that nodes send to each other.

use crate::address::Address;
use crate::message::Message;

/// Maximum number of hops of a datagram. The maximum is 32 in ns-2.35's transports and 30 in its AODV; no route is that
/// long.
const DATAGRAM_TTL: u8 = 32;

/// Number of bytes of a label on the air.
const LABEL_BYTES: u32 = 4;

/// Number of bytes of an IP header.
pub const IP_HEADER: u32 = 20;

/// Class of a datagram: original or retransmission (Guo, Liu and Lian 2010, §5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// The datagram carries a first transmission of data.
    #[default]
    Original,
    /// The datagram carries a retransmission of data.
    Retransmission,
}

/// A packet of the network layer. The source of a packet and the forwarding nodes add further fields to the packet.
#[derive(Clone, Debug)]
pub struct Datagram<B> {
    /// Node that sent the datagram.
    pub source: Address,
    /// Node to which the datagram is sent.
    pub destination: Address,
    /// Bytes at IP level, including headers, without `label`.
    pub bytes: u32,
    /// Remaining number of hops. Each hop decreases it.
    pub ttl: u8,
    /// Number of hops so far. Each hop increases it.
    pub hops: u8,
    /// Number of times that the datagram was sent on another path after a link had failed.
    pub salvaged: u8,
    /// Class of the datagram: original or retransmission. The classifier of the split `mpr` sets it.
    pub class: Class,
    /// True if the datagram leaves interface queues, on each hop, before datagrams that are not expedited.
    pub expedited: bool,
    /// Last hop of the path that the source chose. The last hop is set if the source chooses among several paths. The
    /// label takes 4 bytes on the air.
    pub label: Option<Address>,
    /// Payload of the datagram.
    pub body: B,
}

/// A packet that a node transmits.
#[derive(Clone, Debug)]
pub enum Packet<B> {
    /// A datagram of a host.
    Data(Datagram<B>),
    /// A routing message.
    Control(Message),
}

impl<B> Datagram<B> {
    /// Creates a datagram of `bytes` bytes at IP level at its source.
    pub fn new(source: Address, destination: Address, bytes: u32, body: B) -> Self {
        Datagram {
            source,
            destination,
            bytes,
            ttl: DATAGRAM_TTL,
            hops: 0,
            salvaged: 0,
            class: Class::Original,
            expedited: false,
            label: None,
            body,
        }
    }
}

impl<B> Packet<B> {
    /// Returns the number of bytes at IP level.
    pub fn bytes(&self) -> u32 {
        match self {
            Packet::Data(datagram) => datagram.bytes + LABEL_BYTES * u32::from(datagram.label.is_some()),
            Packet::Control(message) => IP_HEADER + message.bytes(),
        }
    }
}
