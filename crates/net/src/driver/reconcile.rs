//! Keeps the paths up to date with the interfaces. The path of each uplink uses the peer address that answers first. If
//! the path fails, or its local address disappears, the driver tries the peer's other addresses in parallel. RFC 8305
//! describes the method for connections. The driver does not change a working path.

use strandcast_proto::association::{Association, AssociationError};
use strandcast_proto::endpoint::{AssociationId, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{PathId, PathState};
use strandcast_proto::time::{Duration, Instant};

use super::core::Core;
use super::sockets::UplinkState;
use super::uplink::Candidate;

/// Interval between checks of the interfaces.
const POLL: Duration = Duration::from_secs(1);
/// Maximum number of lists of links with their reasons per [`LIST_TIME`]. ASSUMED.
const MOST_LISTS: u32 = 20;
const LIST_TIME: Duration = Duration::from_secs(10);
/// Interval between checks while a decision is open. RFC 8305 §5 has the same wait between two attempts.
const SOON: Duration = Duration::from_millis(250);
/// Time without arrivals on a path after which the peer's other addresses are tried in parallel. Most links recover
/// sooner.
const FAILOVER_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of peer addresses that an uplink tries at the same time.
pub(super) const MOST_AT_A_TIME: usize = 4;

/// Time of the next check of an uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// At the next regular check.
    Later,
    /// After [`SOON`].
    Soon,
}

impl Core {
    /// Brings the paths up to date with the interfaces. Closes paths whose address has disappeared, moves paths whose
    /// address has changed, and opens paths that have become possible. Keeps one working route from each uplink to the
    /// peer. Returns the time until the next call.
    pub fn reconcile_interfaces(&mut self, now: Instant) -> Duration {
        if self.sockets.wishes.is_empty() {
            return POLL;
        }
        self.interfaces.watch();
        self.interfaces.poll();
        if self.interfaces.is_fresh() {
            self.follow_interfaces(now);
        }
        let mut next = POLL;
        for at in 0..self.sockets.uplinks.len() {
            if self.reconcile_uplink(now, at) == Look::Soon {
                next = SOON;
            }
        }
        self.monitor.watch(&self.sockets.links(self.interfaces.known().0));
        next
    }

    /// Creates links for new interfaces. A new link has the cost that was set for its name.
    fn follow_interfaces(&mut self, now: Instant) {
        let (interfaces, routes) = self.interfaces.known();
        let new = self.sockets.follow(interfaces, routes);
        for at in 0..self.sockets.uplinks.len() {
            let UplinkState { id, uplink, owner, .. } = &self.sockets.uplinks[at];
            let of_it = self.sockets.tariffs.iter().find(|(name, _)| *name == uplink.name);
            if let (true, Some(owner), Some((_, tariff))) = (new.contains(id), *owner, of_it) {
                let (id, tariff) = (*id, *tariff);
                // An association that has ended needs no paths.
                let _ = self.sealed.endpoint_mut().with(owner, |a| {
                    a.set_tariff(now, id, tariff);
                    Ok(())
                });
            }
        }
        self.links_changed |= self.interfaces.take_changed() || !new.is_empty();
        let (lists, since) = &mut self.links_listed;
        if now >= *since + LIST_TIME {
            (*lists, *since) = (0, now);
        }
        // To find the reasons, whole routing tables must be read. A routing daemon changes these tables many times per
        // second.
        if self.links_changed && *lists < MOST_LISTS {
            *lists += 1;
            self.links_changed = false;
            let (interfaces, routes) = self.interfaces.known();
            let links = self.sockets.link_snapshots(interfaces, routes);
            self.sockets.link_metadata.lock().links = links;
        }
    }

    fn reconcile_uplink(&mut self, now: Instant, at: usize) -> Look {
        let UplinkState { uplink, owner, present, .. } = &self.sockets.uplinks[at];
        let Some(owner) = *owner else { return Look::Later };
        if self.sealed.endpoint().association(owner).is_none() {
            return Look::Later;
        }
        let (interfaces, routes) = self.interfaces.known();
        let candidates = if *present { uplink.candidates(interfaces, routes) } else { Vec::new() };
        let kept = self.keep_up(now, at, owner, &candidates);
        if !self.sockets.uplinks[at].connected {
            return kept;
        }
        match self.decide(now, at, owner, &candidates) {
            Look::Later => kept,
            Look::Soon => Look::Soon,
        }
    }

    /// Updates the sockets of an uplink that are in use, so that they match the interfaces.
    fn keep_up(&mut self, now: Instant, at: usize, owner: AssociationId, candidates: &[Candidate]) -> Look {
        let mut look = Look::Later;
        for slot in self.sockets.of_uplink(at) {
            if self.sockets.slot(slot).tried.is_none() {
                continue;
            }
            let remote = self.sockets.slot(slot).remote;
            match candidates.iter().find(|c| Some(c.remote) == remote) {
                Some(candidate) => {
                    // If a socket cannot be opened now, the next poll tries again.
                    let _ = self.sockets.slot_mut(slot).refresh(candidate, self.interfaces.known().0);
                }
                // One list of interfaces may lack an address by mistake. Only a second list proves that the address is
                // missing.
                None if !self.interfaces.is_fresh() || self.sockets.slot_mut(slot).is_missing() => {
                    look = Look::Soon
                }
                None => self.sockets.slot_mut(slot).close(),
            }
            self.place(now, slot, owner);
            let slot = self.sockets.slot_mut(slot);
            if slot.socket.is_none() && slot.placed.is_none() {
                slot.tried = None;
            }
        }
        look
    }

    /// Moves the path of a slot to the address of its socket. Returns whether the path has this address afterwards.
    fn place(&mut self, now: Instant, slot: usize, owner: AssociationId) -> bool {
        let slot = self.sockets.slot_mut(slot);
        let Some(association) = self.sealed.endpoint().association(owner) else { return false };
        let mtu = slot.mtu(self.mtu);
        let path = path_of(association, slot.id, slot.placed);
        let from = path.and_then(|p| association.tuple(p));
        let sealed = self.sealed.session(owner);
        let tuple = slot.tuple().map(|tuple| FourTuple { sealed, ..tuple });
        // If the peer refuses a change, the next poll tries again.
        let placed: Result<_, AssociationError> = match (path, tuple) {
            (Some(path), Some(tuple)) if from != Some(tuple) => {
                self.sealed.move_path(now, owner, path, tuple).map(|()| Some(tuple.local))
            }
            (Some(path), None) => {
                self.sealed.endpoint_mut().with(owner, |a| a.remove_path(now, path)).map(|()| None)
            }
            (None, Some(tuple)) => self.sealed.add_path(now, owner, tuple, mtu).map(|_| Some(tuple.local)),
            (Some(_), Some(_)) => Ok(slot.placed),
            (None, None) => Ok(None),
        };
        let is_there = placed.is_ok();
        if let Ok(placed) = placed {
            slot.placed = placed;
        } else if path.is_none() {
            slot.placed = None;
        }
        if let (Some(tuple), Some(mtu)) = (tuple, slot.mtu_limit()) {
            self.sealed.handle_input(now, Input::Mtu { tuple, mtu });
        }
        is_there
    }

    /// Keeps the working path of an uplink, or tries another route.
    fn decide(&mut self, now: Instant, at: usize, owner: AssociationId, candidates: &[Candidate]) -> Look {
        let Some(association) = self.sealed.endpoint().association(owner) else { return Look::Later };
        let state = &self.sockets.uplinks[at];
        // The route that answered first. If several routes answered at once, the most promising one of them.
        let rank = |slot: &usize| {
            let remote = self.sockets.slot(*slot).remote;
            let order = candidates.iter().position(|c| Some(c.remote) == remote);
            (remote != state.chosen, order.unwrap_or(usize::MAX))
        };
        let mut tried: Vec<usize> = self.sockets.of_uplink(at);
        tried.retain(|slot| self.sockets.slot(*slot).tried.is_some());
        tried.sort_by_key(rank);
        let answers = |slot: &&usize| {
            let slot = self.sockets.slot(**slot);
            slot.socket.is_some()
                && path_of(association, slot.id, slot.placed).is_some_and(|p| works(association, p))
        };
        if let Some(winner) = tried.iter().find(answers).copied() {
            tried.into_iter().filter(|slot| *slot != winner).for_each(|slot| self.leave(now, slot, owner));
            let chosen = self.sockets.slot(winner).remote;
            let state = &mut self.sockets.uplinks[at];
            (state.chosen, state.bad_since) = (chosen, None);
            return Look::Later;
        }
        let incumbent =
            tried.first().map(|slot| self.sockets.slot(*slot)).filter(|s| s.remote == state.chosen);
        let fades = incumbent.is_some_and(|slot| slot.socket.is_some());
        let state = &mut self.sockets.uplinks[at];
        let bad_since = *state.bad_since.get_or_insert(now);
        if fades && now - bad_since < FAILOVER_WAIT {
            return Look::Soon;
        }
        self.try_another(now, at, owner, &tried, candidates)
    }

    /// Tries the route whose last attempt is oldest. Running attempts continue in parallel.
    fn try_another(
        &mut self,
        now: Instant,
        at: usize,
        owner: AssociationId,
        tried: &[usize],
        candidates: &[Candidate],
    ) -> Look {
        let chosen = self.sockets.uplinks[at].chosen;
        let under_way = |c: &&Candidate| tried.iter().all(|s| self.sockets.slot(*s).remote != Some(c.remote));
        let mut others: Vec<&Candidate> = candidates.iter().filter(under_way).collect();
        // The route that worked is tried first, unless it has just failed.
        others.sort_by_key(|c| {
            let last = self.sockets.last_tried(at, c.remote);
            let recent = last > Instant::ZERO && now - last < FAILOVER_WAIT;
            (Some(c.remote) != chosen || recent, last)
        });
        let Some(next) = others.first() else { return Look::Later };
        if tried.len() >= MOST_AT_A_TIME {
            let given_up = |slot: &&usize| {
                let slot = self.sockets.slot(**slot);
                slot.remote != chosen && slot.tried.is_some_and(|since| now - since >= FAILOVER_WAIT)
            };
            let oldest = tried.iter().filter(given_up).min_by_key(|slot| self.sockets.slot(**slot).tried);
            match oldest.copied() {
                Some(oldest) => self.leave(now, oldest, owner),
                None => return Look::Soon,
            }
        }
        let slot = self.sockets.slot_for(at, next.remote);
        let opened = self.sockets.slot_mut(slot);
        (opened.tried, opened.last_tried) = (Some(now), now);
        let failed = opened.refresh(next, self.interfaces.known().0).is_some();
        if failed || !self.place(now, slot, owner) {
            self.leave(now, slot, owner);
        }
        if others.len() > 1 || tried.len() >= MOST_AT_A_TIME { Look::Soon } else { Look::Later }
    }

    /// Ends an attempt, or ends a path that another path has replaced.
    fn leave(&mut self, now: Instant, slot: usize, owner: AssociationId) {
        self.sockets.slot_mut(slot).close();
        self.place(now, slot, owner);
        let slot = self.sockets.slot_mut(slot);
        if slot.placed.is_none() {
            slot.tried = None;
        }
    }
}

/// The path of an association that uses the socket of a link at this address.
fn path_of(
    association: &Association,
    link: strandcast_proto::policy::LinkId,
    placed: Option<std::net::SocketAddr>,
) -> Option<PathId> {
    let placed = placed?;
    let here = |p: PathId| association.tuple(p).is_some_and(|tuple| tuple.local == placed);
    let open = association.paths().iter().filter(|p| p.link == link && p.state != PathState::Closed);
    open.map(|p| p.id).find(|p| here(*p))
}

/// Returns whether a path answers probes.
fn works(association: &Association, path: PathId) -> bool {
    let state = association.paths().iter().find(|p| p.id == path).map(|p| p.state);
    association.is_confirmed(path) && matches!(state, Some(PathState::Active | PathState::Suspended))
}
