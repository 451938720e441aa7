//! What a router has done, and the two things that are counted wherever they happen: messages sent and datagrams dropped.

use core::time::Duration;

use crate::datagram::{Datagram, IP_HEADER, Packet};
use crate::message::Message;
use crate::output::{DropCause, NextHop, RoutingOutput, Transmit};

/// Messages of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sent as their source.
    pub sent: u64,
    /// Sent on.
    pub forwarded: u64,
}

/// What a router has done since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Route requests.
    pub requests: Tally,
    /// Route replies.
    pub replies: Tally,
    /// Route errors; those that pass on another node's are forwarded.
    pub errors: Tally,
    /// HELLO messages.
    pub hellos: u64,
    /// Probes.
    pub probes: u64,
    /// Bytes of all these at IP level.
    pub bytes: u64,
    /// Searches for a route, of one request or more.
    pub discoveries: u64,
    /// Searches given up.
    pub failures: u64,
    /// Local repairs begun.
    pub repairs: u64,
    /// Datagrams sent on by another path after a link had failed.
    pub salvages: u64,
    /// Own datagrams sent while originals and retransmissions had different paths (Guo, Liu and Lian 2010, §5.3).
    pub apart: u64,
    /// Own datagrams sent while both had the same path.
    pub together: u64,
    /// Datagrams dropped, by cause in the order of [`DropCause::ALL`].
    pub drops: [u64; DropCause::ALL.len()],
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This node.
    Own,
    /// Another.
    Forwarded,
}

impl Tally {
    fn count(&mut self, own: bool) -> &mut u64 {
        if own { &mut self.sent } else { &mut self.forwarded }
    }
}

impl Counters {
    /// Datagrams dropped for this cause.
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.drops[cause as usize]
    }

    /// Messages sent and forwarded, each transmission counted.
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
