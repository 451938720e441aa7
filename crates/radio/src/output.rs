//! Requests and reports of a radio to its caller.

use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::config::Rate;
use crate::frame::{FrameKind, FrameOutcome};

/// An alarm that the caller returns at its time, to [`Radio::handle_alarm`](crate::Radio::handle_alarm).
/// Alarms are never cancelled: the radio ignores one that has become stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// The end of a frame.
    Frame(u32),
    /// A timer of some station.
    Timer,
    /// The next movement of stations.
    Move,
}

/// Requests and reports of a call, in order. The caller empties the lists and keeps the allocation.
#[derive(Debug)]
pub struct RadioOutput<P> {
    /// Alarms to return, and their times.
    pub alarms: Vec<(Instant, Alarm)>,
    /// Events.
    pub events: Vec<RadioEvent<P>>,
    /// Frames that have ended, if the caller provides a list.
    pub frames: Option<Vec<FrameRecord>>,
}

/// A frame that was on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Type of the frame.
    pub kind: FrameKind,
    /// Transmitting station.
    pub from: StationId,
    /// Intended receiver.
    pub to: Destination,
    /// Time of its beginning.
    pub start: Instant,
    /// Time of its end.
    pub end: Instant,
    /// Length with MAC header and FCS, without preamble.
    pub bytes: u32,
    /// Bit rate.
    pub rate: Rate,
    /// Outcome at its receiver.
    pub outcome: FrameOutcome,
}

/// An event on the air.
#[derive(Clone, Debug)]
pub enum RadioEvent<P> {
    /// A packet arrived at its receiver for the first time.
    Received(Reception<P>),
    /// A station completed a packet: it was acknowledged, or it was broadcast. The station's queue has room
    /// again.
    Sent {
        /// Transmitting station.
        from: StationId,
        /// Receiver.
        to: Destination,
    },
    /// A packet was abandoned after the last retry: for the station, the link to `to` has failed.
    Failed {
        /// Transmitting station.
        from: StationId,
        /// Station that did not answer.
        to: StationId,
        /// The packet.
        packet: P,
    },
    /// An interface queue rejected a packet, or dropped one for a packet of more priority.
    Dropped {
        /// Owner of the queue.
        from: StationId,
        /// The packet.
        packet: P,
        /// Reason.
        cause: DropCause,
    },
}

/// A received packet.
#[derive(Clone, Debug)]
pub struct Reception<P> {
    /// Receiving station.
    pub at: StationId,
    /// Transmitting station.
    pub from: StationId,
    /// True for a packet to all stations.
    pub broadcast: bool,
    /// Time at which the packet entered the transmitting station's interface queue.
    pub queued: Instant,
    /// The packet.
    pub packet: P,
}

/// Reason why an interface queue dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was full.
    QueueFull,
    /// A packet of more priority took the place of the packet.
    PushedOut,
}

impl<P> Default for RadioOutput<P> {
    fn default() -> Self {
        RadioOutput { alarms: Vec::new(), events: Vec::new(), frames: None }
    }
}
