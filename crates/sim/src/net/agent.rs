//! What sits at the ends of routes.

use core::any::Any;
use core::fmt::Debug;

use strandcast_proto::policy::LinkSample;
use strandcast_proto::time::Instant;

use super::{Body, Packet, RouteId, WireId};

/// One end of a flow, on a host of its own as far as the others are concerned.
///
/// The network calls `handle_…` and then `run`, which sends all there is to send at this instant.
pub trait Agent: Any + Debug + Send {
    /// A packet arrived.
    fn handle_packet(&mut self, now: Instant, packet: Packet, out: &mut Out);

    /// Acts on what is due at `now` and says all it has to say.
    fn run(&mut self, now: Instant, out: &mut Out);

    /// When to run even if nothing arrives; must move on with each run that was due.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Counters of a wireless access link that this agent sends over.
    fn handle_link(&mut self, _now: Instant, _wire: WireId, _sample: LinkSample) {}

    /// A link that this agent sends over went down, or came up again, with notice.
    fn handle_interface(&mut self, _now: Instant, _wire: WireId, _up: bool) {}

    /// Counters since the start, a path or the whole flow: `gauge(path, name, total)`.
    fn counters(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}

    /// What a scheme has to say of the state it is in: `remark(scheme, sentence)`.
    fn remarks(&self, _now: Instant, _report: &mut dyn FnMut(&str, &'static str)) {}

    /// What changes all the time (window, round-trip time): `gauge(path, name, value)`.
    fn gauges(&self, _now: Instant, _report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {}
}

/// What an agent has to say: packets for the network, notes for whoever measures.
#[derive(Debug, Default)]
pub struct Out {
    /// Packets to send, in order.
    pub packets: Vec<Outgoing>,
    /// What happened, in order.
    pub notes: Vec<Note>,
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
    /// It carries data that were sent before.
    pub again: bool,
    /// What it says.
    pub body: Body,
}

/// What happened at an end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
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
    /// The load of cross traffic was drawn anew: what is not yet sent is dropped.
    Redrawn,
}
