//! Counters of a router, and the functions that update them for sent messages and dropped datagrams.

use core::time::Duration;

use crate::datagram::{Datagram, IP_HEADER, Packet};
use crate::message::Message;
use crate::output::{DropCause, NextHop, RoutingOutput, Transmit};

/// Numbers of messages of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of messages that this node created and sent.
    pub sent: u64,
    /// Number of messages of other nodes that this node forwarded.
    pub forwarded: u64,
}

/// Counters of a router since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Numbers of route requests.
    pub requests: Tally,
    /// Numbers of route replies.
    pub replies: Tally,
    /// Numbers of route errors. A route error counts as forwarded if it reports another node's error.
    pub errors: Tally,
    /// Number of HELLO messages.
    pub hellos: u64,
    /// Number of probes.
    pub probes: u64,
    /// Bytes at IP level of all messages.
    pub bytes: u64,
    /// Number of searches for a route. A search may take several requests.
    pub discoveries: u64,
    /// Number of searches that failed.
    pub failures: u64,
    /// Number of local repairs that were begun.
    pub repairs: u64,
    /// Number of datagrams sent on another path after a link had failed.
    pub salvages: u64,
    /// Number of the node's own datagrams that were sent while originals and retransmissions had different paths (Guo,
    /// Liu and Lian 2010, §5.3).
    pub apart: u64,
    /// Number of the node's own datagrams that were sent while originals and retransmissions had the same path.
    pub together: u64,
    /// Number of dropped datagrams by cause, in the order of [`DropCause::ALL`].
    pub drops: [u64; DropCause::ALL.len()],
}

/// Origin of a message: this node or another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The message was created by this node.
    Own,
    /// The message was created by another node.
    Forwarded,
}

impl Tally {
    fn count(&mut self, own: bool) -> &mut u64 {
        if own { &mut self.sent } else { &mut self.forwarded }
    }
}

impl Counters {
    /// Returns the number of datagrams dropped for this cause.
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.drops[cause as usize]
    }

    /// Returns the number of messages sent and forwarded. Each transmission counts.
    pub fn messages(&self) -> u64 {
        let tallies = [self.requests, self.replies, self.errors];
        self.hellos + self.probes + tallies.iter().map(|t| t.sent + t.forwarded).sum::<u64>()
    }

    pub(crate) fn transmit<B>(
        &mut self,
        out: &mut RoutingOutput<B>,
        origin: Origin,
        to: NextHop,
        message: Message,
        after: Duration,
    ) {
        self.bytes += u64::from(IP_HEADER + message.bytes());
        let own = origin == Origin::Own;
        let count = match message {
            Message::Request(_) => self.requests.count(own),
            Message::Reply(_) => self.replies.count(own),
            Message::Error(_) => self.errors.count(own),
            Message::Hello { .. } => &mut self.hellos,
            Message::Probe => &mut self.probes,
        };
        *count += 1;
        out.transmit.push(Transmit { to, packet: Packet::Control(message), after });
    }

    pub(crate) fn drop<B>(&mut self, out: &mut RoutingOutput<B>, datagram: Datagram<B>, cause: DropCause) {
        self.drops[cause as usize] += 1;
        out.drop.push((datagram, cause));
    }
}
