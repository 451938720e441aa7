//! Messages of the routing protocols.

use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;

/// A message of a routing protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A search for a route (RFC 3561 §5.1).
    Request(Request),
    /// The announcement of a route to the node that searched for it (RFC 3561 §5.2).
    Reply(Reply),
    /// A list of destinations that have become unreachable (RFC 3561 §5.3).
    Error(Vec<Unreachable>),
    /// A HELLO, which shows that its sender is present (RFC 3561 §6.9).
    Hello {
        /// Sequence number of the sender.
        sequence: u32,
    },
    /// A probe, which serves as a measurement before any route exists (Guo, Liu and Lian 2010, §5.3).
    Probe,
}

/// A route request (RREQ). Nodes flood it through the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Node that searches for a route.
    pub source: Address,
    /// Sequence number of this node.
    pub source_sequence: u32,
    /// Number of this request among the requests of its source.
    pub id: u32,
    /// Node to which a route is searched.
    pub destination: Address,
    /// Minimum sequence number that the route must have; 0 if it is unknown.
    pub destination_sequence: u32,
    /// Number of hops from the source. The number of hops is the length of the sender's route to the source, or the
    /// length that the sender of this copy announces.
    pub hops: u8,
    /// Remaining number of transmissions of this copy.
    pub ttl: u8,
    /// Time at which the source sent the request.
    pub sent: Instant,
    /// AOMDV: first hop of this copy of the request, which is a neighbour of the source.
    pub first_hop: Option<Address>,
    /// QAOMDV: quality of the path from the source.
    pub quality: Option<Quality>,
}

/// A route reply (RREP). A route reply follows the reverse route of its request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// Node that searched for the route.
    pub source: Address,
    /// Node to which a route was searched.
    pub destination: Address,
    /// Sequence number of the destination.
    pub destination_sequence: u32,
    /// Number of hops to the destination. The number of hops is the length of the sender's route to the destination, or
    /// the length that the sender of this copy announces.
    pub hops: u8,
    /// Remaining number of transmissions of this reply.
    pub ttl: u8,
    /// Lifetime of the announced route.
    pub lifetime: Duration,
    /// Time at which the request was sent.
    pub sent: Instant,
    /// AOMDV: number of the answered request, and first hop of the reply, which is a neighbour of the destination.
    pub trace: Option<Trace>,
    /// QAOMDV: quality of the path to the destination.
    pub quality: Option<Quality>,
}

/// Fields that AOMDV adds to a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Number of the answered request.
    pub id: u32,
    /// First hop of the reply. The first hop of a reply is the last hop of the announced route.
    pub first_hop: Address,
}

/// Quality of a path in the messages and tables of QAOMDV (Guo, Liu and Lian 2010, §5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Smallest residual bandwidth of the path's nodes, in bytes per second.
    pub bandwidth: f64,
    /// Sum of the delays of the path's links.
    pub delay: Duration,
}

/// A destination in a route error (RERR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The unreachable destination.
    pub destination: Address,
    /// Last known sequence number of the destination, already increased.
    pub sequence: u32,
}

/// Number of bytes of `min-bandwidth` and `delay`, which have 32 bits each.
const QUALITY_BYTES: u32 = 8;

impl Message {
    /// Returns the bytes of the message without the IP header, by the count of ns-2.35.
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
