//! Packets that nodes send to each other.

use crate::address::Address;
use crate::message::Message;

/// Maximum number of hops of a datagram (32 in ns-2.35's transports, and 30 in its AODV; no route is that long).
const DATAGRAM_TTL: u8 = 32;

/// Bytes of a label on the air.
const LABEL_BYTES: u32 = 4;

/// Bytes of an IP header.
pub const IP_HEADER: u32 = 20;

/// Class of a datagram: first transmission or repetition (Guo, Liu and Lian 2010, §5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// A first transmission.
    #[default]
    Original,
    /// A retransmission.
    Retransmission,
}

/// A packet of the network layer, with fields that its source and the forwarding nodes add.
#[derive(Clone, Debug)]
pub struct Datagram<B> {
    /// Source.
    pub source: Address,
    /// Destination.
    pub destination: Address,
    /// Bytes at IP level, headers included, without `label`.
    pub bytes: u32,
    /// Remaining number of hops. Routing lowers it at each hop.
    pub ttl: u8,
    /// Number of hops so far. Routing raises it at each hop.
    pub hops: u8,
    /// Number of times that the datagram was sent over another path after a link had failed.
    pub salvaged: u8,
    /// Original or retransmission. The classifier of the split `mpr` sets it.
    pub class: Class,
    /// True if it leaves interface queues before datagrams that are not expedited, on each hop.
    pub expedited: bool,
    /// Last hop of the path that the datagram's source chose, if the source chooses among several paths. It takes 4
    /// bytes on the air.
    pub label: Option<Address>,
    /// Payload.
    pub body: B,
}

/// A packet on the air.
#[derive(Clone, Debug)]
pub enum Packet<B> {
    /// Data of a host.
    Data(Datagram<B>),
    /// A routing message.
    Control(Message),
}

impl<B> Datagram<B> {
    /// A datagram of `bytes` at IP level at its source.
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
    /// Bytes at IP level.
    pub fn bytes(&self) -> u32 {
        match self {
            Packet::Data(datagram) => datagram.bytes + LABEL_BYTES * u32::from(datagram.label.is_some()),
            Packet::Control(message) => IP_HEADER + message.bytes(),
        }
    }
}
