//! Agents: the ends of routes.

use core::any::Any;
use core::fmt::Debug;

use strandcast_proto::association::{Dropped, HeldBy};
use strandcast_proto::policy::LinkSample;
use strandcast_proto::time::Instant;

use super::ids::{DirectedLinkId, RouteId};
use super::packet::{Body, Framing, Packet};

/// One end of a flow, on a separate host.
///
/// The network calls one of the `handle_…` methods and then `run`. `run` sends all output of the present time.
pub trait Agent: Any + Debug + Send {
    /// Handles a packet that arrived.
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, out: &mut AgentOutput);

    /// Handles everything that is due at `now`, and appends all output to `out`.
    fn run(&mut self, now: Instant, out: &mut AgentOutput);

    /// Returns the time of the next run if no packet arrives before. After each run at this time, the method must
    /// return a later time.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Handles new counters of a wireless access link on which this agent sends.
    fn handle_link(&mut self, _now: Instant, _wire: DirectedLinkId, _sample: LinkSample) {}

    /// Handles a link of this agent that went down or up. Links that change without notice cause no call.
    fn handle_interface(&mut self, _now: Instant, _wire: DirectedLinkId, _up: bool) {}

    /// Reports counters since the start, per path or for the whole flow: `gauge(path, name, total)`.
    fn counters(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// Reports diagnostics of the scheme in use: `report(scheme, sentence)`.
    fn diagnostics(&self, _now: Instant, _report: &mut dyn FnMut(&str, &'static str)) {}

    /// Reports values that change continually, such as windows and round-trip times: `gauge(path, name, value)`.
    fn gauges(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// Returns the state of a sender of data after it has sent everything that it may send. Returns `None` for an agent
    /// that sends no data or has no windows.
    fn standing(&self, _now: Instant) -> Option<Standing> {
        None
    }

    /// Reports the coded blocks that a sender holds, oldest first: `block(number, bytes of the stream in it)`.
    fn blocks(&self, _report: &mut dyn FnMut(u32, u64)) {}

    /// Returns the bytes in a receiver's buffer; `None` if there is no buffer.
    fn receive_buffered(&self) -> Option<u64> {
        None
    }
}

/// State of a sender of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Reason for which new data are not sent; `None` if no data wait.
    pub held: Option<Held>,
    /// First TSN (32 bits) that the peer has not acknowledged cumulatively. For a stream of bytes, it is the first such
    /// byte. The value is `None` without a connection.
    pub unacknowledged: Option<u64>,
    /// Existing paths that are not active, because they do not answer or are suspended.
    pub inactive: Paths,
}

/// Reason for which a sender's new data wait, with the states of its paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Reason for which new data wait.
    pub by: HeldBy,
    /// Usable paths whose congestion window is full.
    pub full: Paths,
    /// Usable paths on which another packet could be sent.
    pub open: Paths,
}

/// A set of the paths of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paths(u64);

impl Paths {
    /// The set without paths.
    pub const NONE: Paths = Paths(0);

    /// Adds a path to the set.
    pub fn insert(&mut self, path: u8) {
        // A transport has at most 32 paths.
        self.0 |= 1_u64.checked_shl(u32::from(path)).unwrap_or(0);
    }

    /// Returns the paths in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |path| self.0 >> path & 1 == 1)
    }
}

impl FromIterator<u8> for Paths {
    fn from_iter<I: IntoIterator<Item = u8>>(paths: I) -> Self {
        let mut all = Paths::default();
        paths.into_iter().for_each(|path| all.insert(path));
        all
    }
}

/// Output of an agent: packets for the network, and events for the observer.
#[derive(Debug, Default)]
pub struct AgentOutput {
    /// Packets to be sent, in order.
    pub packets: Vec<Outgoing>,
    /// Events for the observer, in order.
    pub events: Vec<TraceEvent>,
}

/// A packet to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Route on which the packet is sent.
    pub route: RouteId,
    /// Bytes at IP level, including headers.
    pub len: u32,
    /// Bytes of application data in the packet.
    pub payload: u32,
    /// True if the packet carries a retransmission.
    pub retransmission: bool,
    /// Framing of the user data in the packet's DATA chunks.
    pub framing: Framing,
    /// Contents of the packet.
    pub body: Body,
}

/// An event at an end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// The application sent a message.
    Submitted {
        /// Number of the message.
        message: u64,
        /// Bytes of the message.
        bytes: u32,
    },
    /// A packet that contains data arrived.
    Arrived {
        /// Path on which the packet arrived.
        path: u8,
        /// Time at which the packet was sent.
        sent: Instant,
        /// Bytes at IP level.
        wire: u32,
        /// Bytes of application data.
        payload: u32,
        /// TSN, or the corresponding number of another protocol.
        sequence: Option<u32>,
        /// True if the packet contained new data.
        new: bool,
    },
    /// The receiving application received a message.
    Delivered {
        /// Number of the message.
        message: u64,
        /// Bytes of the message.
        bytes: u32,
        /// Time at which the sending application submitted it.
        submitted: Instant,
    },
    /// The receiving application received further bytes of a stream that has no messages.
    Progress {
        /// Number of bytes that it received.
        bytes: u64,
    },
    /// A message that the application submitted was dropped. The message has the number that the application assigned.
    Dropped(Dropped),
    /// The load of background traffic was drawn again. Unsent data are dropped.
    Redrawn,
}
