//! What a routing protocol is to the node it runs on.

use core::fmt::Debug;
use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::counters::Counters;
use crate::datagram::{Datagram, Packet};
use crate::message::Message;
use crate::output::{DropCause, RoutingOutput};

/// What the node knows when it calls.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Now.
    pub now: Instant,
    /// How long the channel around this node has been idle since the start of the run.
    pub idle: Duration,
    /// Packets that the interface queue takes before it is full.
    pub room: usize,
}

/// The link over which something arrived.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The neighbour that transmitted it.
    pub from: Address,
    /// From its entry into that neighbour's interface queue to its arrival.
    pub delay: Duration,
}

/// What a datagram carries, as far as the classifier looks into it.
pub trait Body: Clone + Debug + Send {
    /// The transmission of a reliable transport's data in it; `None`: an acknowledgement, or no such transport.
    fn transmission(&self) -> Option<Transmission> {
        None
    }
}

/// Bytes of a stream, as a segment carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The stream.
    pub flow: u32,
    /// The sequence number behind the last byte, modulo 2³².
    pub end: u32,
}

/// A routing protocol on one node. The node calls; what is to be done comes back in `out`.
pub trait Routing<B: Body>: Debug + Send {
    /// The run begins.
    fn start(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// The node's own host sends a datagram.
    fn originate(&mut self, context: &Context, datagram: Datagram<B>, out: &mut RoutingOutput<B>);

    /// A neighbour handed over a datagram.
    fn handle_datagram(
        &mut self,
        context: &Context,
        link: Link,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    );

    /// A neighbour's message arrived.
    fn handle_message(
        &mut self,
        _context: &Context,
        _link: Link,
        _message: Message,
        _out: &mut RoutingOutput<B>,
    ) {
    }

    /// The link layer gave a packet for neighbour `to` up; `queued` takes out those that still wait for it, one per call.
    fn handle_link_failure(
        &mut self,
        context: &Context,
        to: Address,
        packet: Packet<B>,
        queued: &mut dyn FnMut() -> Option<Packet<B>>,
        out: &mut RoutingOutput<B>,
    );

    /// A packet for neighbour `to` was taken out of the interface queue because [`RoutingOutput::reclaim`] asked for it. What
    /// `out.reclaim` holds after that is the next to be reclaimed.
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

    /// The interface queue has room again.
    fn handle_room(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// A timer is due.
    fn handle_timeout(&mut self, _context: &Context, _out: &mut RoutingOutput<B>) {}

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// The paths to a destination that the node would use now, best first, for pictures and checks.
    fn paths(&self, now: Instant, destination: Address) -> Vec<PathReport>;

    /// What it has done so far.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Datagrams it holds: those that wait for a route or for room in the interface queue.
    fn waiting(&self) -> usize {
        0
    }
}

/// A datagram came from a neighbour: counts the hop, and returns it if it goes on.
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
    /// The neighbour it begins with.
    pub next_hop: Address,
    /// The neighbour of the destination it ends with, where the protocol knows it.
    pub last_hop: Option<Address>,
    /// Hops.
    pub hops: u8,
    /// Estimated bytes per second, where the protocol estimates them.
    pub bandwidth: Option<f64>,
    /// Estimated delay, where the protocol estimates it.
    pub delay: Option<Duration>,
    /// The destination's sequence number that the path has, where the protocol has such.
    pub sequence: Option<u32>,
    /// AOMDV: the hops that the node announces to others, once it has.
    pub advertised: Option<u8>,
}
