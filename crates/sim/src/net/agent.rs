//! The agents at the ends of routes.

use core::any::Any;
use core::fmt::Debug;

use strandcast_proto::association::{Dropped, HeldBy};
use strandcast_proto::policy::LinkSample;
use strandcast_proto::time::Instant;

use super::ids::{DirectedLinkId, RouteId};
use super::packet::{Body, Framing, Packet};

/// One end of a flow, on a host of its own as far as the others are concerned.
///
/// The network calls `handle_…` and then `run`, which sends all there is to send at this instant.
pub trait Agent: Any + Debug + Send {
    /// A packet arrived.
    fn handle_packet(&mut self, now: Instant, packet: Packet, out: &mut AgentOutput);

    /// Acts on what is due at `now` and emits all its output.
    fn run(&mut self, now: Instant, out: &mut AgentOutput);

    /// When to run even if nothing arrives; must move on with each run that was due.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Counters of a wireless access link that this agent sends over.
    fn handle_link(&mut self, _now: Instant, _wire: DirectedLinkId, _sample: LinkSample) {}

    /// A link that this agent sends over went down, or came up again, with notice.
    fn handle_interface(&mut self, _now: Instant, _wire: DirectedLinkId, _up: bool) {}

    /// Counters since the start, per path or of the whole flow: `gauge(path, name, total)`.
    fn counters(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// Diagnostics of the scheme in use: `report(scheme, sentence)`.
    fn diagnostics(&self, _now: Instant, _report: &mut dyn FnMut(&str, &'static str)) {}

    /// What changes all the time (window, round-trip time): `gauge(path, name, value)`.
    fn gauges(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// Where a sender of data stands, once it has sent all that it may; `None`: it sends no data, or keeps no windows.
    fn standing(&self, _now: Instant) -> Option<Standing> {
        None
    }

    /// Coded blocks that a sender keeps, oldest first: `block(number, bytes of the stream in it)`.
    fn blocks(&self, _report: &mut dyn FnMut(u32, u64)) {}

    /// Bytes in a receiver's buffer; `None`: it has none.
    fn receive_buffered(&self) -> Option<u64> {
        None
    }
}

/// Where a sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What keeps new data from being sent; `None`: none wait.
    pub held: Option<Held>,
    /// The first TSN (its 32 bits), or byte of the stream, that the peer has not acknowledged cumulatively; `None`: there is
    /// no connection.
    pub unacknowledged: Option<u64>,
    /// Paths that are there, but not active: they do not answer, or were put aside.
    pub inactive: Paths,
}

/// What keeps a sender's new data waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The reason.
    pub by: HeldBy,
    /// Usable paths whose congestion window is full.
    pub full: Paths,
    /// Usable paths that would take another packet.
    pub open: Paths,
}

/// Some of a flow's paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paths(u64);

impl Paths {
    /// None of them.
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

/// The output of an agent: packets for the network, events for the observer.
#[derive(Debug, Default)]
pub struct AgentOutput {
    /// Packets to send, in order.
    pub packets: Vec<Outgoing>,
    /// What happened, in order.
    pub events: Vec<TraceEvent>,
}

/// A packet to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Which way.
    pub route: RouteId,
    /// Bytes at IP level, headers included.
    pub len: u32,
    /// Bytes of application data in it.
    pub payload: u32,
    /// It carries a retransmission.
    pub retransmission: bool,
    /// What the user data of its DATA chunks are, if it has any.
    pub framing: Framing,
    /// What it says.
    pub body: Body,
}

/// What happened at an end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// The application handed in a message.
    Submitted {
        /// Its number.
        message: u64,
        /// Its bytes.
        bytes: u32,
    },
    /// A packet with data arrived.
    Arrived {
        /// By which path.
        path: u8,
        /// When it was sent.
        sent: Instant,
        /// Bytes at IP level.
        wire: u32,
        /// Bytes of application data.
        payload: u32,
        /// TSN, or its like in other protocols.
        sequence: Option<u32>,
        /// Something in it was new.
        new: bool,
    },
    /// A message was handed to the receiving application.
    Delivered {
        /// Its number.
        message: u64,
        /// Its bytes.
        bytes: u32,
        /// When the sending application handed it in.
        submitted: Instant,
    },
    /// The receiving application got so many more bytes of a stream without message boundaries.
    Progress {
        /// Bytes.
        bytes: u64,
    },
    /// A message that was handed in goes no further; the message's number is the application's.
    Dropped(Dropped),
    /// The load of background traffic was redrawn: what is not yet sent is dropped.
    Redrawn,
}
