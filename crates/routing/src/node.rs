//! Interface between a routing protocol and its node.

use core::fmt::Debug;
use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::counters::Counters;
use crate::datagram::{Datagram, Packet};
use crate::message::Message;
use crate::output::{DropCause, RoutingOutput};

/// State of the node at the time of a call.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Current time.
    pub now: Instant,
    /// Time for which the channel around this node has been idle since the start of the run.
    pub idle: Duration,
    /// Number of packets for which the interface queue has room.
    pub room: usize,
}

/// The link over which a packet arrived.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Neighbour that transmitted the packet.
    pub from: Address,
    /// Time between the packet's entry into the interface queue of that neighbour and its arrival.
    pub delay: Duration,
}

/// Payload of a datagram, as the classifier sees it.
pub trait Body: Clone + Debug + Send {
    /// Returns the data transmission of a reliable transport in the payload. Returns `None` for an acknowledgement, and
    /// for other transports.
    fn transmission(&self) -> Option<Transmission> {
        None
    }
}

/// Range of bytes of a stream in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Number of the stream.
    pub flow: u32,
    /// Sequence number after the last byte, modulo 2³².
    pub end: u32,
}

/// A routing protocol on one node. The node calls the methods of this trait. The methods of this trait return actions
/// in `out`.
pub trait Routing<B: Body>: Debug + Send {
    /// Starts the protocol at the beginning of a run.
    fn start(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// Sends a datagram that comes from the node's host.
    fn originate(&mut self, context: &Context, datagram: Datagram<B>, out: &mut RoutingOutput<B>);

    /// Handles a datagram that arrived from a neighbour.
    fn handle_datagram(
        &mut self,
        context: &Context,
        link: Link,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    );

    /// Handles a message that arrived from a neighbour.
    fn handle_message(
        &mut self,
        _context: &Context,
        _link: Link,
        _message: Message,
        _out: &mut RoutingOutput<B>,
    ) {
    }

    /// Handles a packet for the neighbour `to` that the link layer abandoned. Each call of the function `queued`
    /// removes a further packet that waits for `to`, and returns this packet.
    fn handle_link_failure(
        &mut self,
        context: &Context,
        to: Address,
        packet: Packet<B>,
        queued: &mut dyn FnMut() -> Option<Packet<B>>,
        out: &mut RoutingOutput<B>,
    );

    /// Handles a packet for the neighbour `to` that was removed from the interface queue. [`RoutingOutput::reclaim`]
    /// requested this. After this call, the node removes the packets for further entries of `out.reclaim`.
    fn handle_reclaimed(
        &mut self,
        _context: &Context,
        _to: Address,
        packet: Packet<B>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Packet::Data(datagram) = packet {
            out.drop.push((datagram, DropCause::LinkFailed));
        }
    }

    /// Reports that the interface queue has room again.
    fn handle_room(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// Handles the expiry of the timer.
    fn handle_timeout(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// Returns the time of the next call of [`handle_timeout`](Self::handle_timeout).
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Returns the paths to a destination that the node would use now, for pictures and checks. The best path comes
    /// first.
    fn paths(&self, now: Instant, destination: Address) -> Vec<PathReport>;

    /// Returns the counters since the start of the run.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Returns the number of datagrams held, which wait for a route or for room in the interface queue.
    fn waiting(&self) -> usize {
        0
    }
}

/// Counts a hop of a datagram that arrived from a neighbour. Returns the datagram if it must be forwarded.
pub(crate) fn arrive<B>(
    address: Address,
    mut datagram: Datagram<B>,
    counters: &mut Counters,
    out: &mut RoutingOutput<B>,
) -> Option<Datagram<B>> {
    datagram.hops = datagram.hops.saturating_add(1);
    datagram.ttl = datagram.ttl.saturating_sub(1);
    if datagram.destination == address {
        out.deliver.push(datagram);
    } else if datagram.source == address {
        counters.drop(out, datagram, DropCause::Returned);
    } else if datagram.ttl == 0 {
        counters.drop(out, datagram, DropCause::TtlExpired);
    } else {
        return Some(datagram);
    }
    None
}

/// A path in a node's table, for pictures and checks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathReport {
    /// First node of the path.
    pub next_hop: Address,
    /// Last node before the destination, if the protocol records it.
    pub last_hop: Option<Address>,
    /// Length in hops.
    pub hops: u8,
    /// Estimated bandwidth in bytes per second, if the protocol estimates it.
    pub bandwidth: Option<f64>,
    /// Estimated delay, if the protocol estimates it.
    pub delay: Option<Duration>,
    /// Sequence number of the destination for this path, if the protocol uses such numbers.
    pub sequence: Option<u32>,
    /// AOMDV: number of hops that the node announces to other nodes. The announced number is set after the first
    /// announcement.
    pub advertised: Option<u8>,
}
