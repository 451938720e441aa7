//! What an association is made of.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use super::acknowledger::Acknowledger;
use super::arrival_reports::ArrivalReports;
use super::auth::AuthKeys;
use super::buffer_size::{ReceiveSize, SendSize};
use super::control_queue::ControlQueue;
use super::event::{CloseReason, Event};
use super::path_ack::PathAck;
use super::path_table::PathTable;
use super::pick::Pick;
use super::reports::Reports;
use super::silence::Silence;
use super::stats::AssociationStats;
use crate::config::TransportConfig;
use crate::path::Path;
use crate::policy::{Assignment, Driver, HeadOfLine, PathId, PathSet, PathView, Rules, Scheme};
use crate::rx::{Message, Reassembly, TsnTracker};
use crate::seeds::{Random, Seeds};
use crate::time::Instant;
use crate::tx::{Outstanding, SendQueue};
use crate::wire::chunk::GapBlock;
use crate::wire::{Tsn, VerificationTag};

/// RFC 9260 §4's states.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    CookieWait,
    CookieEchoed,
    Established,
    ShutdownPending,
    ShutdownSent,
    ShutdownReceived,
    ShutdownAckSent,
    Closed,
}

/// Which side opened the association: it numbers its paths apart from the other's.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Opener,
    Accepter,
}

/// A call that makes no sense.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssociationError {
    /// There is no such association (any more).
    #[error("no such association")]
    Unknown,
    /// There is no such path (any more).
    #[error("no such path")]
    UnknownPath,
    /// The peer doesn't speak REPORT, or the handshake isn't done: paths can't be changed.
    #[error("the peer can not follow changes of paths")]
    NoPathChanges,
    /// The 4-tuple is a path already.
    #[error("this 4-tuple is a path already")]
    PathExists,
    /// [`crate::path::MAX_PATHS`] are in use.
    #[error("too many paths")]
    TooManyPaths,
    /// The last path can't leave.
    #[error("the last path can not leave")]
    LastPath,
}

/// The sending half.
#[derive(Debug)]
pub(super) struct Sending {
    pub queue: SendQueue,
    pub outstanding: Outstanding,
    /// Next SSN of each outbound stream.
    pub next_ssn: Vec<u16>,
    /// Lost chunks waiting to be sent again, ascending; entries that are no longer lost are skipped.
    pub lost: VecDeque<Tsn>,
    /// Some chunk was lost since the loss policy was last asked about all of them.
    pub unasked: bool,
    /// The scheduler gave the message up that it was asked about last.
    pub hopeless: bool,
    /// Copies still to be sent, of the chunk sent last or of older ones (see [`Association::send_again`]).
    pub copies: SmallVec<[(Tsn, PathId); 4]>,
    pub several: ArrivalReports,
    /// What is left of the scheduler's last decision.
    pub assignment: Option<Assignment>,
    /// The next chunk to send, once chosen.
    pub pick: Option<Pick>,
    /// Payload bytes a chunk may have, so that it fits every path.
    pub max_payload: usize,
    pub adv_peer_ack: Tsn,
    pub forward_due: bool,
    pub forward_timer: Option<Instant>,
    /// FORWARD-TSNs sent since it last moved on.
    pub forward_tries: u32,
    /// Consecutive errors of the association (RFC 9260 §8.1).
    pub errors: u32,
    pub next_message: u64,
    /// One chunk is in flight although the peer's window is closed.
    pub probing_zero_window: bool,
    /// Where SACKs with a closed window came since the last timeout: these paths answered a probe.
    pub zero_window_answered: PathSet,
    /// The application met a full buffer.
    pub was_full: bool,
    /// Payload bytes of messages not yet fully acknowledged.
    pub buffered: usize,
    /// How many there may be.
    pub size: SendSize,
    /// What is done about chunks on slow paths that keep others waiting.
    pub head_of_line: HeadOfLine,
    pub acks: Vec<PathAck>,
    pub scratch: Vec<Tsn>,
}

/// The receiving half.
#[derive(Debug)]
pub(super) struct Receiving {
    pub tracker: TsnTracker,
    pub reassembly: Reassembly,
    /// How much it may hold.
    pub size: ReceiveSize,
    pub acks: Acknowledger,
    /// The last advertised window was closed; tell when it opens.
    pub window_closed: bool,
    pub streams: u16,
    pub gaps: Vec<GapBlock>,
    /// What the endpoint lets the association hold, and whether payloads are copied (see [`Association::allow`]).
    pub allowed: usize,
    pub copies: bool,
    /// The peer sends copies and wants to know by which path each arrived.
    pub names_arrivals: bool,
}

/// One association. Its verbs are [`crate::endpoint::Endpoint`]'s.
#[derive(Debug)]
pub struct Association {
    pub(super) config: Arc<TransportConfig>,
    pub(super) role: Role,
    pub(super) state: State,
    pub(super) ports: (u16, u16),
    pub(super) local_tag: VerificationTag,
    pub(super) peer_tag: VerificationTag,
    pub(super) initial_tsn: Tsn,
    pub(super) driver: Driver,
    pub(super) paths: PathTable,
    pub(super) tx: Sending,
    pub(super) rx: Receiving,
    pub(super) auth: Option<AuthKeys>,
    /// Our RANDOM, CHUNKS and HMAC-ALGO as sent.
    pub(super) auth_local: super::auth::AuthParams,
    pub(super) peer_partial: bool,
    pub(super) control: ControlQueue,
    pub(super) reports: Reports,
    pub(super) report_scratch: Vec<crate::policy::Report>,
    pub(super) asconf: Option<(u32, crate::wire::chunk::AsconfAck)>,
    pub(super) cookie: Option<Bytes>,
    pub(super) silence: Silence,
    pub(super) t1: Option<Instant>,
    pub(super) t1_tries: u32,
    pub(super) t2: Option<Instant>,
    pub(super) t2_tries: u32,
    pub(super) t5: Option<Instant>,
    pub(super) next_wire_id: u16,
    pub(super) random: Random,
    pub(super) events: VecDeque<Event>,
    pub(super) stats: AssociationStats,
    pub(super) paths_moved: bool,
    /// Close as soon as the handshake is done and everything is delivered.
    pub(super) shutdown_wanted: bool,
}

impl Association {
    /// An association that has nothing but its identity and one path's worth of memory.
    pub(super) fn blank(
        config: Arc<TransportConfig>,
        role: Role,
        ports: (u16, u16),
        identity: (VerificationTag, Tsn),
        scheme: Box<dyn Scheme>,
        seeds: &Seeds,
    ) -> Self {
        let (local_tag, initial_tsn) = identity;
        let mut random = seeds.stream("association");
        Association {
            role,
            state: State::CookieWait,
            ports,
            local_tag,
            peer_tag: VerificationTag(0),
            initial_tsn,
            driver: Driver::new(scheme),
            paths: PathTable::default(),
            tx: Sending::new(&config, initial_tsn),
            rx: Receiving::new(&config, Tsn(0)),
            auth: None,
            auth_local: super::auth::AuthParams::generate(&mut random, &config),
            peer_partial: false,
            control: ControlQueue::default(),
            reports: Reports::new(random.u32()),
            report_scratch: Vec::new(),
            asconf: None,
            cookie: None,
            silence: Silence::default(),
            t1: None,
            t1_tries: 0,
            t2: None,
            t2_tries: 0,
            t5: None,
            next_wire_id: if role == Role::Opener { 0 } else { 0x8000 },
            random,
            events: VecDeque::new(),
            stats: AssociationStats::default(),
            paths_moved: false,
            shutdown_wanted: false,
            config,
        }
    }

    /// All path slots, closed ones included.
    pub fn paths(&self) -> &[PathView] {
        self.paths.views()
    }

    /// The parameters it was opened with.
    pub fn config(&self) -> &TransportConfig {
        &self.config
    }

    /// Counters.
    pub fn stats(&self) -> &AssociationStats {
        &self.stats
    }

    /// Counters of a path slot.
    pub fn path_stats(&self, path: PathId) -> Option<&crate::path::PathStats> {
        self.paths.get(path.index()).map(|p| &p.stats)
    }

    /// Where a path leads.
    pub fn tuple(&self, path: PathId) -> Option<crate::path::FourTuple> {
        self.paths.get(path.index()).map(|p| p.tuple)
    }

    /// Whether the peer has proven to receive where a path leads (RFC 9260 §5.4). Its state does not tell: a suspended path
    /// may be one that was only claimed.
    pub fn is_confirmed(&self, path: PathId) -> bool {
        self.paths.get(path.index()).is_some_and(|p| p.confirmed)
    }

    /// The scheme's name.
    pub fn scheme_name(&self) -> &str {
        self.driver.scheme().name()
    }

    /// What the scheme has to say of the state it is in, each sentence once. See [`crate::policy::Policy::remarks`].
    pub fn remarks(&self, now: Instant) -> Vec<&'static str> {
        let mut all = Vec::new();
        self.driver.scheme().remarks(&self.paths.seen().view(now), &mut all);
        let mut said = Vec::new();
        all.retain(|remark| {
            let new = !said.contains(remark);
            said.push(*remark);
            new
        });
        all
    }

    /// The scheme's own counters, in its order. See [`crate::policy::Policy::counters`].
    pub fn scheme_counters(&self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        self.driver.scheme().counters(&mut all);
        all
    }

    /// The largest message that fits one chunk on every path, bytes.
    pub fn max_unfragmented(&self) -> usize {
        self.tx.max_payload
    }

    /// Payload bytes queued or not yet acknowledged.
    pub fn send_buffered(&self) -> usize {
        self.tx.buffered
    }

    /// The next message, in the order their streams allow.
    pub fn recv(&mut self) -> Option<Message> {
        let message = self.rx.reassembly.pop()?;
        self.stats.messages_received += 1;
        self.stats.bytes_received += message.payload.len() as u64;
        if self.rx.size.size > self.rx.size.wanted {
            self.shrink_receive_buffer(message.payload.len());
        }
        self.window_may_open();
        Some(message)
    }

    /// Whether the end has come.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    pub(crate) fn tags(&self) -> (VerificationTag, VerificationTag) {
        (self.local_tag, self.peer_tag)
    }

    pub(crate) fn auth_params(&self) -> super::auth::AuthParams {
        self.auth_local.clone()
    }

    pub(crate) fn peer_port(&self) -> u16 {
        self.ports.1
    }

    /// Whether reading made an acknowledgement due.
    pub(crate) fn window_opened(&self) -> bool {
        self.rx.acks.due().is_some()
    }

    pub(crate) fn signal(&mut self, now: Instant, signal: &crate::policy::Signal<'_>) {
        self.driver.signal(self.paths.seen_mut(), now, signal);
    }

    pub(crate) fn local_initial_tsn(&self) -> Tsn {
        self.initial_tsn
    }

    /// Takes whether paths came, went or moved since last asked.
    pub(crate) fn take_paths_moved(&mut self) -> bool {
        core::mem::take(&mut self.paths_moved)
    }

    /// The 4-tuples of the paths that are not closed.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = crate::path::FourTuple> {
        self.open_paths().map(|p| p.tuple)
    }

    /// Those that are this association's: where the peer was only claimed to be, another peer may be.
    pub(crate) fn own_tuples(&self) -> impl Iterator<Item = crate::path::FourTuple> {
        self.open_paths().filter(|p| p.credit.is_none()).map(|p| p.tuple)
    }

    fn open_paths(&self) -> impl Iterator<Item = &Path> {
        let open = |(_, v): &(&Path, &PathView)| v.state != crate::policy::PathState::Closed;
        self.paths.rows().filter(open).map(|(p, _)| p)
    }

    pub(super) fn close(&mut self, reason: CloseReason) {
        if self.state == State::Closed {
            return;
        }
        self.state = State::Closed;
        self.tx.clear();
        self.paths.seen_mut().clear_flights();
        (self.t1, self.t2, self.t5) = (None, None, None);
        for p in self.paths.iter_mut() {
            p.t3 = None;
            p.unsettled.clear();
            p.owed.clear();
        }
        self.events.push_back(Event::Closed(reason));
    }
}

impl Sending {
    fn new(config: &TransportConfig, initial_tsn: Tsn) -> Self {
        Sending {
            queue: SendQueue::default(),
            outstanding: Outstanding::new(initial_tsn),
            next_ssn: vec![0; usize::from(config.outbound_streams)],
            lost: VecDeque::new(),
            unasked: false,
            hopeless: false,
            copies: SmallVec::new(),
            several: ArrivalReports::default(),
            assignment: None,
            pick: None,
            max_payload: 512 - 12 - 16,
            adv_peer_ack: initial_tsn - 1,
            forward_due: false,
            forward_timer: None,
            forward_tries: 0,
            errors: 0,
            next_message: 0,
            probing_zero_window: false,
            zero_window_answered: PathSet::default(),
            was_full: false,
            buffered: 0,
            size: SendSize::new(config),
            head_of_line: HeadOfLine::new(Rules::Sooner),
            acks: Vec::new(),
            scratch: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.queue = SendQueue::default();
        self.outstanding = Outstanding::new(self.outstanding.next_tsn());
        self.lost.clear();
        self.copies.clear();
        (self.assignment, self.pick) = (None, None);
        (self.forward_due, self.forward_timer) = (false, None);
    }
}

impl Receiving {
    pub fn new(config: &TransportConfig, peer_initial_tsn: Tsn) -> Self {
        Receiving {
            tracker: TsnTracker::new(peer_initial_tsn),
            reassembly: Reassembly::new(peer_initial_tsn),
            size: ReceiveSize::new(config),
            acks: Acknowledger::new(),
            window_closed: false,
            streams: config.inbound_streams,
            gaps: Vec::new(),
            allowed: usize::MAX,
            copies: false,
            names_arrivals: false,
        }
    }
}
