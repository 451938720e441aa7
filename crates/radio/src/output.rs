//! Requests and events that a radio returns to its caller.

use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::config::Rate;
use crate::frame::{FrameKind, FrameOutcome};

/// An alarm. The caller passes it to [`Radio::handle_alarm`](crate::Radio::handle_alarm) at the alarm's time. Alarms
/// are never cancelled. The radio ignores an alarm that is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A frame ends at this time.
    Frame(u32),
    /// The timer of a station expires at this time.
    Timer,
    /// Stations move at this time.
    Move,
}

/// Requests and events that calls return, in order. The caller empties the lists. The memory of emptied lists stays
/// allocated.
#[derive(Debug)]
pub struct RadioOutput<P> {
    /// Requested alarms, each with its time.
    pub alarms: Vec<(Instant, Alarm)>,
    /// Events on the air.
    pub events: Vec<RadioEvent<P>>,
    /// Frames that have ended. Frames are recorded at their end if the caller provides this list.
    pub frames: Option<Vec<FrameRecord>>,
}

/// A frame that was on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Transmitting station.
    pub from: StationId,
    /// Receiver to which the frame was addressed.
    pub to: Destination,
    /// Time at which the frame began.
    pub start: Instant,
    /// Time at which the frame ended.
    pub end: Instant,
    /// Bytes of the frame with MAC header and FCS, without preamble.
    pub bytes: u32,
    /// Bit rate of the frame.
    pub rate: Rate,
    /// Outcome of the frame at its receiver.
    pub outcome: FrameOutcome,
}

/// An event on the air.
#[derive(Clone, Debug)]
pub enum RadioEvent<P> {
    /// A packet arrived at its receiver for the first time.
    Received(Reception<P>),
    /// A station completed a packet, because it was acknowledged or broadcast. The station's queue has room again.
    Sent {
        /// Transmitting station.
        from: StationId,
        /// Receiver to which the packet was addressed.
        to: Destination,
    },
    /// A station abandoned a packet after the last retry. For this station, the link to `to` has failed.
    Failed {
        /// Station that transmitted the packet.
        from: StationId,
        /// Station that did not answer.
        to: StationId,
        /// The abandoned packet.
        packet: P,
    },
    /// An interface queue rejected a packet, or dropped a packet to make room for one with a higher priority.
    Dropped {
        /// Station that owns the queue.
        from: StationId,
        /// The dropped packet.
        packet: P,
        /// Reason for the drop.
        cause: DropCause,
    },
}

/// A packet that arrived at its receiver.
#[derive(Clone, Debug)]
pub struct Reception<P> {
    /// Receiving station.
    pub at: StationId,
    /// Transmitting station.
    pub from: StationId,
    /// True if the packet is addressed to all stations.
    pub broadcast: bool,
    /// Time at which the packet entered the transmitting station's interface queue.
    pub queued: Instant,
    /// The packet that arrived.
    pub packet: P,
}

/// Reason for which an interface queue dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was full.
    QueueFull,
    /// A packet with a higher priority replaced the packet.
    PushedOut,
}

impl<P> Default for RadioOutput<P> {
    fn default() -> Self {
        RadioOutput { alarms: Vec::new(), events: Vec::new(), frames: None }
    }
}
