//! Actions that a routing protocol requests from its node.

use core::time::Duration;

use crate::address::Address;
use crate::datagram::{Datagram, Packet};

/// Actions that one or more calls requested. The node carries out the actions in `reclaim` before those of the other
/// lists. Within each list it keeps the order. The caller empties the lists. The memory of emptied lists stays
/// allocated.
#[derive(Debug)]
pub struct RoutingOutput<B> {
    /// Neighbours whose packets must be removed from the interface queue. The caller removes these packets, and passes
    /// each to [`Routing::handle_reclaimed`](crate::Routing::handle_reclaimed). The caller does so before it transmits
    /// any packet of this output.
    pub reclaim: Vec<Address>,
    /// Packets to be transmitted.
    pub transmit: Vec<Transmit<B>>,
    /// Datagrams for the node's host.
    pub deliver: Vec<Datagram<B>>,
    /// Datagrams that were dropped, each with the cause.
    pub drop: Vec<(Datagram<B>, DropCause)>,
}

/// A packet to be transmitted.
#[derive(Clone, Debug)]
pub struct Transmit<B> {
    /// Receiver of the packet.
    pub to: NextHop,
    /// The packet.
    pub packet: Packet<B>,
    /// Delay before the packet enters the interface queue. The delay spreads broadcasts in time (jitter).
    pub after: Duration,
}

/// Receiver of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// One neighbour.
    Neighbour(Address),
    /// All neighbours.
    All,
}

/// Reason for which routing dropped a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// A search found no route to the destination of the datagram.
    NoRoute,
    /// The datagram waited too long for a route, or the send buffer was full.
    SendBuffer,
    /// The link to the next hop failed.
    LinkFailed,
    /// The datagram reached its maximum number of hops.
    TtlExpired,
    /// The datagram returned to its source.
    Returned,
    /// The source's queue of originals or of retransmissions was full (split `mpr`).
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
