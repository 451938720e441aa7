//! Interface between a routing protocol and its node.

use core::fmt::Debug;
use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::counters::Counters;
use crate::datagram::{Datagram, Packet};
use crate::message::Message;
use crate::output::{DropCause, RoutingOutput};

/// State of the node at a call.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Current time.
    pub now: Instant,
    /// Time for which the channel around this node has been idle since the start of the run.
    pub idle: Duration,
    /// Number of packets that the interface queue can still take.
    pub room: usize,
}

/// The link over which a packet arrived.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Transmitting neighbour.
    pub from: Address,
    /// Time from the packet's entry into that neighbour's interface queue to its arrival.
    pub delay: Duration,
}

/// Payload of a datagram, as far as the classifier reads it.
pub trait Body: Clone + Debug + Send {
    /// Data transmission of a reliable transport in the payload; `None` for an acknowledgement or another
    /// transport.
    fn transmission(&self) -> Option<Transmission> {
        None
    }
}

/// Range of a stream's bytes in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Number of the stream.
    pub flow: u32,
    /// Sequence number after the last byte, modulo 2³².
    pub end: u32,
}

/// A routing protocol on one node. The node calls its methods, which return actions in `out`.
pub trait Routing<B: Body>: Debug + Send {
    /// Starts the run.
    fn start(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// Sends a datagram of the node's host.
    fn originate(&mut self, context: &Context, datagram: Datagram<B>, out: &mut RoutingOutput<B>);

    /// Handles a datagram from a neighbour.
    fn handle_datagram(
        &mut self,
        context: &Context,
        link: Link,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    );

    /// Handles a neighbour's message.
    fn handle_message(
        &mut self,
        _context: &Context,
        _link: Link,
        _message: Message,
        _out: &mut RoutingOutput<B>,
    ) {
    }

    /// Handles a packet for neighbour `to` that the link layer abandoned. Each call of `queued` removes a further
    /// packet that waits for `to`, and returns it.
    fn handle_link_failure(
        &mut self,
        context: &Context,
        to: Address,
        packet: Packet<B>,
        queued: &mut dyn FnMut() -> Option<Packet<B>>,
        out: &mut RoutingOutput<B>,
    );

    /// Handles a packet for neighbour `to` that was removed from the interface queue because of
    /// [`RoutingOutput::reclaim`]. The node then removes packets for further entries of `out.reclaim`.
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

    /// Handles an expired timer.
    fn handle_timeout(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// Time of the next [`handle_timeout`](Self::handle_timeout).
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Paths to a destination that the node would use now, for pictures and checks. The best path is the first.
    fn paths(&self, now: Instant, destination: Address) -> Vec<PathReport>;

    /// Counters since the start of the run.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Number of datagrams held: those that wait for a route or for room in the interface queue.
    fn waiting(&self) -> usize {
        0
    }
}

/// Counts the hop of a datagram from a neighbour, and returns the datagram if it must be forwarded.
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

/// A path in a node's table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathReport {
    /// First node of the path.
    pub next_hop: Address,
    /// Last node before the destination, if the protocol has it.
    pub last_hop: Option<Address>,
    /// Length in hops.
    pub hops: u8,
    /// Estimated bytes per second, if the protocol estimates them.
    pub bandwidth: Option<f64>,
    /// Estimated delay, if the protocol estimates it.
    pub delay: Option<Duration>,
    /// Destination's sequence number of the path, if the protocol uses such numbers.
    pub sequence: Option<u32>,
    /// AOMDV: hops that the node announces to others, after the first announcement.
    pub advertised: Option<u8>,
}
