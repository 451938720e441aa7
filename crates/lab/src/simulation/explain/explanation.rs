//! The traces of messages.

use core::time::Duration;

use strandcast_proto::association::{DropCause, HeldBy};
use strandcast_proto::time::Instant;
use strandcast_sim::host::SymbolName;

use super::query::{ExplainError, FrameInfo, Query};
use crate::result::meter::LossPlace;

/// A time in which a sender's new data waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Condition that held the sender back.
    pub by: HeldBy,
    /// Start of the wait.
    pub from: Instant,
    /// End of the wait.
    pub to: Instant,
    /// Message at the head of line of the receiver. The receive window was full while data waited for this message.
    /// `None`: all data that filled the window were in flight, or the wait had another reason.
    pub behind: Option<u64>,
    /// Usable paths whose congestion window was full.
    pub full: Vec<String>,
    /// Usable paths that would have taken another packet.
    pub open: Vec<String>,
}

/// Answer to a query: the traces of the requested messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The flow's name.
    pub flow: String,
    /// Video frame that was requested, or that contains the requested message.
    pub frame: Option<FrameInfo>,
    /// The messages, by number.
    pub messages: Vec<MessageTrace>,
    /// Earlier messages for which one of [`messages`](Self::messages) waited. They had not arrived when that message
    /// had arrived.
    pub blockers: Vec<MessageTrace>,
    /// Waits of the sender in order of time. They cover the time from the submission of the first message until all
    /// messages were sent.
    pub holds: Vec<Hold>,
    /// Earlier messages that kept the receive window full during these waits ([`Hold::behind`]).
    pub holders: Vec<MessageTrace>,
    /// Number of messages that the flow submitted in the whole run.
    pub submitted: u64,
    /// Number of frames of these messages, including frames that were submitted in part. `None`: the flow carries no
    /// video.
    pub frames: Option<u64>,
    /// The flows' time 0.
    pub origin: Instant,
    /// End of the run.
    pub end: Instant,
}

/// The trace of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTrace {
    /// Number of the message. The messages of a flow count from 0.
    pub number: u64,
    /// Length of the message in bytes.
    pub bytes: u32,
    /// Time at which the application made the message.
    pub created: Instant,
    /// Time at which the transport accepted the message. If the buffer was full, it is later than `created`.
    pub taken: Instant,
    /// Number of messages that were accepted before this one and had not been sent by then.
    pub ahead: u64,
    /// Packets of the message, in order of sending.
    pub transmissions: Vec<Transmission>,
    /// Time at which the whole message had arrived.
    pub complete: Option<Instant>,
    /// Time at which the receiving application received the message.
    pub delivered: Option<Instant>,
    /// True if the message was computed from repair symbols. The packet with the last symbol that was needed completed
    /// the message.
    pub recovered: bool,
    /// Reason why the sender dropped the message, if it did.
    pub dropped: Option<DropTrace>,
    /// First and last coded block that contain the message. The packets of the message are all packets with symbols of
    /// these blocks. If the message is in several blocks, or arrived before an earlier message, `complete` is the
    /// arrival of the last useful symbol.
    pub blocks: Option<(u32, u32)>,
}

/// Drop of a message by the sender.
#[derive(Clone, Debug, PartialEq)]
pub struct DropTrace {
    /// Time of the drop.
    pub at: Instant,
    /// Reason of the drop.
    pub cause: DropCause,
    /// End of the message's lifetime.
    pub expires: Option<Instant>,
    /// Number of chunks of the message that were sent.
    pub sent: u64,
    /// Number of sent chunks that had not arrived.
    pub missing: u64,
    /// Bytes of the message that were never sent.
    pub unsent: u64,
    /// State of the flow's paths at the time of the drop.
    pub paths: Vec<PathStanding>,
}

/// State of a path at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStanding {
    /// Name of the path.
    pub path: String,
    /// True if the path was active and not suspended.
    pub active: bool,
    /// Values of the path in the transport and its scheme. The names are those of time series.
    pub gauges: Vec<(&'static str, f64)>,
}

/// A packet with data of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Number of the packet in the run.
    pub packet: u64,
    /// The path's name.
    pub path: String,
    /// Time at which the transport sent the packet.
    pub sent: Instant,
    /// Bytes at IP level.
    pub len: u32,
    /// True if the packet carries data that were sent before.
    pub retransmission: bool,
    /// Symbol in the packet, if the flow codes its data. If the packet has several chunks, it is the symbol of the
    /// first chunk.
    pub symbol: Option<SymbolName>,
    /// True for a repair symbol that is sent in addition to messages. Such a symbol also covers other messages.
    pub beside: bool,
    /// Number of this transmission of the message's data: 1 is the first.
    pub nth: u32,
    /// Expiry of the retransmission timer for this transmission. `None`: the timer did not expire before the data were
    /// sent again.
    pub timeout: Option<Instant>,
    /// Links in the order of the route, up to the last one that the packet reached.
    pub hops: Vec<Hop>,
    /// Fate of the packet.
    pub outcome: Outcome,
}

/// Passage of a packet over one link.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The link's name and direction: `b`, or `b.reverse`.
    pub link: String,
    /// Time at which the packet reached the link.
    pub entered: Instant,
    /// Start of the packet's serialisation. `None`: it was not serialised.
    pub started: Option<Instant>,
    /// End of the packet's serialisation.
    pub departed: Option<Instant>,
    /// Time at which the packet left the link.
    pub arrived: Option<Instant>,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet arrived with new data.
    Arrived(Instant),
    /// The packet arrived without new data.
    Duplicate(Instant),
    /// The packet arrived damaged, or after the end of its flow.
    Refused(Instant),
    /// The packet was lost on the last link that it reached.
    Lost(LossPlace),
    /// The packet was in transit when the run ended.
    UnderWay,
}

impl Hop {
    /// Time for which the packet waited for the transmitter.
    pub fn queued(&self) -> Option<Duration> {
        self.started.map(|started| started - self.entered)
    }

    /// Serialisation time of the packet.
    pub fn serialisation(&self) -> Option<Duration> {
        Some(self.departed? - self.started?)
    }

    /// Time for which the packet was in transit.
    pub fn propagation(&self) -> Option<Duration> {
        Some(self.arrived? - self.departed?)
    }
}

impl PathStanding {
    /// Value of the gauge with this name.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.gauges.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }
}

impl Transmission {
    /// Time that the host took to send the transmission.
    pub fn host(&self) -> Option<Duration> {
        self.hops.first().map(|hop| hop.entered - self.sent)
    }

    /// Time for which the transmission waited in queues.
    pub fn queued(&self) -> Duration {
        self.hops.iter().filter_map(Hop::queued).sum()
    }
}

impl MessageTrace {
    /// Time for which the message waited in its host before it was first sent.
    pub fn waited(&self) -> Option<Duration> {
        self.own().next().map(|first| first.sent - self.created)
    }

    /// Packets of the message or of its blocks. Repair symbols that are sent in addition to messages are left out.
    pub fn own(&self) -> impl Iterator<Item = &Transmission> {
        self.transmissions.iter().filter(|t| !t.beside)
    }

    /// Number of the message's own packets that were lost.
    pub fn losses(&self) -> usize {
        self.own().filter(|t| matches!(t.outcome, Outcome::Lost(_))).count()
    }

    /// Time for which the message was complete and waited for earlier messages.
    pub fn blocked(&self) -> Option<Duration> {
        Some(self.delivered? - self.complete?)
    }
}

impl Explanation {
    /// Time at which the frame was captured.
    pub fn capture(&self) -> Option<Instant> {
        Some(self.messages.first()?.created - self.frame?.lag)
    }

    /// Time at which the frame was to be shown.
    pub fn due(&self) -> Option<Instant> {
        Some(self.capture()? + self.frame?.deadline)
    }

    /// Checks that the run had the requested message or frame.
    ///
    /// # Errors
    /// [`ExplainError::NotSent`].
    pub fn check(&self, query: Query) -> Result<(), ExplainError> {
        if !self.messages.is_empty() {
            return Ok(());
        }
        let (what, number, sent) = match query {
            Query::Message(number) => ("message", number, self.submitted),
            Query::Frame(number) => ("frame", u64::from(number), self.frames.unwrap_or(0)),
        };
        Err(ExplainError::NotSent { flow: self.flow.clone(), what, number, sent })
    }

    /// Time at which the last of the messages was delivered. `None`: at least one was not delivered.
    pub fn delivered(&self) -> Option<Instant> {
        self.messages.iter().map(|m| m.delivered).reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    /// The message that arrived last. It is a message that was not delivered, or else the message that was delivered
    /// last. If several messages qualify, it is the one that was completed last.
    pub fn decisive(&self) -> Option<&MessageTrace> {
        let last =
            |m: &&MessageTrace| (m.delivered.unwrap_or(Instant::MAX), m.complete.unwrap_or(Instant::MAX));
        self.messages.iter().rev().max_by_key(last)
    }

    /// The message that arrived last among the messages for which `message` waited.
    pub fn blocker_of(&self, message: &MessageTrace) -> Option<&MessageTrace> {
        let complete = message.complete?;
        let earlier = self.blockers.iter().filter(|m| m.number < message.number);
        let open = earlier.filter(|m| m.complete.is_none_or(|at| at > complete));
        open.max_by_key(|m| m.complete.unwrap_or(Instant::MAX))
    }
}
