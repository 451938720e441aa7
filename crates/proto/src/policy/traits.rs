//! Decisions of policies.

use core::fmt::Debug;

use smallvec::{SmallVec, smallvec};

use super::act::{Act, Flight};
use super::advice::Advice;
use super::give_up::GiveUp;
use super::ids::{PathId, PathSet};
use super::importance::{Heads, Importance};
use super::miss_scope::MissScope;
use super::moves::Moves;
use super::signal::{AckInfo, ChunkInfo, LossCause, LossTrigger, Report, RxInfo, Signal};
use super::symbols::{RepairOffer, SymbolAssignment, SymbolChoice};
use super::view::{Estimate, Limit, PathView, View};
use crate::time::{Duration, Instant};

/// Maximum number of acts of a scheme at a time ([`Policy::act`]), and of copies by acts that wait for room.
pub const MOST_ACTS: usize = 256;

/// Interface of all policies: a policy receives every signal, and may request a [`Signal::Tick`].
pub trait Policy: Debug + Send {
    /// Handles a signal.
    fn on_signal(&mut self, _view: &View<'_>, _signal: &Signal<'_>) {}

    /// Time of the next `Tick` that the policy needs. After a `Tick` it must be `None` or later.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Returns the paths whose estimates and limits `signal` changes. The core then reads no values of other paths.
    /// `signal` is a [`Signal::Sent`], [`Signal::Acked`], [`Signal::Arrived`] or [`Signal::PeerArrivals`]; the last one
    /// has no path of its own. The core calls this for estimators, after they have handled the signal, and for
    /// congestion control.
    fn moves(&self, _signal: &Signal<'_>) -> Moves {
        Moves::All
    }

    /// Returns whether the policy needs [`Signal::Delivered`], a signal for each chunk that arrives. It is called once,
    /// at the beginning of the association. The signal is sent if any part of a scheme needs it.
    fn hears_deliveries(&self) -> bool {
        false
    }

    /// Returns whether the policy needs [`Signal::PeerArrivals`]. It is called once, at the beginning of the
    /// association. The peer is then asked to report arrivals by its clock.
    fn hears_arrivals(&self) -> bool {
        false
    }

    /// Returns whether [`Policy::act`] ever returns an act. It is called once, at the beginning of the association.
    fn acts(&self) -> bool {
        false
    }

    /// Returns the next spontaneous action. The core calls it if there was any signal other than [`Signal::Sent`] since
    /// the last call. It first processes all packets and timers that are due, and each SACK completely, and sends no
    /// more data before the call. It repeats the call until the result is `None`, at most [`MOST_ACTS`] times. Each act
    /// is executed before the next call, whose `view` and `flight` show its effects. Signals that acts cause (`Lost`)
    /// do not cause another call.
    fn act(&mut self, _view: &View<'_>, _flight: &Flight<'_>) -> Option<Act> {
        None
    }

    /// Returns rates for an encoder; `None` if they are unknown. It is called after a signal, at most every 100 ms. The
    /// result of the first part of a scheme that returns rates counts; the scheduler is called before the congestion
    /// control.
    fn advice(&self, _view: &View<'_>) -> Option<Advice> {
        None
    }

    /// Adds sentences on the policy's state for people, such as "the peer does not speak REPORT: …". It is called
    /// rarely, for display.
    fn diagnostics(&self, _view: &View<'_>, _out: &mut Vec<&'static str>) {}

    /// Adds the policy's own counters, each with its name and its count since the association began. It is called
    /// rarely.
    fn counters(&self, _out: &mut Vec<(&'static str, u64)>) {}
}

/// Measurement of paths. Several estimators run in parallel, and each writes other fields.
pub trait PathEstimator: Policy {
    /// Writes the estimates of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);
}

/// Decisions about losses: which chunks are lost, for what cause, and on which paths they are retransmitted.
pub trait LossPolicy: Policy {
    /// Returns the number of miss indications that `ack` (of the chunk's path) adds to a chunk that it leaves
    /// unacknowledged.
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8;

    /// Returns the chunks for which [`LossPolicy::misses`] may be more than 0 for `ack`: The core does not call it for
    /// other chunks, so that a SACK causes no work for them.
    fn miss_scope(&self, _view: &View<'_>, _ack: &AckInfo) -> MissScope {
        MissScope::ALL
    }

    /// Returns the number of miss indications after which a chunk is lost.
    fn threshold(&self, _path: PathId) -> u8 {
        3
    }

    /// Returns the cause of the chunk's loss.
    fn classify(&mut self, _view: &View<'_>, _chunk: &ChunkInfo, _trigger: LossTrigger) -> LossCause {
        LossCause::Congestion
    }

    /// Returns how to retransmit a lost chunk. It is called at each opportunity until the chunk is sent.
    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit;
}

/// Handling of a lost chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Retransmit {
    /// Send the chunk on this path as soon as the path's window has room.
    On(PathId),
    /// Ask again at the next opportunity.
    Hold,
    /// The scheduler decides, before new data: [`Scheduler::next`] is called with a [`Backlog`] that describes this
    /// chunk, and each path of its [`Assignment`] gets a copy. The assignment is only for this chunk.
    Requeue,
    /// Give up the message. This is refused for a reliable message, and the chunk is then held.
    Abandon,
}

/// Decisions about the limits of data in flight. There is one object for the whole association, so that windows can be
/// coupled.
pub trait CongestionControl: Policy {
    /// Limit of `path`.
    fn limit(&self, path: PathId) -> Limit;

    /// Limit in bytes over all paths.
    fn aggregate(&self) -> Option<u64> {
        None
    }

    /// Adds values of `path` other than its limit: names and values for series of a run. It is called rarely, for
    /// measurements.
    fn gauges(&self, _path: PathId, _out: &mut Vec<(&'static str, f64)>) {}
}

/// Data that wait to be sent.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Backlog {
    /// Payload bytes that wait for the scheduler: bytes not yet sent, and lost bytes that are left to the scheduler
    /// ([`Retransmit::Requeue`]).
    pub bytes: u64,
    /// Number of messages that are not completely sent.
    pub messages: usize,
    /// Counted bytes of the next chunk: payload + 16 bytes. The chunk belongs to the oldest message, or is a lost
    /// chunk.
    pub next_len: u64,
    /// Unsent payload bytes of the oldest message, including the next chunk; 0 for a retransmission.
    pub rest: u64,
    /// True if a part of that message was sent, which would be wasted if the message was given up. False for a
    /// retransmission.
    pub begun: bool,
    /// Time at which the next chunk's message becomes useless, whether the chunk is new or lost.
    pub next_expires: Option<Instant>,
    /// True if the next chunk was lost before and left to the scheduler; `tried` has its earlier paths.
    pub retransmission: bool,
    /// Paths on which the next chunk was already sent; none if it is new.
    pub tried: PathSet,
    /// Importance of the next chunk's message.
    pub next_importance: Importance,
    /// Group of the next chunk's message.
    pub next_group: Option<u64>,
    /// First message of each importance ([`Assignment::importance`]); none if messages leave in coded blocks.
    pub heads: Heads,
}

/// Chunks for one or more paths. Without a path, the next message, which has a lifetime, is given up
/// ([`Assignment::nowhere`]).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Assignment {
    /// Paths of the chunks. Each chunk is sent on every one of these paths once the path has room, unless the chunk has
    /// arrived or was lost by then.
    pub paths: SmallVec<[PathId; 4]>,
    /// Maximum number of chunks. The core stops when the room is used up, and then calls the scheduler again. A
    /// retransmission counts as one chunk.
    pub chunks: u32,
    /// Importance of the messages, which must have an entry in [`Backlog::heads`]; `None` selects the oldest message of
    /// all. It has no effect on a retransmission.
    pub importance: Option<Importance>,
    /// Reason for giving up the message if there is no path.
    pub why: GiveUp,
}

impl Assignment {
    /// Assigns up to `chunks` chunks to `path`.
    #[inline]
    pub fn on(path: PathId, chunks: u32) -> Self {
        Assignment { paths: smallvec![path], chunks, ..Assignment::default() }
    }

    /// Restricts the assignment to messages of `importance`.
    #[inline]
    pub fn of(self, importance: Importance) -> Self {
        Assignment { importance: Some(importance), ..self }
    }

    /// Gives up the next message, for the reason `why`.
    pub fn nowhere(why: GiveUp) -> Self {
        Assignment { why, ..Assignment::default() }
    }
}

/// Decisions about the paths of new data.
pub trait Scheduler: Policy {
    /// Returns the next assignment. It is called while data wait and some path has room. `None` holds all data until
    /// the next signal, or until pacing lets a path send again.
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment>;

    /// Returns the path whose window should shrink because its data in flight block other paths. It is called after
    /// [`Scheduler::next`] has held all data back, and when a buffer is full while a path has room ([`View::blocked`]).
    /// The congestion control receives a [`Signal::LossEvent`] with [`LossTrigger::HeadOfLine`] and decides on the
    /// effect. Then the scheduler is called for data again. The result is ignored if nothing is in flight on the path,
    /// or if less than a round trip of the path has passed since its last penalty, for any reason.
    ///
    /// [`TransportConfig::head_of_line`](crate::config::TransportConfig::head_of_line) sets the core's own handling of
    /// full buffers.
    fn penalise(&mut self, _view: &View<'_>) -> Option<PathId> {
        None
    }

    /// Returns the next symbol and its path if the association codes in blocks ([`View::blocks`]). It is called in
    /// place of [`Scheduler::next`] while a path has room, once for each symbol. `None` holds all data until the next
    /// signal. A result that is not possible is counted as refused, and also holds all data: if the path has no room,
    /// there is no such block, the block has no source symbol left to send, or a repair symbol is of an open block.
    ///
    /// The default sends only source symbols, in order, each on the path that [`Scheduler::next`] would choose.
    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        let block = view.blocks.iter().find(|b| b.sources_sent < b.sources)?;
        let path = *self.next(view, backlog)?.paths.first()?;
        Some(SymbolAssignment { path, block: block.number, what: SymbolChoice::Source })
    }

    /// Returns the path of a repair symbol that is due in addition to messages ([`crate::coding::RepairCoding`]);
    /// `None` if the symbol is not to leave now. It is called again with the next chunk.
    ///
    /// The default considers the paths with room on which the symbol would arrive before the last of its sources is
    /// useless. It takes the path that carried the fewest of these sources; ties go to the lowest round-trip time.
    fn next_repair(&mut self, view: &View<'_>, offer: &RepairOffer) -> Option<PathId> {
        let arrives = |p: &PathView| view.now + p.srtt.unwrap_or_default() / 2;
        let in_time = |p: &&PathView| offer.expires.is_none_or(|(_, last)| arrives(p) < last);
        let fit = view.usable_paths().filter(|p| p.has_room()).filter(in_time);
        fit.min_by_key(|p| (offer.sent_on(p.id), p.srtt.unwrap_or(Duration::MAX), p.id)).map(|p| p.id)
    }
}

/// Occasions on which a feedback policy may add reports to a packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ReportTrigger {
    /// Reports that precede DATA on this path. Their size is at most [`Feedback::overhead`].
    Data(PathId),
    /// Reports that accompany a SACK on this path.
    Sack(PathId),
    /// Reports that accompany a HEARTBEAT.
    Heartbeat(PathId),
    /// Reports that accompany a HEARTBEAT ACK.
    HeartbeatAck(PathId),
    /// Reports after any signal, in packets of their own.
    Tick,
}

/// Time and path of an acknowledgement.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AckDecision {
    /// If true, the SACK is sent at once. Otherwise it is sent at every second packet or after SACK.Delay.
    pub now: bool,
    /// Path of the acknowledgement. If `None`, the acknowledgements take the return paths that the peer requested
    /// ([`Feedback::return_paths`]) in turn, if any of them works. Otherwise they take the path of the data, or another
    /// path if that path seems dead.
    pub via: Option<PathId>,
}

/// Heartbeats that a scheme requests.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Path of the heartbeats.
    pub path: PathId,
    /// Number of heartbeats, back to back.
    pub count: u8,
    /// If true, the heartbeats are padded to the path's MTU.
    pub padded: bool,
}

/// Feedback of both sides: reports to the peer's scheme, and times of acknowledgements.
pub trait Feedback: Policy {
    /// Adds the reports for `trigger` to `out`.
    fn reports(&mut self, _view: &View<'_>, _trigger: ReportTrigger, _out: &mut Vec<Report>) {}

    /// Number of bytes reserved in each DATA packet for reports of `ReportTrigger::Data`, with the REPORT chunk header
    /// and the items.
    fn overhead(&self) -> usize {
        0
    }

    /// Decides on the acknowledgement of `rx`. The default is RFC 9260 §6.7 and §6.2.
    fn sack(&mut self, _view: &View<'_>, rx: &RxInfo) -> AckDecision {
        AckDecision { now: rx.gap || rx.filled || rx.duplicate || rx.immediate, via: None }
    }

    /// Returns the paths by which the peer's SACKs should return, of which the four with the lowest ids count. An empty
    /// set leaves the choice to the peer. It is called after each input and timeout with a signal other than
    /// [`Signal::Arrived`], if the scheme receives arrivals ([`Policy::hears_arrivals`]). The peer's core alternates
    /// its SACKs over the paths of the set that work at its end. It does not do so if its own scheme names a path
    /// ([`AckDecision::via`]), or if data arrive again, which shows that an earlier SACK was lost. A signed report
    /// announces a change of the set, at most every 100 ms. After a change that is too early for a report, this method
    /// is called again after the next input.
    fn return_paths(&mut self, _view: &View<'_>) -> PathSet {
        PathSet::default()
    }

    /// Returns heartbeats to send now, in addition to those of the core.
    fn probe(&mut self, _view: &View<'_>) -> Option<Probe> {
        None
    }
}

/// All policies of an association, as the core calls them. Most schemes are [`super::Parts`]. A scheme whose parts read
/// each other's state implements this trait and the traits of its parts, and returns itself as each part.
///
/// The core calls [`observe`](Self::observe) and [`react`](Self::react) in place of [`Policy::on_signal`].
pub trait Scheme: Policy {
    /// Name of the preset, for people.
    fn name(&self) -> &str;

    /// Handles the first half of a signal: estimators and loss policy. The core then refreshes every `PathView::est`.
    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>);

    /// Writes the estimates of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);

    /// Handles the second half of a signal: congestion control, scheduler, feedback. The core then refreshes every
    /// `PathView::limit`.
    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>);

    /// Returns the loss policy, which decides which chunks are lost, for what cause, and how they are retransmitted.
    fn loss(&mut self) -> &mut dyn LossPolicy;

    /// Returns the congestion control, which limits the data in flight.
    fn congestion(&self) -> &dyn CongestionControl;

    /// Returns the scheduler, which chooses the paths of new data.
    fn scheduler(&mut self) -> &mut dyn Scheduler;

    /// Returns the feedback policy, which decides on acknowledgements and on reports to the peer.
    fn feedback(&mut self) -> &mut dyn Feedback;
}
