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
    /// What for.
    pub by: HeldBy,
    /// Since when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
    /// The receive window was full while data waited at the receiver for this message. `None`: all that filled it was in
    /// flight, or something else was the reason.
    pub behind: Option<u64>,
    /// Usable paths whose congestion window was full.
    pub full: Vec<String>,
    /// Usable paths that would have taken another packet.
    pub open: Vec<String>,
}

/// The answer to a query: the traces of the messages asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The flow's name.
    pub flow: String,
    /// The frame of a video that they are, or that the message asked for is a part of.
    pub frame: Option<FrameInfo>,
    /// The messages, by number.
    pub messages: Vec<MessageTrace>,
    /// Earlier messages that had not come when one of [`messages`](Self::messages) had, by number: it waited for them.
    pub blockers: Vec<MessageTrace>,
    /// What held the sender back, from the submission of the first of the messages until all were sent, in order of time.
    pub holds: Vec<Hold>,
    /// Earlier messages that kept the receive window full meanwhile, by number: [`Hold::behind`].
    pub holders: Vec<MessageTrace>,
    /// Messages that the flow handed in, in all of the run.
    pub submitted: u64,
    /// Frames that these are the messages of, begun ones included; `None`: the flow carries no video.
    pub frames: Option<u64>,
    /// The flows' time 0.
    pub origin: Instant,
    /// When the run ended.
    pub end: Instant,
}

/// The trace of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTrace {
    /// Its number: messages of a flow count from 0.
    pub number: u64,
    /// Its bytes.
    pub bytes: u32,
    /// When the application made it.
    pub created: Instant,
    /// When the transport took it: later if its buffer was full.
    pub taken: Instant,
    /// Messages that were taken before it, and of which nothing had been sent by then.
    pub ahead: u64,
    /// Its packets, in order of sending.
    pub transmissions: Vec<Transmission>,
    /// When all of it had arrived.
    pub complete: Option<Instant>,
    /// When the receiving application got it.
    pub delivered: Option<Instant>,
    /// It was computed from repair symbols: the packet that brought the last of them completed it.
    pub recovered: bool,
    /// Why it went no further, if it did not.
    pub dropped: Option<DropTrace>,
    /// The first and the last coded block that it is in: its packets are those of their symbols. Of several blocks, and of one
    /// that came before an earlier one, `complete` is when the last symbol came that was of use.
    pub blocks: Option<(u32, u32)>,
}

/// How the sender dropped a message.
#[derive(Clone, Debug, PartialEq)]
pub struct DropTrace {
    /// When.
    pub at: Instant,
    /// Why.
    pub cause: DropCause,
    /// When its lifetime ends.
    pub expires: Option<Instant>,
    /// Chunks of it that were sent, and those of them that had not arrived.
    pub sent: u64,
    /// See [`sent`](Self::sent).
    pub missing: u64,
    /// Bytes of it that were never sent.
    pub unsent: u64,
    /// How the flow's paths stood then.
    pub paths: Vec<PathStanding>,
}

/// How a path stood at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStanding {
    /// Its name.
    pub path: String,
    /// It was active: it answered, and was not put aside.
    pub active: bool,
    /// What the transport and its scheme knew of it: values by their names in time series.
    pub gauges: Vec<(&'static str, f64)>,
}

/// A packet with data of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// The packet's number in the run.
    pub packet: u64,
    /// The path's name.
    pub path: String,
    /// When the transport sent it.
    pub sent: Instant,
    /// Bytes at IP level.
    pub len: u32,
    /// It carries data that were sent before.
    pub retransmission: bool,
    /// The symbol that it carries, where the flow codes: the first one if it carries several chunks.
    pub symbol: Option<SymbolName>,
    /// A repair symbol beside messages: it covers others, too.
    pub beside: bool,
    /// Which transmission it is of what it carries of the message: 1 is the first.
    pub nth: u32,
    /// When the retransmission timer expired for it; `None`: it did not, or not before the same was sent again.
    pub timeout: Option<Instant>,
    /// Links in order, as far as it came.
    pub hops: Vec<Hop>,
    /// How it ended.
    pub outcome: Outcome,
}

/// A packet's way over one link.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The link's name and direction: `b`, or `b.reverse`.
    pub link: String,
    /// When it came to the link.
    pub entered: Instant,
    /// When its serialisation began; `None`: it did not get that far.
    pub started: Option<Instant>,
    /// When its serialisation ended.
    pub departed: Option<Instant>,
    /// When it came out.
    pub arrived: Option<Instant>,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It brought something new.
    Arrived(Instant),
    /// It arrived, and brought nothing new.
    Duplicate(Instant),
    /// It arrived damaged, or after its flow's end.
    Refused(Instant),
    /// It was lost on the last of its links.
    Lost(LossPlace),
    /// It was under way when the run ended.
    UnderWay,
}

impl Hop {
    /// How long it waited for the transmitter.
    pub fn queued(&self) -> Option<Duration> {
        self.started.map(|started| started - self.entered)
    }

    /// How long its bits took to leave.
    pub fn serialisation(&self) -> Option<Duration> {
        Some(self.departed? - self.started?)
    }

    /// How long it was on the way.
    pub fn propagation(&self) -> Option<Duration> {
        Some(self.arrived? - self.departed?)
    }
}

impl PathStanding {
    /// The gauge of this name.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.gauges.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }
}

impl Transmission {
    /// How long its host took to send it.
    pub fn host(&self) -> Option<Duration> {
        self.hops.first().map(|hop| hop.entered - self.sent)
    }

    /// How long it waited in queues.
    pub fn queued(&self) -> Duration {
        self.hops.iter().filter_map(Hop::queued).sum()
    }
}

impl MessageTrace {
    /// How long it waited in its host before it was first sent.
    pub fn waited(&self) -> Option<Duration> {
        self.own().next().map(|first| first.sent - self.created)
    }

    /// Its packets, or those of its blocks, without repair symbols beside messages.
    pub fn own(&self) -> impl Iterator<Item = &Transmission> {
        self.transmissions.iter().filter(|t| !t.beside)
    }

    /// How many of its own packets were lost.
    pub fn losses(&self) -> usize {
        self.own().filter(|t| matches!(t.outcome, Outcome::Lost(_))).count()
    }

    /// How long it was whole and waited for earlier ones.
    pub fn blocked(&self) -> Option<Duration> {
        Some(self.delivered? - self.complete?)
    }
}

impl Explanation {
    /// When the frame was captured.
    pub fn capture(&self) -> Option<Instant> {
        Some(self.messages.first()?.created - self.frame?.lag)
    }

    /// When the frame was to be shown.
    pub fn due(&self) -> Option<Instant> {
        Some(self.capture()? + self.frame?.deadline)
    }

    /// Checks that what was asked for was there.
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

    /// When the last of the messages was delivered; `None`: one was not.
    pub fn delivered(&self) -> Option<Instant> {
        self.messages.iter().map(|m| m.delivered).reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    /// The message that decided when all were there: the one that was not delivered, or the last that was, of several the
    /// one that was whole last.
    pub fn decisive(&self) -> Option<&MessageTrace> {
        let last =
            |m: &&MessageTrace| (m.delivered.unwrap_or(Instant::MAX), m.complete.unwrap_or(Instant::MAX));
        self.messages.iter().rev().max_by_key(last)
    }

    /// Of the messages that `message` waited for, the one that came last.
    pub fn blocker_of(&self, message: &MessageTrace) -> Option<&MessageTrace> {
        let complete = message.complete?;
        let earlier = self.blockers.iter().filter(|m| m.number < message.number);
        let open = earlier.filter(|m| m.complete.is_none_or(|at| at > complete));
        open.max_by_key(|m| m.complete.unwrap_or(Instant::MAX))
    }
}
