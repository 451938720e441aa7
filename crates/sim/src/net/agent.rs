//! The agents at the ends of routes.

use core::any::Any;
use core::fmt::Debug;

use strandcast_proto::association::{Dropped, HeldBy};
use strandcast_proto::policy::LinkSample;
use strandcast_proto::time::Instant;

use super::ids::{DirectedLinkId, RouteId};
use super::packet::{Body, Framing, Packet};

/// One end of a flow, on a separate host.
///
/// The network calls one of the `handle_…` methods and then `run`, which sends all output of this instant.
pub trait Agent: Any + Debug + Send {
    /// Handles a packet.
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, out: &mut AgentOutput);

    /// Acts on everything due at `now` and emits all output.
    fn run(&mut self, now: Instant, out: &mut AgentOutput);

    /// Time of the next run without an arrival. The time must advance with each run at that time.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Handles new counters of a wireless access link over which this agent sends.
    fn handle_link(&mut self, _now: Instant, _wire: DirectedLinkId, _sample: LinkSample) {}

    /// Handles a link of this agent that went down or up, with notice.
    fn handle_interface(&mut self, _now: Instant, _wire: DirectedLinkId, _up: bool) {}

    /// Counters since the start, per path or for the whole flow: `gauge(path, name, total)`.
    fn counters(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// Diagnostics of the scheme in use: `report(scheme, sentence)`.
    fn diagnostics(&self, _now: Instant, _report: &mut dyn FnMut(&str, &'static str)) {}

    /// Values that change continually (window, round-trip time): `gauge(path, name, value)`.
    fn gauges(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// State of a data sender after it has sent all that it may; `None` for an agent that sends no data or
    /// keeps no windows.
    fn standing(&self, _now: Instant) -> Option<Standing> {
        None
    }

    /// Coded blocks that a sender holds, oldest first: `block(number, bytes of the stream in it)`.
    fn blocks(&self, _report: &mut dyn FnMut(u32, u64)) {}

    /// Bytes in a receiver's buffer; `None` without a buffer.
    fn receive_buffered(&self) -> Option<u64> {
        None
    }
}

/// State of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Reason why new data are not sent; `None` if none wait.
    pub held: Option<Held>,
    /// First TSN (32 bits) that the peer has not acknowledged cumulatively, or the first such byte of a stream; `None`
    /// without a connection.
    pub unacknowledged: Option<u64>,
    /// Existing paths that are not active: they do not answer, or are suspended.
    pub inactive: Paths,
}

/// Reason why a sender's new data wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The reason.
    pub by: HeldBy,
    /// Usable paths whose congestion window is full.
    pub full: Paths,
    /// Usable paths that could take another packet.
    pub open: Paths,
}

/// A set of a flow's paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paths(u64);

impl Paths {
    /// The empty set.
    pub const NONE: Paths = Paths(0);

    /// Adds a path.
    pub fn insert(&mut self, path: u8) {
        // A transport has at most 32 paths.
        self.0 |= 1_u64.checked_shl(u32::from(path)).unwrap_or(0);
    }

    /// The paths, in ascending order.
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
    /// Packets to send, in order.
    pub packets: Vec<Outgoing>,
    /// Events, in order.
    pub events: Vec<TraceEvent>,
}

/// A packet to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Route.
    pub route: RouteId,
    /// Bytes at IP level, headers included.
    pub len: u32,
    /// Bytes of application data in it.
    pub payload: u32,
    /// True if the packet carries a retransmission.
    pub retransmission: bool,
    /// Framing of the user data in its DATA chunks.
    pub framing: Framing,
    /// Contents.
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
    /// A packet with data arrived.
    Arrived {
        /// Path.
        path: u8,
        /// Time of sending.
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
    /// The receiving application received further bytes of a stream without message boundaries.
    Progress {
        /// Number of bytes.
        bytes: u64,
    },
    /// A submitted message was dropped. It has the application's number.
    Dropped(Dropped),
    /// The load of background traffic was redrawn: unsent data are dropped.
    Redrawn,
}
