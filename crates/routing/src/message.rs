//! Messages of the routing protocols.

use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;

/// A message of a routing protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Searches a route (RFC 3561 §5.1).
    Request(Request),
    /// Announces a route to the node that searched it (RFC 3561 §5.2).
    Reply(Reply),
    /// Lists destinations that can't be reached any more (RFC 3561 §5.3).
    Error(Vec<Unreachable>),
    /// Says that its sender is there (RFC 3561 §6.9).
    Hello {
        /// The sender's own sequence number.
        sequence: u32,
    },
    /// Stands for a measurement before there are routes (Guo, Liu and Lian 2010, §5.3).
    Probe,
}

/// A route request (RREQ). It is flooded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The node that searches.
    pub source: Address,
    /// The source's own sequence number.
    pub source_sequence: u32,
    /// Tells this source's requests apart.
    pub id: u32,
    /// The node that is searched.
    pub destination: Address,
    /// The least sequence number that a route may have; 0 if none is known.
    pub destination_sequence: u32,
    /// Hops from the source: the length of the route that the sender of this copy has to it, or advertises.
    pub hops: u8,
    /// Transmissions that this copy may still take.
    pub ttl: u8,
    /// When the source sent it.
    pub sent: Instant,
    /// AOMDV: the source's neighbour that this copy passed.
    pub first_hop: Option<Address>,
    /// QAOMDV: what the path from the source can do.
    pub quality: Option<Quality>,
}

/// A route reply (RREP). It takes the reverse route that the request left behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// The node that had searched.
    pub source: Address,
    /// The node that was searched.
    pub destination: Address,
    /// The destination's sequence number.
    pub destination_sequence: u32,
    /// Hops to the destination: the length of the route that the sender of this copy has to it, or advertises.
    pub hops: u8,
    /// Transmissions that it may still take.
    pub ttl: u8,
    /// How long the route counts.
    pub lifetime: Duration,
    /// When the request was sent.
    pub sent: Instant,
    /// AOMDV: the request it answers and the destination's neighbour that it passed.
    pub trace: Option<Trace>,
    /// QAOMDV: what the path to the destination can do.
    pub quality: Option<Quality>,
}

/// What AOMDV adds to a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The request's number.
    pub id: u32,
    /// The first hop of the reply, which is the last hop of the route.
    pub first_hop: Address,
}

/// What a path can do, as QAOMDV's messages and tables carry it (Guo, Liu and Lian 2010, §5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The least residual bandwidth of its nodes, bytes per second.
    pub bandwidth: f64,
    /// The sum of its links' delays.
    pub delay: Duration,
}

/// A destination in a route error (RERR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Which.
    pub destination: Address,
    /// Its last known sequence number, raised.
    pub sequence: u32,
}

/// Bytes of `min-bandwidth` and `delay`, 32 bits each.
const QUALITY_BYTES: u32 = 8;

impl Message {
    /// Bytes without the IP header, as ns-2.35 counts them.
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Request(request) => {
                28 + 4 * u32::from(request.first_hop.is_some())
                    + QUALITY_BYTES * u32::from(request.quality.is_some())
            }
            Message::Reply(reply) => {
                24 + 8 * u32::from(reply.trace.is_some()) + QUALITY_BYTES * u32::from(reply.quality.is_some())
            }
            Message::Error(list) => 4 + 8 * u32::try_from(list.len()).unwrap_or(u32::MAX / 16),
            Message::Hello { .. } => 24,
            Message::Probe => 64,
        }
    }
}
