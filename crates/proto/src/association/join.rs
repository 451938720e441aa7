//! Paths that join, leave, move and are put aside while the association lives: REPORTs under AUTH between two of
//! ours; towards other stacks only the addresses both sides announced.

use core::net::{IpAddr, SocketAddr};

use super::control_queue::Control;
use super::event::{Event, PathChange};
use super::handshake::Capabilities;
use super::reports::ReliableReport;
use super::state::{Association, AssociationError, Role};
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId, PathState, Report, Signal};
use crate::time::Instant;
use crate::wire::chunk::report::{
    KIND_ARRIVALS, KIND_COPIES, KIND_FIRST_SCHEME, KIND_JOIN, KIND_LEAVE, KIND_MOVED, KIND_RESUME,
    KIND_SUSPEND,
};
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};

impl Association {
    /// Opens one more path to the peer; data flow once both sides' nonces came back.
    ///
    /// # Errors
    /// [`AssociationError`] when the peer can't follow, or the path or too many of them exist.
    pub fn add_path(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        mtu: Option<u16>,
    ) -> Result<PathId, AssociationError> {
        if !self.speaks() || !self.paths.seen().peer_reports() {
            return Err(AssociationError::NoPathChanges);
        }
        if self.path_of(&tuple).is_some() {
            return Err(AssociationError::PathExists);
        }
        self.room_for_a_path()?;
        let path = self.open_slot(now, tuple, mtu);
        self.join(now, path);
        Ok(path)
    }

    /// Takes a path out for good, and tells the peer.
    ///
    /// # Errors
    /// [`AssociationError::UnknownPath`], [`AssociationError::LastPath`].
    pub fn remove_path(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        if !self.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        if !self.paths.views().iter().any(|v| v.id != path && v.state != PathState::Closed) {
            return Err(AssociationError::LastPath);
        }
        let tell = self.paths.seen().peer_reports() && self.paths[path.index()].wire_id.is_some();
        self.close_path(now, path);
        if tell {
            self.say(now, KIND_LEAVE, path, None, false);
        }
        Ok(())
    }

    /// Puts a path aside (`true`) or takes it up again, on both sides.
    ///
    /// # Errors
    /// [`AssociationError::UnknownPath`].
    pub fn suspend_path(&mut self, now: Instant, path: PathId, aside: bool) -> Result<(), AssociationError> {
        if !self.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        let was = core::mem::replace(&mut self.paths[path.index()].suspended.0, aside);
        if was == aside {
            return Ok(());
        }
        self.apply_suspension(now, path);
        // In the handshake nobody could follow; `settle_other_paths` says it afterwards.
        if self.may_report() {
            self.say(now, if aside { KIND_SUSPEND } else { KIND_RESUME }, path, None, false);
        }
        Ok(())
    }

    /// This side's address of a path changed: the driver has a new socket for it.
    ///
    /// # Errors
    /// [`AssociationError::UnknownPath`], [`AssociationError::NoPathChanges`], [`AssociationError::PathExists`].
    pub fn move_path(
        &mut self,
        now: Instant,
        path: PathId,
        tuple: FourTuple,
    ) -> Result<(), AssociationError> {
        if !self.is_open(path) {
            return Err(AssociationError::UnknownPath);
        }
        if !self.may_report() {
            return Err(AssociationError::NoPathChanges);
        }
        if self.path_of(&tuple).is_some() {
            return Err(AssociationError::PathExists);
        }
        self.retarget(now, path, tuple);
        self.say(now, KIND_MOVED, path, Some(path), true);
        Ok(())
    }

    /// Whether the peer can follow news of paths now.
    fn may_report(&self) -> bool {
        use super::state::State::{Closed, CookieEchoed, CookieWait};
        self.paths.seen().peer_reports() && !matches!(self.state, CookieWait | CookieEchoed | Closed)
    }

    /// Names a path and announces it on its own 4-tuple.
    pub(super) fn join(&mut self, now: Instant, path: PathId) {
        self.paths[path.index()].wire_id = Some(self.next_wire_id);
        self.next_wire_id = self.next_wire_id.wrapping_add(1);
        self.say(now, KIND_JOIN, path, Some(path), true);
    }

    /// A report was resent as often as it may be.
    pub(super) fn report_given_up(&mut self, now: Instant, report: &ReliableReport) {
        let Some(path) = report.item.path.and_then(|id| self.path_by_wire_id(id)) else { return };
        if report.item.kind == KIND_JOIN && self.paths.view(path.index()).state == PathState::Unconfirmed {
            self.close_path(now, path);
        }
    }

    /// A REPORT chunk that came on `on`, or from a 4-tuple that is no path.
    pub(super) fn on_report(&mut self, now: Instant, chunk: ReportChunk, from: From, authenticated: bool) {
        if !self.paths.seen().peer_reports() {
            self.stats.bad_chunks += 1;
            return;
        }
        for item in chunk.items {
            if item.kind == KIND_ARRIVALS {
                // As little authenticated as the SACK that it belongs to.
                let path = item.path.and_then(|id| self.path_by_wire_id(id));
                if let (Some(path), Some(_)) = (path, from.path) {
                    self.on_arrivals(now, path, &item.payload);
                }
                continue;
            }
            if item.kind < KIND_FIRST_SCHEME && !authenticated {
                self.stats.bad_auth += 1;
                continue;
            }
            self.on_item(now, item, from);
        }
    }

    fn on_item(&mut self, now: Instant, item: ReportItem, from: From) {
        let serial = match item.reliability {
            ReportItemFlavour::Echo(serial) => {
                self.reports.on_echo(serial);
                return;
            }
            ReportItemFlavour::Reliable(serial) => Some(serial),
            ReportItemFlavour::Plain => None,
        };
        let seen = serial.is_some_and(|s| self.reports.was_heard(s));
        let on = if seen {
            from.path
        } else if item.kind < KIND_FIRST_SCHEME {
            self.on_path_report(now, &item, from)
        } else if let Some(on) = from.path {
            let subject = item.path.and_then(|id| self.path_by_wire_id(id));
            let kind = item.kind;
            let payload = item.payload.clone();
            let report = Report { kind, subject, via: Some(on), reliable: serial.is_some(), payload };
            self.driver.signal(self.paths.seen_mut(), now, &Signal::Peer(&report));
            Some(on)
        } else {
            None
        };
        // What could not be done is not echoed and not remembered: it may be done when it comes again.
        if let (Some(serial), Some(_), false) = (serial, on, seen) {
            self.reports.note_heard(serial);
        }
        if let (Some(echo), Some(path)) = (item.echo(), on.filter(|p| self.is_open(*p))) {
            let auth = item.kind < KIND_FIRST_SCHEME;
            let chunk = ReportChunk { items: smallvec::smallvec![echo] };
            self.queue_control(Control { auth, ..Control::on(path, chunk) });
        }
    }

    /// A new, authenticated report on a path; where its echo goes, `None` if nothing could be done.
    fn on_path_report(&mut self, now: Instant, item: &ReportItem, from: From) -> Option<PathId> {
        let wire_id = item.path?;
        let known = self.path_by_wire_id(wire_id);
        if item.kind == KIND_COPIES {
            self.rx.names_arrivals = true;
            return from.path;
        }
        if let (Some(path), ReportItemFlavour::Reliable(serial)) = (known, item.reliability) {
            let (place, suspension) = &mut self.paths[path.index()].news;
            let news = if matches!(item.kind, KIND_SUSPEND | KIND_RESUME) { suspension } else { place };
            if news.is_some_and(|n| serial.wrapping_sub(n) > 1 << 31) {
                return from.path;
            }
            // Where a path is only counts once it has proven to be there.
            if from.path.is_some() || !matches!(item.kind, KIND_JOIN | KIND_MOVED) {
                *news = Some(serial);
            }
        }
        match (item.kind, known) {
            // A path that moved and is not known here: its JOIN was refused or lost, or it was given up.
            (KIND_JOIN | KIND_MOVED, None) if from.path.is_none() => self.joined(now, wire_id, from.tuple),
            (KIND_JOIN | KIND_MOVED, Some(path)) => {
                if let (None, ReportItemFlavour::Reliable(serial)) = (from.path, item.reliability) {
                    self.propose(now, path, from.tuple, Some(serial));
                }
                from.path
            }
            (KIND_LEAVE, Some(path)) => {
                let last = !self.paths.views().iter().any(|v| v.id != path && v.state != PathState::Closed);
                if !last {
                    self.close_path(now, path);
                }
                Some(self.paths.seen().control_path())
            }
            (KIND_SUSPEND | KIND_RESUME, Some(path)) => {
                let aside = item.kind == KIND_SUSPEND;
                if core::mem::replace(&mut self.paths[path.index()].suspended.1, aside) != aside {
                    self.apply_suspension(now, path);
                }
                from.path
            }
            // It left already.
            (KIND_LEAVE, None) => from.path,
            _ => None,
        }
    }

    /// The peer opened a path: it is ours too, once our own nonce came back.
    fn joined(&mut self, now: Instant, wire_id: u16, tuple: FourTuple) -> Option<PathId> {
        self.room_for_a_path().ok()?;
        let path = self.open_slot(now, tuple, None);
        self.paths[path.index()].wire_id = Some(wire_id);
        // What it may get is counted with the packet that named it.
        self.paths[path.index()].credit = Some(0);
        self.paths[path.index()].heartbeats.want();
        Some(path)
    }

    fn apply_suspension(&mut self, now: Instant, path: PathId) {
        let p = &self.paths[path.index()];
        match (p.suspended, p.confirmed) {
            ((false, false), true) => self.confirm(now, path),
            ((false, false), false) => self.set_path_state(now, path, PathState::Unconfirmed),
            _ => self.set_path_state(now, path, PathState::Suspended),
        }
    }

    /// A path goes on between other addresses, unconfirmed until a nonce came back.
    pub(super) fn retarget(&mut self, now: Instant, path: PathId, tuple: FourTuple) {
        let i = path.index();
        self.paths[i].tuple = tuple;
        self.paths[i].candidate = None;
        self.paths[i].confirmed = false;
        self.paths.view_mut(i).link = tuple.link;
        self.paths.view_mut(i).error_count = 0;
        self.paths.view_mut(i).rto = self.config.rto_initial;
        self.paths_moved = true;
        self.tx.copies.retain(|(_, p)| *p != path);
        self.paths[i].owed.clear();
        self.leave_address(now, path);
        self.set_path_state(now, path, PathState::Unconfirmed);
        self.events.push_back(Event::Path(path, PathChange::Moved));
    }

    /// Towards another stack: the paths that are not the handshake's own get the peer's other addresses, those in one
    /// subnet first, then in the order listed; never every pair.
    pub(super) fn pair_addresses(&mut self, peer: &Capabilities, on: PathId) {
        if self.paths.seen().peer_reports() || peer.addresses.is_empty() {
            return;
        }
        let port = self.paths[on.index()].tuple.remote.port();
        let used = self.paths[on.index()].tuple.remote.ip();
        let mut left: Vec<IpAddr> = peer.addresses.iter().copied().filter(|a| *a != used).collect();
        let mut paired = Vec::new();
        for same_subnet in [true, false] {
            for i in (0..self.paths.len()).filter(|i| *i != on.index()) {
                if self.paths.view(i).state != PathState::Unconfirmed || paired.contains(&i) {
                    continue;
                }
                let local = self.paths[i].tuple.local.ip();
                let fits = |a: &IpAddr| {
                    a.is_ipv4() == local.is_ipv4() && (!same_subnet || subnet(*a) == subnet(local))
                };
                if let Some(at) = left.iter().position(fits) {
                    self.paths[i].tuple.remote = SocketAddr::new(left.remove(at), port);
                    self.distrust(PathId(i as u8));
                    paired.push(i);
                }
            }
        }
        self.paths_moved = true;
    }

    /// An accepting endpoint's further paths towards another stack that listed several addresses.
    pub(crate) fn pair_with(&mut self, now: Instant, peer: &Capabilities, locals: &[(LinkId, SocketAddr)]) {
        if self.paths.seen().peer_reports() {
            return;
        }
        let first = self.paths[0].tuple;
        let mut locals: Vec<_> = locals.iter().filter(|(_, l)| l.ip() != first.local.ip()).collect();
        for (n, address) in peer.addresses.iter().filter(|a| **a != first.remote.ip()).enumerate() {
            let same = locals.iter().position(|(_, l)| subnet(l.ip()) == subnet(*address));
            let Some(at) = same.or((n < locals.len()).then_some(0)) else { continue };
            let (link, local) = *locals.remove(at);
            let tuple = FourTuple { link, local, remote: SocketAddr::new(*address, first.remote.port()) };
            if self.room_for_a_path().is_err() || local.is_ipv4() != address.is_ipv4() {
                continue;
            }
            let path = self.open_slot(now, tuple, None);
            self.distrust(path);
            self.paths[path.index()].heartbeats.want();
        }
    }

    /// Whether a foreign peer can know this path: it is the one of the handshake, or its address was announced.
    pub(super) fn reachable_without_reports(&self, path: PathId) -> bool {
        let first = &self.paths[self.paths.seen().primary().index()].tuple;
        let tuple = &self.paths[path.index()].tuple;
        self.config.announce
            && (tuple.local.ip() != first.local.ip() || tuple.remote.ip() != first.remote.ip())
    }

    /// The report that goes with a heartbeat of a path that has errors.
    pub(super) fn still_here(&mut self, path: PathId) -> Option<ReportItem> {
        let errors = self.paths.view(path.index()).error_count > 0 && !self.unproven(path);
        if errors { self.moved_item(path) } else { None }
    }

    /// The peer may see a silent path from a new address, after a NAT on the way forgot the old one: says which path
    /// this is.
    fn moved_item(&mut self, path: PathId) -> Option<ReportItem> {
        let wire_id = self.paths[path.index()].wire_id?;
        if self.role != Role::Opener || !self.paths.seen().peer_reports() {
            return None;
        }
        let reliability = ReportItemFlavour::Reliable(self.reports.new_serial());
        Some(ReportItem { kind: KIND_MOVED, path: Some(wire_id), reliability, payload: Default::default() })
    }

    /// [`Self::moved_item`] in a packet of its own.
    pub(super) fn push_moved(&mut self, path: PathId) {
        if let Some(item) = self.moved_item(path) {
            let chunk = ReportChunk { items: smallvec::smallvec![item] };
            self.queue_control(Control { auth: true, ..Control::on(path, chunk) });
        }
    }
}

/// Where a packet came from.
#[derive(Copy, Clone, Debug)]
pub(super) struct From {
    /// `None`: from no path's address.
    pub path: Option<PathId>,
    pub tuple: FourTuple,
}

/// The network an address is taken to be in when nobody says: /24, /64.
fn subnet(a: IpAddr) -> u128 {
    match a {
        IpAddr::V4(a) => u128::from(u32::from(a) >> 8),
        IpAddr::V6(a) => u128::from(a) >> 64,
    }
}
