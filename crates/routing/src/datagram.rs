//! What nodes send to each other.

use crate::address::Address;
use crate::message::Message;

/// Hops that a datagram may take (ns-2.35's transports write 32, its AODV 30; no route is that long).
const DATAGRAM_TTL: u8 = 32;

/// Bytes of a label on the air.
const LABEL_BYTES: u32 = 4;

/// Bytes of an IP header.
pub const IP_HEADER: u32 = 20;

/// Whether a datagram carries something for the first time (Guo, Liu and Lian 2010, §5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Its first transmission.
    #[default]
    Original,
    /// A retransmission.
    Retransmission,
}

/// A packet of the network layer, with what its source and the nodes on its way add to it.
#[derive(Clone, Debug)]
pub struct Datagram<B> {
    /// Where it comes from.
    pub source: Address,
    /// Where it goes.
    pub destination: Address,
    /// Bytes at IP level, headers included, without `label`.
    pub bytes: u32,
    /// Hops it may still take. Routing counts down.
    pub ttl: u8,
    /// Hops it has taken. Routing counts.
    pub hops: u8,
    /// How often it was sent on by another path after a link had failed.
    pub salvaged: u8,
    /// Original or retransmission. The classifier of the split `mpr` sets it.
    pub class: Class,
    /// The last hop of the path its source chose, where the source chooses among several; 4 bytes on the air.
    pub label: Option<Address>,
    /// What it carries.
    pub body: B,
}

/// What goes over the air.
#[derive(Clone, Debug)]
pub enum Packet<B> {
    /// Somebody's data.
    Data(Datagram<B>),
    /// Routing's own.
    Control(Message),
}

impl<B> Datagram<B> {
    /// A datagram of `bytes` at IP level that has not left its source.
    pub fn new(source: Address, destination: Address, bytes: u32, body: B) -> Self {
        Datagram {
            source,
            destination,
            bytes,
            ttl: DATAGRAM_TTL,
            hops: 0,
            salvaged: 0,
            class: Class::Original,
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
