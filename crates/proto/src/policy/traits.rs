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

/// The part that all policies share: they receive every signal and may request a [`Signal::Tick`].
pub trait Policy: Debug + Send {
    /// Handles a signal.
    fn on_signal(&mut self, _view: &View<'_>, _signal: &Signal<'_>) {}

    /// Time of the next `Tick` that the policy needs. After a `Tick` it must be `None` or later.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Returns the paths whose estimates and limits `signal` changes; it is a [`Signal::Sent`], [`Signal::Acked`],
    /// [`Signal::Arrived`] or [`Signal::PeerArrivals`], which has no path of its own. The core then asks about no other
    /// path. Called for estimators, after they have handled the signal, and for congestion control.
    fn moves(&self, _signal: &Signal<'_>) -> Moves {
        Moves::All
    }

    /// Returns whether the policy needs [`Signal::Delivered`], a signal for each chunk that arrives. Called once, at
    /// the beginning of the association. The signal is sent if any part of a scheme needs it.
    fn hears_deliveries(&self) -> bool {
        false
    }

    /// Returns whether the policy needs [`Signal::PeerArrivals`]. Called once, at the beginning of the association. The
    /// peer is then asked to report arrivals by its clock.
    fn hears_arrivals(&self) -> bool {
        false
    }

    /// Returns whether [`Policy::act`] ever returns an act. Called once, at the beginning of the association.
    fn acts(&self) -> bool {
        false
    }

    /// Returns the next spontaneous action. The core calls it if there was any signal other than [`Signal::Sent`] since
    /// the last call, before anything more is sent, after it has processed all packets and timers of the moment and
    /// each SACK completely. The core repeats the call until `None`, at most [`MOST_ACTS`] times. Each act is executed
    /// before the next call, whose `view` and `flight` show its effects. Signals that acts cause (`Lost`) are not a
    /// reason to call again.
    fn act(&mut self, _view: &View<'_>, _flight: &Flight<'_>) -> Option<Act> {
        None
    }

    /// Returns rates for an encoder; `None`: unknown. Called after a signal, at most every 100 ms. The first part of a
    /// scheme that returns rates counts, the scheduler before the congestion control.
    fn advice(&self, _view: &View<'_>) -> Option<Advice> {
        None
    }

    /// Adds sentences on the policy's state for people, such as "the peer does not speak REPORT: …". Called rarely, for
    /// displays.
    fn diagnostics(&self, _view: &View<'_>, _out: &mut Vec<&'static str>) {}

    /// Adds the policy's own counters: name, and count since the association began. Also called rarely.
    fn counters(&self, _out: &mut Vec<(&'static str, u64)>) {}
}

/// Measures paths. Several estimators run in parallel, and each writes its own fields.
pub trait PathEstimator: Policy {
    /// Writes the estimates of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);
}

/// Decides which chunks are lost, the cause, and where they are sent again.
pub trait LossPolicy: Policy {
    /// Returns the number of miss indications that `ack` (of the chunk's path) adds to a chunk that it leaves
    /// unacknowledged.
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8;

    /// Returns the chunks for which [`LossPolicy::misses`] may be more than 0 for `ack`: the core asks about no other
    /// chunk, so that a SACK causes no work for the others.
    fn miss_scope(&self, _view: &View<'_>, _ack: &AckInfo) -> MissScope {
        MissScope::ALL
    }

    /// Number of miss indications that make a loss.
    fn threshold(&self, _path: PathId) -> u8 {
        3
    }

    /// Returns the cause of the chunk's loss.
    fn classify(&mut self, _view: &View<'_>, _chunk: &ChunkInfo, _trigger: LossTrigger) -> LossCause {
        LossCause::Congestion
    }

    /// Returns where to send a lost chunk again. Called at each opportunity until it is sent.
    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit;
}

/// Handling of a lost chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Retransmit {
    /// Send it on this path as soon as its window has room.
    On(PathId),
    /// Ask again at the next opportunity.
    Hold,
    /// The scheduler decides, before new data: [`Scheduler::next`] is called with a [`Backlog`] that describes this
    /// chunk, and each path of its [`Assignment`] gets a copy. The assignment is only for this chunk.
    Requeue,
    /// Give up the message. For a reliable message this is refused, and the chunk is held.
    Abandon,
}

/// Decides the limits of data in flight. There is one object for the whole association, so that windows can be coupled.
pub trait CongestionControl: Policy {
    /// Limit of `path`.
    fn limit(&self, path: PathId) -> Limit;

    /// Limit in bytes over all paths.
    fn aggregate(&self) -> Option<u64> {
        None
    }

    /// Adds values of `path` other than its limit: names and values for series of a run. Called rarely, for
    /// measurements.
    fn gauges(&self, _path: PathId, _out: &mut Vec<(&'static str, f64)>) {}
}

/// Data that wait to be sent.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Backlog {
    /// Payload bytes that wait for the scheduler: not yet sent, or lost and left to it ([`Retransmit::Requeue`]).
    pub bytes: u64,
    /// Number of messages that are not completely sent.
    pub messages: usize,
    /// Counted bytes of the next chunk, which belongs to the oldest message unless it was lost before: payload + 16
    /// bytes.
    pub next_len: u64,
    /// Unsent payload bytes of the oldest message, including the next chunk; 0 for a retransmission.
    pub rest: u64,
    /// True if a part of that message was sent: giving it up wastes that part. False for a retransmission.
    pub begun: bool,
    /// Time at which the next chunk's message becomes worthless, whether the chunk is new or lost.
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
    /// Paths of the chunks: each chunk is sent on every one of them, once it has room and unless the chunk has arrived
    /// or was lost by then.
    pub paths: SmallVec<[PathId; 4]>,
    /// Maximum number of chunks. The core stops when the room is used up, and asks again. A retransmission counts as
    /// one.
    pub chunks: u32,
    /// Importance of the messages, which must have an entry in [`Backlog::heads`]; `None`: the oldest message of all.
    /// The importance has no effect on a retransmission.
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

/// Decides the paths of new data.
pub trait Scheduler: Policy {
    /// Returns the next assignment. Called while data wait and some path has room. `None` holds everything until the
    /// next signal, or until pacing lets a path send again.
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment>;

    /// Returns the path whose window should shrink because its data in flight block other paths. Called after
    /// [`Scheduler::next`] has held everything back, and when a buffer is full while a path has room
    /// ([`View::blocked`]). The congestion control receives a [`Signal::LossEvent`] with [`LossTrigger::HeadOfLine`]
    /// and decides on the effect; then the scheduler is asked for data again. The result is ignored if nothing is in
    /// flight on the path, or if the last penalty there, for any reason, is less than a round trip of the path ago.
    ///
    /// [`TransportConfig::head_of_line`](crate::config::TransportConfig::head_of_line) sets the core's own handling of
    /// full buffers.
    fn penalise(&mut self, _view: &View<'_>) -> Option<PathId> {
        None
    }

    /// Returns the next symbol and its path if the association codes in blocks ([`View::blocks`]). Called in place of
    /// [`Scheduler::next`] while a path has room, once for each symbol. `None` holds everything until the next signal.
    /// An impossible result (no room, no such block, nothing of it left to send, a repair symbol of an open block) is
    /// counted as refused, and also holds everything.
    ///
    /// The default sends only source symbols, in order, each on the path that [`Scheduler::next`] would choose.
    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        let block = view.blocks.iter().find(|b| b.sources_sent < b.sources)?;
        let path = *self.next(view, backlog)?.paths.first()?;
        Some(SymbolAssignment { path, block: block.number, what: SymbolChoice::Source })
    }

    /// Returns the path of a repair symbol that is due in addition to messages ([`crate::coding::RepairCoding`]);
    /// `None`: not now. The method is called again with the next chunk.
    ///
    /// The default considers the paths with room on which the symbol would arrive before the last of its sources is
    /// worthless. The default takes the one that carried the fewest of these sources; equal ones rank by round-trip
    /// time.
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
    /// Reports that precede DATA on this path. The reports must fit [`Feedback::overhead`].
    Data(PathId),
    /// Reports that accompany a SACK on this path.
    Sack(PathId),
    /// Reports that accompany a HEARTBEAT.
    Heartbeat(PathId),
    /// Reports that accompany a HEARTBEAT ACK.
    HeartbeatAck(PathId),
    /// Reports after any signal, in their own packets.
    Tick,
}

/// Time and path of an acknowledgement.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AckDecision {
    /// If true, the SACK is sent at once; otherwise at every second packet or after SACK.Delay.
    pub now: bool,
    /// Path of the acknowledgement; `None`: the return paths that the peer requested ([`Feedback::return_paths`]), in
    /// turn, if any of them works; else the path of the data, or another one if that seems dead.
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
    /// Adds reports for `trigger` to `out`.
    fn reports(&mut self, _view: &View<'_>, _trigger: ReportTrigger, _out: &mut Vec<Report>) {}

    /// Bytes reserved in each DATA packet for `ReportTrigger::Data` reports: REPORT chunk header and items.
    fn overhead(&self) -> usize {
        0
    }

    /// Decides on the acknowledgement of `rx`. The default is RFC 9260 §6.7 and §6.2.
    fn sack(&mut self, _view: &View<'_>, rx: &RxInfo) -> AckDecision {
        AckDecision { now: rx.gap || rx.filled || rx.duplicate || rx.immediate, via: None }
    }

    /// Returns the paths by which the peer's SACKs should return, at most four (the first by their numbers). An empty
    /// set leaves the choice to the peer. Called after each input and timeout with another signal than
    /// [`Signal::Arrived`], if the scheme receives arrivals ([`Policy::hears_arrivals`]). The peer's core alternates
    /// its SACKs over those paths that work there, unless its own scheme names a path ([`AckDecision::via`]), or data
    /// arrive again, so that an earlier SACK must have been lost. A signed report announces a change, at most every 100
    /// ms. A change that is too early for a report is asked for again after the next input.
    fn return_paths(&mut self, _view: &View<'_>) -> PathSet {
        PathSet::default()
    }

    /// Returns heartbeats to send now, in addition to the core's own.
    fn probe(&mut self, _view: &View<'_>) -> Option<Probe> {
        None
    }
}

/// All policies of an association, as the core calls them. Most schemes are [`super::Parts`]. A scheme whose parts read
/// each other's state implements this trait and the traits of its parts itself, and returns itself for them.
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

    /// The loss policy: which chunks are lost, the cause, and where they are sent again.
    fn loss(&mut self) -> &mut dyn LossPolicy;

    /// The congestion control: limits of data in flight.
    fn congestion(&self) -> &dyn CongestionControl;

    /// The scheduler: paths of new data.
    fn scheduler(&mut self) -> &mut dyn Scheduler;

    /// The feedback: times of acknowledgements, and reports to the peer.
    fn feedback(&mut self) -> &mut dyn Feedback;
}
