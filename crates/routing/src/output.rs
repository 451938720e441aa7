//! What a routing protocol asks of its node.

use core::time::Duration;

use crate::address::Address;
use crate::datagram::{Datagram, Packet};

/// What is to be done: first `reclaim`, then the rest, each list in order. The caller empties it and keeps the allocations.
#[derive(Debug)]
pub struct RoutingOutput<B> {
    /// Neighbours for whom nothing may stay in the interface queue: the caller takes their packets out of it and hands each to
    /// [`Routing::handle_reclaimed`](crate::Routing::handle_reclaimed) before it transmits anything of this output.
    pub reclaim: Vec<Address>,
    /// What to transmit.
    pub transmit: Vec<Transmit<B>>,
    /// What has arrived for the node's own host.
    pub deliver: Vec<Datagram<B>>,
    /// What was given up.
    pub drop: Vec<(Datagram<B>, DropCause)>,
}

/// A packet to transmit.
#[derive(Clone, Debug)]
pub struct Transmit<B> {
    /// To whom.
    pub to: NextHop,
    /// What.
    pub packet: Packet<B>,
    /// How long to wait before it enters the interface queue (jitter of broadcasts).
    pub after: Duration,
}

/// Who is to receive a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// A neighbour.
    Neighbour(Address),
    /// All neighbours.
    All,
}

/// Why routing gave a datagram up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// No route to its destination, and none was found.
    NoRoute,
    /// It waited for a route too long, or too many did.
    SendBuffer,
    /// The link to the next hop failed.
    LinkFailed,
    /// It had taken as many hops as it may.
    TtlExpired,
    /// It came back to its source.
    Returned,
    /// The source's queue of originals or of retransmissions was full.
    SplitQueue,
}

impl DropCause {
    /// All causes, in the order of [`Counters::drops`](crate::Counters::drops).
    pub const ALL: [DropCause; 6] = [
        DropCause::NoRoute,
        DropCause::SendBuffer,
        DropCause::LinkFailed,
        DropCause::TtlExpired,
        DropCause::Returned,
        DropCause::SplitQueue,
    ];
}

impl<B> Default for RoutingOutput<B> {
    fn default() -> Self {
        RoutingOutput { reclaim: Vec::new(), transmit: Vec::new(), deliver: Vec::new(), drop: Vec::new() }
    }
}
