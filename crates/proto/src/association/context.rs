//! State that all parts of an association share: parameters, state, paths, scheme and pending output. The module also
//! manages paths (RFC 9260 §2.5.8) where this shared state is sufficient.

mod control;
mod heartbeats;
mod moving;
mod primary;
mod silence;
mod states;
mod tariffs;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::BytesMut;

use primary::PrimaryRequest;
use silence::Silence;
use tariffs::Tariffs;

use super::advisor::Advisor;
use super::auth::AuthKeys;
use super::control_queue::ControlQueue;
use super::dropped::Dropped;
use super::event::{CloseReason, Event};
use super::lifecycle::{AssociationError, Role, State};
use super::path_table::PathTable;
use super::reports::Reports;
use super::stats::AssociationStats;
use crate::coding::Agreed;
use crate::config::TransportConfig;
use crate::path::{FourTuple, MAX_PATHS, Path};
use crate::policy::{Driver, PathId, PathState, Report, Scheme, Signal, View};
use crate::seeds::Random;
use crate::time::Instant;
use crate::wire::chunk::Abort;
use crate::wire::{Cause, VerificationTag};

/// Properties of the peer.
#[derive(Debug, Default)]
pub(super) struct Peer {
    pub tag: VerificationTag,
    /// True if the peer supports RFC 3758.
    pub partial: bool,
    /// Keys that sign the packets of both sides (RFC 4895).
    pub keys: Option<AuthKeys>,
    /// Coding of data sent to the peer, and coding of data from the peer.
    pub coding_out: Option<Agreed>,
    pub coding_in: Option<Agreed>,
}

/// Shared state of the [module](self). Fields with their own types keep their own state private.
#[derive(Debug)]
pub(super) struct Context {
    pub config: Arc<TransportConfig>,
    pub role: Role,
    pub state: State,
    pub ports: (u16, u16),
    pub peer: Peer,
    pub driver: Driver,
    pub paths: PathTable,
    pub control: ControlQueue,
    pub reports: Reports,
    report_scratch: Vec<Report>,
    /// Memory block from which the information fields of heartbeats are cut.
    heartbeat_block: BytesMut,
    pub silence: Silence,
    pub tariffs: Tariffs,
    pub advisor: Advisor,
    primary_request: Option<PrimaryRequest>,
    /// Consecutive errors of the association (RFC 9260 §8.1).
    pub errors: u32,
    pub next_wire_id: u16,
    pub random: Random,
    pub events: VecDeque<Event>,
    pub stats: AssociationStats,
    pub paths_moved: bool,
}

impl Context {
    pub fn new(
        config: Arc<TransportConfig>,
        role: Role,
        ports: (u16, u16),
        scheme: Box<dyn Scheme>,
        mut random: Random,
    ) -> Self {
        Context {
            role,
            state: State::CookieWait,
            ports,
            peer: Peer::default(),
            driver: Driver::new(scheme),
            paths: PathTable::default(),
            control: ControlQueue::default(),
            reports: Reports::new(random.u32()),
            report_scratch: Vec::new(),
            silence: Silence::default(),
            tariffs: Tariffs::default(),
            advisor: Advisor::default(),
            primary_request: None,
            errors: 0,
            next_wire_id: if role == Role::Opener { 0 } else { 0x8000 },
            heartbeat_block: BytesMut::new(),
            random,
            events: VecDeque::new(),
            stats: AssociationStats::default(),
            paths_moved: false,
            config,
        }
    }

    /// Records a message that this side gave up.
    pub fn note_dropped(&mut self, dropped: Dropped) {
        self.stats.count_dropped(&dropped);
        if self.config.drop_events {
            // The end stays the last event.
            let end = self.events.pop_back_if(|event| matches!(event, Event::Closed(_)));
            self.events.push_back(Event::Dropped(dropped));
            self.events.extend(end);
        }
    }

    /// Passes a signal to the scheme. The call also refreshes the scheme's estimates and limits.
    pub fn signal(&mut self, now: Instant, signal: &Signal<'_>) {
        self.driver.signal(self.paths.seen_mut(), now, signal);
        if self.advisor.is_due(now) {
            self.ask_advice(now);
        }
    }

    /// Asks the scheme for advice to an encoder, and reports the advice if it changed.
    fn ask_advice(&mut self, now: Instant) {
        let new = self.driver.advice(self.paths.seen(), now);
        if let Some(advice) = new.filter(|new| self.stats.advice.is_none_or(|last| new.differs(last))) {
            self.stats.advice = Some(advice);
            self.events.push_back(Event::Advice(advice));
        }
    }

    /// Asks the scheme for a decision.
    pub fn ask<T>(&mut self, now: Instant, question: impl FnOnce(&mut dyn Scheme, &View<'_>) -> T) -> T {
        self.driver.ask(self.paths.seen(), now, question)
    }

    pub fn is_open(&self, path: PathId) -> bool {
        self.paths.is_open(path)
    }

    /// Returns the open path of a 4-tuple.
    pub fn path_of(&self, tuple: &FourTuple) -> Option<PathId> {
        let open = |i: &usize| self.paths.view(*i).state != PathState::Closed;
        (0..self.paths.len()).filter(open).find(|i| self.paths[*i].tuple == *tuple).map(|i| PathId(i as u8))
    }

    pub fn path_by_wire_id(&self, wire_id: u16) -> Option<PathId> {
        let at = self.paths.iter().position(|p| p.wire_id == Some(wire_id))?;
        Some(PathId(at as u8)).filter(|p| self.is_open(*p))
    }

    pub fn room_for_a_path(&self) -> Result<(), AssociationError> {
        let open = self.paths.views().iter().filter(|v| v.state != PathState::Closed).count();
        if open < MAX_PATHS { Ok(()) } else { Err(AssociationError::TooManyPaths) }
    }

    /// Returns whether the peer can handle reports about paths now.
    pub fn may_report(&self) -> bool {
        use super::lifecycle::State::{Closed, CookieEchoed, CookieWait};
        self.paths.seen().peer_reports() && !matches!(self.state, CookieWait | CookieEchoed | Closed)
    }

    pub fn admits_new(&self, path: PathId) -> bool {
        let room = self.paths.views().get(path.index()).is_some_and(|v| v.has_room());
        room && self.paths.usable().contains(path)
    }

    pub fn any_admits_new(&self) -> bool {
        self.paths.views().iter().any(|v| self.admits_new(v.id))
    }

    pub fn aggregate_full(&self) -> bool {
        self.driver.aggregate_full(self.paths.seen())
    }

    /// Returns the 4-tuples of the paths that are not closed.
    pub fn tuples(&self) -> impl Iterator<Item = FourTuple> {
        self.open_paths().map(|p| p.tuple)
    }

    /// Returns the 4-tuples that belong to this association alone. An address that a peer only claims is left out,
    /// because it may belong to another peer.
    pub fn own_tuples(&self) -> impl Iterator<Item = FourTuple> {
        self.open_paths().filter(|p| p.credit.is_none()).map(|p| p.tuple)
    }

    fn open_paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.rows().filter(|(_, v)| v.state != PathState::Closed).map(|(p, _)| p)
    }

    /// Refuses an assignment of the scheme. The scheduler waits for the next signal.
    pub fn refuse_assignment(&mut self) {
        self.stats.refused_assignments += 1;
        self.driver.hold();
    }

    /// Ends the association. The sending half drops its data after the current input is processed.
    pub fn close(&mut self, reason: CloseReason) {
        if self.state == State::Closed {
            return;
        }
        self.state = State::Closed;
        self.paths.iter_mut().for_each(|p| p.t3 = None);
        self.events.push_back(Event::Closed(reason));
    }

    pub fn abort_with(&mut self, cause: Cause, reason: CloseReason) {
        self.abort_with_causes(vec![cause], reason);
    }

    pub fn abort_with_causes(&mut self, causes: Vec<Cause>, reason: CloseReason) {
        if self.state == State::Closed {
            return;
        }
        self.control.clear();
        if self.peer.tag.0 != 0 {
            self.push_control_anywhere(Abort { reflected_tag: false, causes });
        }
        self.close(reason);
    }

    /// Aborts the association because the peer does not answer. The peer still gets an ABORT, because only one
    /// direction may be dead.
    pub fn abort_for(&mut self, reason: CloseReason) {
        self.abort_with(Cause::UserInitiatedAbort(b"no answer"[..].into()), reason);
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.control.shrink();
        self.events.shrink_to_fit();
        self.report_scratch = Vec::new();
    }
}
