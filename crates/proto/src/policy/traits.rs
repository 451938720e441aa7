//! Decisions that the core asks policies to make.

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

/// Maximum number of actions of a scheme at a time ([`Policy::act`]). The maximum also limits the copies requested by
/// actions that wait for room.
pub const MOST_ACTS: usize = 256;

/// Interface of all policies. Each policy receives every signal, and may request a [`Signal::Tick`].
pub trait Policy: Debug + Send {
    /// Handles a signal.
    fn on_signal(&mut self, _view: &View<'_>, _signal: &Signal<'_>) {}

    /// Returns the time of the next [`Signal::Tick`] that the policy needs. After a `Tick` the result must be `None` or
    /// a later time.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Returns the paths whose estimates and limits `signal` changes. The core then does not read values of other
    /// paths. `signal` is a [`Signal::Sent`], [`Signal::Acked`], [`Signal::Arrived`] or [`Signal::PeerArrivals`]. A
    /// `PeerArrivals` has no path of its own. The core calls this method for estimators after they have handled the
    /// signal, and for the congestion control.
    fn moves(&self, _signal: &Signal<'_>) -> Moves {
        Moves::All
    }

    /// Returns whether the policy needs [`Signal::Delivered`], a signal for each chunk that arrives. The method is
    /// called once, when the association begins. The signal is sent if any part of the scheme needs it.
    fn hears_deliveries(&self) -> bool {
        false
    }

    /// Returns whether the policy needs [`Signal::PeerArrivals`]. The method is called once, when the association
    /// begins. If a policy needs the signal, the peer is asked to report arrivals by its clock.
    fn hears_arrivals(&self) -> bool {
        false
    }

    /// Returns whether [`Policy::act`] can return an action. The method is called once, when the association begins.
    fn acts(&self) -> bool {
        false
    }

    /// Returns the next spontaneous action of the policy. The core calls this method if any signal other than
    /// [`Signal::Sent`] occurred since the last call. Before the call, the core processes all packets and timers that
    /// are due, and each SACK completely. The core sends no more data before the call. The core repeats the call until
    /// the result is `None`, at most [`MOST_ACTS`] times. Each action is executed before the next call. `view` and
    /// `flight` of that call show its effects. Signals that actions cause (`Lost`) do not cause another call.
    fn act(&mut self, _view: &View<'_>, _flight: &Flight<'_>) -> Option<Act> {
        None
    }

    /// Returns recommended rates for an encoder; `None` if they are unknown. The method is called after a signal, at
    /// most every 100 ms. The scheme's advice is the result of the first part that returns rates. The scheduler is
    /// called before the congestion control.
    fn advice(&self, _view: &View<'_>) -> Option<Advice> {
        None
    }

    /// Adds diagnostics of the policy's state, such as "the peer does not speak REPORT: …". The method is called
    /// rarely, to display the diagnostics.
    fn diagnostics(&self, _view: &View<'_>, _out: &mut Vec<&'static str>) {}

    /// Adds the policy's own counters, each with its name and its count since the association began. The method is
    /// called rarely.
    fn counters(&self, _out: &mut Vec<(&'static str, u64)>) {}
}

/// Estimator of path properties. A scheme may have several estimators, and each writes different fields.
pub trait PathEstimator: Policy {
    /// Writes the estimates of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);
}

/// Decisions about losses: which chunks are lost, the cause of each loss, and the paths of retransmissions.
pub trait LossPolicy: Policy {
    /// Returns the number of miss indications that the SACK in `ack` adds to a chunk of the path of `ack`. The SACK
    /// does not acknowledge this chunk.
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8;

    /// Returns the chunks to which [`LossPolicy::misses`] may add miss indications for `ack`. The core does not call
    /// that method for other chunks, so a SACK causes no work for other chunks.
    fn miss_scope(&self, _view: &View<'_>, _ack: &AckInfo) -> MissScope {
        MissScope::ALL
    }

    /// Returns the number of miss indications after which a chunk counts as lost.
    fn threshold(&self, _path: PathId) -> u8 {
        3
    }

    /// Returns the cause of the chunk's loss.
    fn classify(&mut self, _view: &View<'_>, _chunk: &ChunkInfo, _trigger: LossTrigger) -> LossCause {
        LossCause::Congestion
    }

    /// Returns how to retransmit a lost chunk. The method is called at each send opportunity until the chunk is sent.
    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit;
}

/// Answer of a loss policy about a lost chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Retransmit {
    /// Retransmit the chunk on this path as soon as the path's window has room.
    On(PathId),
    /// Do not retransmit the chunk now. The policy is asked again at the next send opportunity.
    Hold,
    /// The scheduler decides on the chunk, before new data. [`Scheduler::next`] is called with a [`Backlog`] that
    /// describes the chunk, and the chunk is sent on each path of the returned [`Assignment`]. This assignment applies
    /// only to the chunk.
    Requeue,
    /// Abandon the chunk's message. A reliable message is not abandoned: its chunk is held instead.
    Abandon,
}

/// Decisions about limits of the data in flight. One object handles all paths of an association, so that windows can be
/// coupled.
pub trait CongestionControl: Policy {
    /// Returns the limit of `path`.
    fn limit(&self, path: PathId) -> Limit;

    /// Returns the limit of bytes in flight over all paths.
    fn aggregate(&self) -> Option<u64> {
        None
    }

    /// Adds names and values of `path` for time series of a run, other than its limit. The method is called rarely, for
    /// measurements.
    fn gauges(&self, _path: PathId, _out: &mut Vec<(&'static str, f64)>) {}
}

/// Data that wait for the scheduler's decision.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Backlog {
    /// Payload bytes that wait for the scheduler. The waiting bytes are the bytes not yet sent, and the lost bytes that
    /// the loss policy leaves to the scheduler ([`Retransmit::Requeue`]).
    pub bytes: u64,
    /// Number of messages that are not completely sent.
    pub messages: usize,
    /// Counted bytes of the next chunk: payload + 16 bytes. The next chunk belongs to the oldest message, or is a lost
    /// chunk.
    pub next_len: u64,
    /// Unsent payload bytes of the oldest message, including the next chunk. The number of bytes is 0 if the next chunk
    /// is a retransmission.
    pub rest: u64,
    /// True if a part of the oldest message was already sent. Giving up the message would waste that part. The field is
    /// false if the next chunk is a retransmission.
    pub begun: bool,
    /// Time at which the message of the next chunk becomes useless. The time is set for new and for lost chunks.
    pub next_expires: Option<Instant>,
    /// True if the next chunk was lost and the loss policy left it to the scheduler. `tried` then has its earlier
    /// paths.
    pub retransmission: bool,
    /// Paths on which the next chunk was already sent. The set is empty for a new chunk.
    pub tried: PathSet,
    /// Importance of the next chunk's message.
    pub next_importance: Importance,
    /// Group of the next chunk's message.
    pub next_group: Option<u64>,
    /// First message of each importance ([`Assignment::importance`]). The list is empty if messages are sent in coded
    /// blocks.
    pub heads: Heads,
}

/// A scheduler's decision: chunks, and one or more paths for them. An assignment without a path gives up the next
/// message, which must have a lifetime ([`Assignment::nowhere`]).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Assignment {
    /// Paths of the chunks. Each chunk is sent on every one of these paths as soon as the path has room. A chunk is no
    /// longer sent once the chunk has arrived or is lost.
    pub paths: SmallVec<[PathId; 4]>,
    /// Maximum number of chunks. The core stops when the paths have no more room, and then calls the scheduler again. A
    /// retransmission counts as one chunk.
    pub chunks: u32,
    /// Importance of the messages. [`Backlog::heads`] must have an entry for it. `None` selects the oldest of all
    /// messages. For a retransmission, this value has no effect.
    pub importance: Option<Importance>,
    /// Reason for giving up the message, if the assignment has no path.
    pub why: GiveUp,
}

impl Assignment {
    /// Returns an assignment of up to `chunks` chunks to `path`.
    #[inline]
    pub fn on(path: PathId, chunks: u32) -> Self {
        Assignment { paths: smallvec![path], chunks, ..Assignment::default() }
    }

    /// Restricts the assignment to messages of `importance`.
    #[inline]
    pub fn of(self, importance: Importance) -> Self {
        Assignment { importance: Some(importance), ..self }
    }

    /// Returns an assignment that gives up the next message for the reason `why`.
    pub fn nowhere(why: GiveUp) -> Self {
        Assignment { why, ..Assignment::default() }
    }
}

/// Decisions about the paths of new data.
pub trait Scheduler: Policy {
    /// Returns the next assignment of chunks to paths. The core calls this method while data wait and some path has
    /// room. `None` holds all data back until the next signal, or until pacing permits another packet on a path.
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment>;

    /// Returns the path whose window should shrink because its data in flight block other paths. The core calls this
    /// method after [`Scheduler::next`] has held all data back. The core also calls it when a buffer is full while a
    /// path has room ([`View::blocked`]). The congestion control receives a [`Signal::LossEvent`] with
    /// [`LossTrigger::HeadOfLine`] and decides on the effect. After that, the scheduler is called again for data. The
    /// result is ignored if no data are in flight on the path. A penalty is also ignored if less than one round trip of
    /// the path has passed since the path's last penalty, for any reason.
    ///
    /// [`TransportConfig::head_of_line`](crate::config::TransportConfig::head_of_line) configures the core's own
    /// treatment of full buffers.
    fn penalise(&mut self, _view: &View<'_>) -> Option<PathId> {
        None
    }

    /// Returns the next symbol and its path, if data are sent in coded blocks ([`View::blocks`]). The core calls this
    /// method in place of [`Scheduler::next`] while a path has room, once for each symbol. `None` holds all data back
    /// until the next signal. A result that is not possible counts as refused and also holds all data back. A result is
    /// not possible in four cases: the path has no room, the block does not exist, the block has no unsent source
    /// symbol, or a repair symbol is chosen for an open block.
    ///
    /// The default sends only source symbols, in order. Each takes the path that [`Scheduler::next`] would choose.
    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        let block = view.blocks.iter().find(|b| b.sources_sent < b.sources)?;
        let path = *self.next(view, backlog)?.paths.first()?;
        Some(SymbolAssignment { path, block: block.number, what: SymbolChoice::Source })
    }

    /// Returns the path of a repair symbol that is due in addition to messages ([`crate::coding::RepairCoding`]).
    /// `None` postpones the symbol. The method is called again with the next chunk.
    ///
    /// The default considers the paths with room on which the symbol would arrive before the last of its covered
    /// sources becomes useless. Among these paths, the default chooses the path that carried the fewest of the covered
    /// sources. If several did, it chooses the lowest round-trip time.
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
    /// DATA on this path: the reports precede them. The size of reports on DATA is at most [`Feedback::overhead`].
    Data(PathId),
    /// A SACK on this path: the reports accompany it.
    Sack(PathId),
    /// A HEARTBEAT on this path: the reports accompany it.
    Heartbeat(PathId),
    /// A HEARTBEAT ACK on this path: the reports accompany it.
    HeartbeatAck(PathId),
    /// Any signal: the reports are sent in packets of their own.
    Tick,
}

/// A feedback policy's decision on the time and path of an acknowledgement.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AckDecision {
    /// If true, the SACK is sent immediately. If false, a SACK is sent for every second packet, or after SACK.Delay.
    pub now: bool,
    /// Path of the acknowledgement. If `None`, acknowledgements alternate over the return paths that the peer requested
    /// ([`Feedback::return_paths`]), if any of them works. If no requested path works, acknowledgements take the path
    /// of the data, or another path if the path of the data seems dead.
    pub via: Option<PathId>,
}

/// Heartbeats that a scheme requests on one path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Path of the heartbeats.
    pub path: PathId,
    /// Number of heartbeats, which are sent back to back.
    pub count: u8,
    /// If true, the heartbeats are padded to the path's MTU.
    pub padded: bool,
}

/// Feedback between the two sides: reports to the peer's scheme, and times of acknowledgements.
pub trait Feedback: Policy {
    /// Adds the reports for the occasion `trigger` to `out`.
    fn reports(&mut self, _view: &View<'_>, _trigger: ReportTrigger, _out: &mut Vec<Report>) {}

    /// Returns the number of bytes that each DATA packet reserves for reports of `ReportTrigger::Data`. The reserved
    /// bytes include the REPORT chunk header and the items.
    fn overhead(&self) -> usize {
        0
    }

    /// Decides on the acknowledgement of the packet `rx`. The default follows RFC 9260 §6.7 and §6.2.
    fn sack(&mut self, _view: &View<'_>, rx: &RxInfo) -> AckDecision {
        AckDecision { now: rx.gap || rx.filled || rx.duplicate || rx.immediate, via: None }
    }

    /// Returns the paths by which the peer's SACKs should return. Only the four paths with the lowest ids count. An
    /// empty set leaves the choice to the peer. The core calls this method after each input and timeout that caused a
    /// signal other than [`Signal::Arrived`]. The scheme must request arrivals ([`Policy::hears_arrivals`]). The peer's
    /// core alternates its SACKs over those paths of the set that work at its end. The peer's core does not alternate
    /// if the peer's own scheme names a path ([`AckDecision::via`]), or if data arrive again: an earlier SACK was then
    /// lost. A signed report announces a change of the set to the peer, at most every 100 ms. If a change comes too
    /// early for such a report, this method is called again after the next input.
    fn return_paths(&mut self, _view: &View<'_>) -> PathSet {
        PathSet::default()
    }

    /// Returns heartbeats to be sent now, in addition to those of the core.
    fn probe(&mut self, _view: &View<'_>) -> Option<Probe> {
        None
    }
}

/// All policies of an association, in the form in which the core calls them. Most schemes are [`super::Parts`] objects.
/// Some schemes have parts that read each other's state. A scheme with such parts implements this trait and the traits
/// of its parts, and returns itself as each part.
///
/// The core calls [`observe`](Self::observe) and [`react`](Self::react) in place of [`Policy::on_signal`].
pub trait Scheme: Policy {
    /// Returns the name of the preset, for display.
    fn name(&self) -> &str;

    /// Handles the first half of a signal, which concerns estimators and loss policy. After this call, the core
    /// refreshes every `PathView::est`.
    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>);

    /// Writes the estimates of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);

    /// Handles the second half of a signal, which concerns congestion control, scheduler and feedback. After this call,
    /// the core refreshes every `PathView::limit`.
    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>);

    /// Returns the loss policy. The loss policy decides which chunks are lost, for what cause, and how they are
    /// retransmitted.
    fn loss(&mut self) -> &mut dyn LossPolicy;

    /// Returns the congestion control, which limits the data in flight.
    fn congestion(&self) -> &dyn CongestionControl;

    /// Returns the scheduler, which chooses the paths of new data.
    fn scheduler(&mut self) -> &mut dyn Scheduler;

    /// Returns the feedback policy, which decides on acknowledgements and on reports to the peer.
    fn feedback(&mut self) -> &mut dyn Feedback;
}
