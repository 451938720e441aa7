//! Actions that a routing protocol requests from its node.

use core::time::Duration;

use crate::address::Address;
use crate::datagram::{Datagram, Packet};

/// Requested actions. The node carries out `reclaim` before the other lists, and each list in order. The caller empties
/// the lists and keeps the allocations.
#[derive(Debug)]
pub struct RoutingOutput<B> {
    /// Neighbours whose packets must leave the interface queue. The caller removes these packets and passes each to
    /// [`Routing::handle_reclaimed`](crate::Routing::handle_reclaimed) before it transmits any packet of this output.
    pub reclaim: Vec<Address>,
    /// Packets to transmit.
    pub transmit: Vec<Transmit<B>>,
    /// Datagrams for the node's host.
    pub deliver: Vec<Datagram<B>>,
    /// Dropped datagrams.
    pub drop: Vec<(Datagram<B>, DropCause)>,
}

/// A packet to transmit.
#[derive(Clone, Debug)]
pub struct Transmit<B> {
    /// Receiver.
    pub to: NextHop,
    /// Packet.
    pub packet: Packet<B>,
    /// Delay before the packet enters the interface queue (jitter of broadcasts).
    pub after: Duration,
}

/// Receiver of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// A neighbour.
    Neighbour(Address),
    /// All neighbours.
    All,
}

/// Reason why routing dropped a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// A search found no route to its destination.
    NoRoute,
    /// The datagram waited too long for a route, or the queue was full.
    SendBuffer,
    /// The link to the next hop failed.
    LinkFailed,
    /// The datagram reached its maximum number of hops.
    TtlExpired,
    /// The datagram returned to its source.
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
