//! What policies decide.

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

/// Acts of a scheme at a time ([`Policy::act`]), and copies by acts that wait for room.
pub const MOST_ACTS: usize = 256;

/// What all policies share: they hear every signal and may ask for a [`Signal::Tick`].
pub trait Policy: Debug + Send {
    /// Something happened.
    fn on_signal(&mut self, _view: &View<'_>, _signal: &Signal<'_>) {}

    /// When the policy wants a `Tick`. After one it must be `None` or later.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// What `signal`, a [`Signal::Sent`], [`Signal::Acked`] or [`Signal::Arrived`], changes of what is estimated and allowed. The core
    /// then asks again about no other path. Asked of estimators and congestion control.
    fn moves(&self, _signal: &Signal<'_>) -> Moves {
        Moves::All
    }

    /// Whether it wants [`Signal::Delivered`], a signal for each chunk that arrives. Asked once, when the association begins;
    /// of a scheme's parts one that says so is enough.
    fn hears_deliveries(&self) -> bool {
        false
    }

    /// Whether it wants [`Signal::PeerArrivals`]. Asked once, when the association begins; then the peer is asked to report
    /// arrivals by its clock.
    fn hears_arrivals(&self) -> bool {
        false
    }

    /// Whether [`Policy::act`] ever does anything. Asked once, when the association begins.
    fn acts(&self) -> bool {
        false
    }

    /// The next thing to do of its own accord. If there was any signal but [`Signal::Sent`] since it was last asked, it is asked
    /// before anything more is sent, when the packets or timers of the moment are dealt with, SACKs wholly: until it is `None`, at most
    /// [`MOST_ACTS`] times. Each act is done before the next question, whose `view` and `flight` show it; signals that acts
    /// bring about (`Lost`) are no reason to ask again.
    fn act(&mut self, _view: &View<'_>, _flight: &Flight<'_>) -> Option<Act> {
        None
    }

    /// What an encoder should choose, as far as it can tell; `None`: it can't. Asked when a signal was heard, at most every
    /// 100 ms; of a scheme's parts the first that can tell is heard, the scheduler before the congestion control.
    fn advice(&self, _view: &View<'_>) -> Option<Advice> {
        None
    }

    /// Adds what people should know of the state it is in, a sentence each, as "the peer does not speak REPORT: …".
    /// Asked seldom, by who shows figures.
    fn diagnostics(&self, _view: &View<'_>, _out: &mut Vec<&'static str>) {}

    /// Adds counters of its own: name, and count since the association began. Asked seldom, too.
    fn counters(&self, _out: &mut Vec<(&'static str, u64)>) {}
}

/// Measures paths. Several run side by side, each writing the fields it owns.
pub trait PathEstimator: Policy {
    /// Writes what is known of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);
}

/// Decides what is lost, why, and where it is sent again.
pub trait LossPolicy: Policy {
    /// Miss indications that `ack` (of the chunk's path) adds to a chunk it leaves unacknowledged.
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8;

    /// Where [`LossPolicy::misses`] may be more than 0 for `ack`: the core asks about no other chunk, so that a SACK costs
    /// nothing for what it leaves as it is.
    fn miss_scope(&self, _view: &View<'_>, _ack: &AckInfo) -> MissScope {
        MissScope::ALL
    }

    /// How many of them make a loss.
    fn threshold(&self, _path: PathId) -> u8 {
        3
    }

    /// Why the chunk was lost.
    fn classify(&mut self, _view: &View<'_>, _chunk: &ChunkInfo, _trigger: LossTrigger) -> LossCause {
        LossCause::Congestion
    }

    /// Where to send a lost chunk again. Asked at each opportunity until it is sent.
    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit;
}

/// Where a lost chunk goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Retransmit {
    /// On this path as soon as its window has room.
    On(PathId),
    /// Ask again at the next opportunity.
    Hold,
    /// The scheduler decides, before new data: [`Scheduler::next`] is asked with a [`Backlog`] that describes this chunk,
    /// and each path of its [`Assignment`] gets a copy. The assignment is for this chunk alone.
    Requeue,
    /// Give the message up; refused (and held) when the message is reliable.
    Abandon,
}

/// Decides how much may be in flight. One object for the whole association, so that windows can be coupled.
pub trait CongestionControl: Policy {
    /// The limit of `path`.
    fn limit(&self, path: PathId) -> Limit;

    /// The limit in bytes over all paths.
    fn aggregate(&self) -> Option<u64> {
        None
    }

    /// Adds what it tells of `path` beyond its limit: names and values for series of a run. Asked seldom, by who measures.
    fn gauges(&self, _path: PathId, _out: &mut Vec<(&'static str, f64)>) {}
}

/// What waits to be sent.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Backlog {
    /// Payload bytes that wait for the scheduler: not yet sent, or lost and left to it ([`Retransmit::Requeue`]).
    pub bytes: u64,
    /// Messages of which something was not sent yet.
    pub messages: usize,
    /// Book size of the next chunk, the oldest message's unless it was lost before: payload + 16 bytes.
    pub next_len: u64,
    /// Payload bytes of the oldest message that were not sent yet, the next chunk's included; 0 for a retransmission.
    pub rest: u64,
    /// Some of that message was sent already: giving it up wastes what was sent. False for a retransmission.
    pub begun: bool,
    /// When the next chunk's message becomes worthless, be the chunk new or lost.
    pub next_expires: Option<Instant>,
    /// The next chunk was lost before and left to the scheduler; the paths it was on are in `tried`.
    pub retransmission: bool,
    /// Paths the next chunk was sent on already; none when it is new.
    pub tried: PathSet,
    /// The importance of the next chunk's message.
    pub next_importance: Importance,
    /// The group of the next chunk's message.
    pub next_group: Option<u64>,
    /// The first message of each importance ([`Assignment::importance`]); none where messages leave in coded blocks.
    pub heads: Heads,
}

/// Chunks for one or more paths; for none if the next message, which has a lifetime, is given up ([`Assignment::nowhere`]).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Assignment {
    /// Where: a copy of each chunk on every one of them, once it has room and unless the chunk arrived or was lost by then.
    pub paths: SmallVec<[PathId; 4]>,
    /// At most this many chunks; the core stops when the room is used up, and asks again. A retransmission is one.
    pub chunks: u32,
    /// Of messages of this importance, which must have a head ([`Backlog::heads`]); `None`: the oldest of all. It makes no
    /// difference to a retransmission.
    pub importance: Option<Importance>,
    /// Why the message is given up, if there is no path.
    pub why: GiveUp,
}

impl Assignment {
    /// Up to `chunks` chunks on `path`.
    #[inline]
    pub fn on(path: PathId, chunks: u32) -> Self {
        Assignment { paths: smallvec![path], chunks, ..Assignment::default() }
    }

    /// The same of messages of `importance`.
    #[inline]
    pub fn of(self, importance: Importance) -> Self {
        Assignment { importance: Some(importance), ..self }
    }

    /// No path: the next message is given up, and `why`.
    pub fn nowhere(why: GiveUp) -> Self {
        Assignment { why, ..Assignment::default() }
    }
}

/// Decides which path new data take.
pub trait Scheduler: Policy {
    /// Asked while data wait and some path has room. `None` holds everything until the next signal, or until pacing lets
    /// a path send again.
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment>;

    /// The path whose window should shrink, since what is in flight there holds other paths up. Asked when
    /// [`Scheduler::next`] held everything back, and when a buffer is full while a path has room ([`View::blocked`]). The
    /// congestion control hears of it as a [`Signal::LossEvent`] with [`LossTrigger::HeadOfLine`], and decides what it
    /// amounts to; then the scheduler is asked for data again. An answer is ignored if nothing is in flight on the path, or
    /// if the last penalty there, for whatever reason, is less than a round trip of the path ago.
    ///
    /// What the core does by itself about full buffers is
    /// [`TransportConfig::head_of_line`](crate::config::TransportConfig::head_of_line).
    fn penalise(&mut self, _view: &View<'_>) -> Option<PathId> {
        None
    }

    /// The next symbol and its path, where the association codes in blocks ([`View::blocks`]): asked in place of
    /// [`Scheduler::next`] while a path has room, once for each symbol. `None` holds everything until the next signal. Where
    /// its answer can't be done (no room, no such block, nothing of it left to send, a repair symbol of an open block) it
    /// is counted as refused, and holds everything, too.
    ///
    /// The default sends source symbols alone, in order, each by the path that [`Scheduler::next`] would give it.
    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        let block = view.blocks.iter().find(|b| b.sources_sent < b.sources)?;
        let path = *self.next(view, backlog)?.paths.first()?;
        Some(SymbolAssignment { path, block: block.number, what: SymbolChoice::Source })
    }

    /// The path of a repair symbol that is due beside messages ([`crate::coding::RepairCoding`]); `None`: not now. It is
    /// asked again with the next chunk.
    ///
    /// The default: of the paths with room by which the symbol would come before the last of its sources is worthless, the
    /// one that carried the fewest of them, of several the one with the lowest round-trip time.
    fn next_repair(&mut self, view: &View<'_>, offer: &RepairOffer) -> Option<PathId> {
        let arrives = |p: &PathView| view.now + p.srtt.unwrap_or_default() / 2;
        let in_time = |p: &&PathView| offer.expires.is_none_or(|(_, last)| arrives(p) < last);
        let fit = view.usable_paths().filter(|p| p.has_room()).filter(in_time);
        fit.min_by_key(|p| (offer.sent_on(p.id), p.srtt.unwrap_or(Duration::MAX), p.id)).map(|p| p.id)
    }
}

/// When a feedback policy may add reports to a packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ReportTrigger {
    /// In front of DATA on this path; must fit [`Feedback::overhead`].
    Data(PathId),
    /// Beside a SACK leaving on this path.
    Sack(PathId),
    /// Beside a HEARTBEAT.
    Heartbeat(PathId),
    /// Beside a HEARTBEAT ACK.
    HeartbeatAck(PathId),
    /// After any signal: reports that travel on their own.
    Tick,
}

/// When and where to acknowledge.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AckDecision {
    /// Send at once; else at every second packet or after the delayed-ack time.
    pub now: bool,
    /// Where; `None`: by the return paths that the peer asked for in turn ([`Feedback::return_paths`]), if any of them
    /// works; else the path the data came by, or another one when that seems dead.
    pub via: Option<PathId>,
}

/// Heartbeats a scheme asks for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Where.
    pub path: PathId,
    /// How many, back to back.
    pub count: u8,
    /// Padded to the path's MTU.
    pub padded: bool,
}

/// Both sides: what to tell the peer's scheme, and when to acknowledge.
pub trait Feedback: Policy {
    /// Adds reports for `trigger` to `out`.
    fn reports(&mut self, _view: &View<'_>, _trigger: ReportTrigger, _out: &mut Vec<Report>) {}

    /// Bytes reserved in each DATA packet for `ReportTrigger::Data` reports: REPORT chunk header and items.
    fn overhead(&self) -> usize {
        0
    }

    /// When to acknowledge `rx`. The default is RFC 9260 §6.7 and §6.2.
    fn sack(&mut self, _view: &View<'_>, rx: &RxInfo) -> AckDecision {
        AckDecision { now: rx.gap || rx.filled || rx.duplicate || rx.immediate, via: None }
    }

    /// The paths by which the peer's SACKs should come back, at most four (the first by their numbers); none leaves it to the peer.
    /// Asked after each input and timeout with another signal than [`Signal::Arrived`], if the scheme hears arrivals
    /// ([`Policy::hears_arrivals`]). The peer's core alternates its SACKs over those that work there, unless its own scheme names
    /// a path ([`AckDecision::via`]) or data come again, so that an earlier SACK must have been lost. It learns of a change by a
    /// signed report, at most every 100 ms; a change that came too soon for one is asked for again after the next input.
    fn return_paths(&mut self, _view: &View<'_>) -> PathSet {
        PathSet::default()
    }

    /// Heartbeats to send now, beyond the core's own.
    fn probe(&mut self, _view: &View<'_>) -> Option<Probe> {
        None
    }
}

/// All policies of an association: what the core calls. Most schemes are [`super::Parts`]; one whose parts read each other's
/// state implements this and the traits of its parts itself, and hands itself out for them.
///
/// The core calls [`observe`](Self::observe) and [`react`](Self::react) in place of [`Policy::on_signal`].
pub trait Scheme: Policy {
    /// The preset's name, for people.
    fn name(&self) -> &str;

    /// First half of a signal: estimators and loss policy. The core then refreshes every `PathView::est`.
    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>);

    /// Writes what is known of `path`.
    fn estimate(&self, path: PathId, out: &mut Estimate);

    /// Second half: congestion control, scheduler, feedback. The core then refreshes every `PathView::limit`.
    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>);

    /// Which chunks are lost, why, and where they are sent again.
    fn loss(&mut self) -> &mut dyn LossPolicy;

    /// How much may be in flight.
    fn congestion(&self) -> &dyn CongestionControl;

    /// Which path takes new data.
    fn scheduler(&mut self) -> &mut dyn Scheduler;

    /// When to acknowledge, and what to report to the peer.
    fn feedback(&mut self) -> &mut dyn Feedback;
}
