//! What a radio asks of its caller.

use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::config::Rate;
use crate::frame::{FrameKind, FrameOutcome};

/// Something the caller is to hand back at its time, to [`Radio::handle_alarm`](crate::Radio::handle_alarm). Alarms are never
/// cancelled: one that has become stale is handed back and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A frame ends.
    Frame(u32),
    /// A timer of some station.
    Timer,
    /// Stations have moved.
    Move,
}

/// What a call asks for and reports, in order. The caller empties both and keeps the allocation.
#[derive(Debug)]
pub struct RadioOutput<P> {
    /// What to hand back, and when.
    pub alarms: Vec<(Instant, Alarm)>,
    /// What happened.
    pub events: Vec<RadioEvent<P>>,
    /// Each frame that has ended, if the caller puts a list here.
    pub frames: Option<Vec<FrameRecord>>,
}

/// A frame that was on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// What it was.
    pub kind: FrameKind,
    /// Who transmitted it.
    pub from: StationId,
    /// Whom it was for.
    pub to: Destination,
    /// When it began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// Its length with MAC header and FCS, without preamble.
    pub bytes: u32,
    /// At which rate.
    pub rate: Rate,
    /// How it fared at the station it was for.
    pub outcome: FrameOutcome,
}

/// What happened on the air.
#[derive(Clone, Debug)]
pub enum RadioEvent<P> {
    /// A packet arrived at a station that it was sent to, for the first time.
    Received(Reception<P>),
    /// A station is done with a packet: it was acknowledged, or it was broadcast. There is room in its queue.
    Sent {
        /// By whom.
        from: StationId,
        /// To whom.
        to: Destination,
    },
    /// A packet was given up after the last retry: the link to `to` has failed, as far as the station can tell.
    Failed {
        /// By whom.
        from: StationId,
        /// Who did not answer.
        to: StationId,
        /// The packet.
        packet: P,
    },
    /// An interface queue did not take a packet, or pushed one out.
    Dropped {
        /// Whose.
        from: StationId,
        /// The packet.
        packet: P,
        /// Why.
        cause: DropCause,
    },
}

/// A packet that arrived.
#[derive(Clone, Debug)]
pub struct Reception<P> {
    /// Where.
    pub at: StationId,
    /// Who transmitted it.
    pub from: StationId,
    /// Whether it was for all.
    pub broadcast: bool,
    /// When it entered the transmitting station's interface queue.
    pub queued: Instant,
    /// The packet.
    pub packet: P,
}

/// Why an interface queue dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// It was full.
    QueueFull,
    /// An urgent packet took its place.
    PushedOut,
}

impl<P> Default for RadioOutput<P> {
    fn default() -> Self {
        RadioOutput { alarms: Vec::new(), events: Vec::new(), frames: None }
    }
}
