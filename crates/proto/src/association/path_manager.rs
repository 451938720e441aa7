//! Changes of paths: paths join, leave, move and are probed (RFC 9260 §2.5.8, §8.3). Each change also affects data in
//! flight and received data.

mod heartbeats;
mod mtu;
mod pairing;
mod reports;

use super::context::Context;
use super::event::{Event, PathChange};
use super::lifecycle::{AssociationError, State};
use super::receiver::Receiver;
use super::sender::Sender;
use crate::path::{self, FourTuple, Path, Tail};
use crate::policy::{LossTrigger, PathId, PathState, Signal};
use crate::time::Instant;
use crate::wire::chunk::report::{KIND_LEAVE, KIND_MOVED, KIND_RESUME, KIND_SUSPEND};

pub(super) use reports::PacketOrigin;

/// The parts of an association that a change of paths affects.
#[derive(Debug)]
pub(super) struct PathManager<'a> {
    pub cx: &'a mut Context,
    pub tx: &'a mut Sender,
    pub rx: &'a mut Receiver,
}

impl PathManager<'_> {
    /// Returns a slot for a path with the 4-tuple `tuple`: a slot of a closed path, or a new slot. The caller has
    /// checked that a slot is free.
    fn new_path(&mut self, now: Instant, tuple: FourTuple, mtu: Option<u16>) -> PathId {
        let ip_mtu = mtu.unwrap_or(self.cx.config.mtu).max(path::MIN_PLPMTU);
        let mut path = Path::new(tuple, ip_mtu, &self.cx.config, Instant::MAX);
        if let (Some(discovery), Some(known)) = (&mut path.discovery, mtu) {
            discovery.told(now, known);
        }
        let id = self.cx.paths.free_slot();
        self.cx.paths.put(path, path::new_view(id, &tuple, &self.cx.config, ip_mtu));
        self.cx.set_link(id, tuple.link);
        self.cx.primary_opened(id);
        self.cx.paths_moved = true;
        self.tx.open_path(self.cx, id);
        self.cx.signal(now, &Signal::PathChanged(id));
        id
    }

    pub fn open_slot(&mut self, now: Instant, tuple: FourTuple, mtu: Option<u16>) -> PathId {
        let id = self.new_path(now, tuple, mtu);
        self.cx.events.push_back(Event::Path(id, PathChange::Opened));
        id
    }

    /// Releases memory that was needed only for bursts and backlogs. This method is called after a path was idle for a
    /// heartbeat interval.
    fn shrink(&mut self) {
        self.tx.shrink();
        self.rx.shrink();
        self.cx.shrink();
    }

    /// Runs the timers of `path`.
    pub fn on_timers(&mut self, now: Instant, path: PathId) {
        if self.cx.state == State::Closed || !self.cx.is_open(path) {
            return;
        }
        let i = path.index();
        if self.cx.paths[i].tail.at.is_some_and(|t| t <= now) {
            self.tx.on_tail(self.cx, now, path);
        }
        if self.cx.paths[i].reordering.at.is_some_and(|t| t <= now) {
            self.tx.on_reordering(self.cx, now, path);
        }
        if self.cx.paths[i].t3.is_some_and(|t| t <= now) {
            self.tx.on_t3(self.cx, now, path);
        }
        if self.cx.paths[i].heartbeats.deadline().is_some_and(|t| t <= now) {
            self.on_heartbeat_timeout(now, path);
        }
        self.on_mtu_timer(now, path);
        let (p, v) = self.cx.paths.row_mut(i);
        if v.blocked && p.burst > 0 && p.pace <= now {
            v.blocked = false;
            self.cx.driver.wake();
        }
    }

    /// Ends a path without notifying the peer.
    pub fn close_path(&mut self, now: Instant, path: PathId) {
        if !self.cx.is_open(path) {
            return;
        }
        self.tx.lose_all(self.cx, now, path, LossTrigger::Timeout);
        self.tx.abandon_spent(self.cx, now);
        let i = path.index();
        self.cx.paths[i].t3 = None;
        self.cx.paths[i].tail = Tail::default();
        self.tx.forget_recovery(path);
        self.cx.paths[i].candidate = None;
        self.cx.paths[i].heartbeats = path::Heartbeats::new(Instant::MAX);
        self.cx.set_path_state(now, path, PathState::Closed);
        self.cx.control.drop_on(path, |_| false);
        self.tx.drop_copies(path);
        self.cx.reports.drop_via(path);
        self.cx.paths_moved = true;
        self.tx.fit_payload(self.cx);
        self.cx.events.push_back(Event::Path(path, PathChange::Closed));
        self.cx.primary_closed(path);
        self.tx.keep_a_timer(self.cx, now);
    }

    /// Moves a path to other addresses. The path is unconfirmed until a nonce returns.
    pub fn retarget(&mut self, now: Instant, path: PathId, tuple: FourTuple) {
        let i = path.index();
        self.cx.paths[i].tuple = tuple;
        self.cx.paths[i].candidate = None;
        self.cx.paths[i].confirmed = false;
        self.cx.paths[i].restart_discovery();
        self.cx.set_link(path, tuple.link);
        self.cx.paths.view_mut(i).error_count = 0;
        self.cx.paths.view_mut(i).rto = self.cx.config.rto_initial;
        self.cx.paths_moved = true;
        self.tx.drop_copies(path);
        self.tx.leave_address(self.cx, now, path);
        self.cx.set_path_state(now, path, PathState::Unconfirmed);
        self.cx.events.push_back(Event::Path(path, PathChange::Moved));
    }

    /// Moves a path to other addresses that the seal has proven. Another path may have these addresses, as after two
    /// changes of a NAT. That path then gets the former addresses of `path`.
    pub fn proven_at(&mut self, now: Instant, path: PathId, tuple: FourTuple) {
        if !self.cx.is_open(path) {
            return;
        }
        let old = self.cx.paths[path.index()].tuple;
        if let Some(other) = self.cx.path_of(&tuple).filter(|other| *other != path) {
            self.take_place(now, other, old);
        }
        self.take_place(now, path, tuple);
    }

    /// Replaces the addresses of a path. The path keeps all measurements, but its MTU is confirmed again. The loss of
    /// data in flight to the old addresses is soon decided, and a heartbeat tests the new addresses.
    fn take_place(&mut self, now: Instant, path: PathId, tuple: FourTuple) {
        let i = path.index();
        let p = &mut self.cx.paths[i];
        (p.tuple, p.candidate, p.credit) = (tuple, None, None);
        p.heartbeats.excuse();
        p.heartbeats.want();
        p.restart_discovery();
        let confirmed = p.confirmed;
        self.cx.set_link(path, tuple.link);
        self.cx.paths_moved = true;
        self.tx.leave_address(self.cx, now, path);
        if confirmed {
            self.cx.path_answered(now, path);
            self.cx.confirm(now, path);
        }
        self.cx.signal(now, &Signal::PathChanged(path));
        self.cx.events.push_back(Event::Path(path, PathChange::Moved));
    }

    /// Sends the report `kind` about `path` until the peer has echoed it.
    fn say(&mut self, now: Instant, kind: u16, path: PathId, via: Option<PathId>, heartbeat: bool) {
        self.cx.say(now, kind, path, via, heartbeat);
        self.give_up_reports(now);
    }

    /// Opens another path to the peer. Data are sent on it after the nonces of both sides have returned.
    ///
    /// # Errors
    /// Returns an [`AssociationError`] if the peer cannot handle changes of paths, if the path exists, or if there are
    /// too many paths.
    pub fn add_path(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        mtu: Option<u16>,
    ) -> Result<PathId, AssociationError> {
        if !self.cx.state.is_open() || !self.cx.paths.seen().peer_reports() {
            return Err(AssociationError::NoPathChanges);
        }
        let tuple = FourTuple { sealed: self.cx.paths[0].tuple.sealed, ..tuple };
        if self.cx.path_of(&tuple).is_some() {
            return Err(AssociationError::PathExists);
        }
        self.cx.room_for_a_path()?;
        let path = self.open_slot(now, tuple, mtu);
        self.cx.join(now, path);
        self.give_up_reports(now);
        Ok(path)
    }

    /// Removes a path and notifies the peer.
    ///
    /// # Errors
    /// The errors of this method are [`AssociationError::UnknownPath`] and [`AssociationError::LastPath`].
    pub fn remove_path(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        if !self.cx.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        if !self.cx.paths.views().iter().any(|v| v.id != path && v.state != PathState::Closed) {
            return Err(AssociationError::LastPath);
        }
        let tell = self.cx.paths.seen().peer_reports() && self.cx.paths[path.index()].wire_id.is_some();
        self.close_path(now, path);
        if tell {
            self.say(now, KIND_LEAVE, path, None, false);
        }
        Ok(())
    }

    /// Suspends a path on both sides (`true`), or resumes it (`false`).
    ///
    /// # Errors
    /// The error of this method is [`AssociationError::UnknownPath`].
    pub fn suspend_path(&mut self, now: Instant, path: PathId, aside: bool) -> Result<(), AssociationError> {
        if !self.cx.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        let was = core::mem::replace(&mut self.cx.paths[path.index()].suspended.0, aside);
        if was == aside {
            return Ok(());
        }
        self.cx.apply_suspension(now, path);
        // During the handshake the peer cannot act on it; `settle_other_paths` reports it afterwards.
        if self.cx.may_report() {
            self.say(now, if aside { KIND_SUSPEND } else { KIND_RESUME }, path, None, false);
        }
        Ok(())
    }

    /// Makes a path the primary once it is confirmed. The present primary path stays until then.
    ///
    /// # Errors
    /// The error of this method is [`AssociationError::UnknownPath`].
    pub fn set_primary(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        if !self.cx.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        self.cx.want_primary(now, path);
        Ok(())
    }

    /// Moves a path to a new local address, for which the driver has opened a socket.
    ///
    /// # Errors
    /// The errors of this method are [`AssociationError::UnknownPath`], [`AssociationError::NoPathChanges`] and
    /// [`AssociationError::PathExists`].
    pub fn move_path(
        &mut self,
        now: Instant,
        path: PathId,
        tuple: FourTuple,
    ) -> Result<(), AssociationError> {
        if !self.cx.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        if !self.cx.may_report() && !self.cx.config.sealed() {
            return Err(AssociationError::NoPathChanges);
        }
        let tuple = FourTuple { sealed: self.cx.paths[path.index()].tuple.sealed, ..tuple };
        if self.cx.path_of(&tuple).is_some() {
            return Err(AssociationError::PathExists);
        }
        if self.cx.config.sealed() {
            self.proven_at(now, path, tuple);
            return Ok(());
        }
        self.retarget(now, path, tuple);
        self.say(now, KIND_MOVED, path, Some(path), true);
        Ok(())
    }
}
