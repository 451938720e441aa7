//! Messages of the routing protocols.

use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;

/// A message of a routing protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A search for a route (RFC 3561 §5.1).
    Request(Request),
    /// Announcement of a route to the node that searched for it (RFC 3561 §5.2).
    Reply(Reply),
    /// A list of destinations that have become unreachable (RFC 3561 §5.3).
    Error(Vec<Unreachable>),
    /// A sign that the sender of the message is present (RFC 3561 §6.9).
    Hello {
        /// The sender's own sequence number.
        sequence: u32,
    },
    /// A probe that replaces a measurement before any route exists (Guo, Liu and Lian 2010, §5.3).
    Probe,
}

/// A route request (RREQ). A request is flooded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Searching node.
    pub source: Address,
    /// Sequence number of the source.
    pub source_sequence: u32,
    /// Number of this request at its source.
    pub id: u32,
    /// Requested node.
    pub destination: Address,
    /// Minimum sequence number of a route; 0 if unknown.
    pub destination_sequence: u32,
    /// Number of hops from the source. It is the length of the sender's route to the source, or the length that the
    /// sender of this copy advertises.
    pub hops: u8,
    /// Remaining number of transmissions of this copy.
    pub ttl: u8,
    /// Time at which the source sent it.
    pub sent: Instant,
    /// AOMDV: first hop of this copy, a neighbour of the source.
    pub first_hop: Option<Address>,
    /// QAOMDV: quality of the path from the source.
    pub quality: Option<Quality>,
}

/// A route reply (RREP). A reply follows the reverse route of its request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// Node that searched for the route.
    pub source: Address,
    /// Requested node.
    pub destination: Address,
    /// The destination's sequence number.
    pub destination_sequence: u32,
    /// Number of hops to the destination. It is the length of the sender's route to the destination, or the length that
    /// the sender of this copy advertises.
    pub hops: u8,
    /// Remaining number of transmissions.
    pub ttl: u8,
    /// Lifetime of the route.
    pub lifetime: Duration,
    /// Time at which the request was sent.
    pub sent: Instant,
    /// AOMDV: the answered request, and the first hop of the reply, a neighbour of the destination.
    pub trace: Option<Trace>,
    /// QAOMDV: quality of the path to the destination.
    pub quality: Option<Quality>,
}

/// Addition of AOMDV to a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Number of the request.
    pub id: u32,
    /// First hop of the reply, which is the last hop of the route.
    pub first_hop: Address,
}

/// Quality of a path in QAOMDV's messages and tables (Guo, Liu and Lian 2010, §5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Least residual bandwidth of the path's nodes, in bytes per second.
    pub bandwidth: f64,
    /// Sum of the path's links' delays.
    pub delay: Duration,
}

/// A destination in a route error (RERR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Destination.
    pub destination: Address,
    /// Last known sequence number of the destination, after it was raised.
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
