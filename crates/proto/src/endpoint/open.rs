//! INIT and COOKIE ECHO: opening of associations, collision and restart (RFC 9260 §5.1, §5.2).

use bytes::Bytes;

use super::answer::{Asked, Kind};
use super::cookie::Cookie;
use super::state::{AssociationId, Endpoint, Entry};
use super::used::Use;
use crate::association::{
    Association, AuthParams, Capabilities, Established, Offer, State, accepted_coding, init_chunk,
};
use crate::coding::Announced;
use crate::config::TransportConfig;
use crate::path::{FourTuple, SealId};
use crate::time::{Duration, Instant};
use crate::wire::chunk::{Abort, ErrorChunk, Init, InitAck};
use crate::wire::{Cause, Packet, Param, Tsn, VerificationTag};

/// Maximum size in bytes of a peer's INIT. A longer INIT is refused.
const MAX_INIT: usize = 2048;

/// Parameters of this side for INIT ACK.
#[derive(Debug)]
struct LocalParameters<'a> {
    transport: &'a TransportConfig,
    auth: AuthParams,
    coding: Option<Announced>,
}

/// Parts that INIT ACK omits because the INIT is too small for a complete answer. Each level also omits the parts of
/// the previous levels.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Trim {
    Nothing,
    /// Omits reports of unknown parameters.
    Reports,
    /// Omits the addresses of this side.
    Addresses,
    /// Omits AUTH, therefore also REPORT, and the peer's addresses in the cookie.
    Bare,
}

impl Trim {
    const ALL: [Trim; 4] = [Trim::Nothing, Trim::Reports, Trim::Addresses, Trim::Bare];
}

/// Action for a valid cookie if its association already exists, by the table of RFC 9260 §5.2.4.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Collision {
    /// Row A: the peer restarted.
    Restart,
    /// Rows B and D: both sides opened the association at once, or COOKIE ECHO arrived again.
    Same,
    /// Row C, and all other cases.
    Discard,
}

/// Returns the action by the rows of this table. The rows compare the cookie's tags and tie-tags with the association's
/// tags.
pub(super) fn collision(
    cookie_tags: (VerificationTag, VerificationTag),
    tie: (VerificationTag, VerificationTag),
    tags: (VerificationTag, VerificationTag),
) -> Collision {
    match (cookie_tags.0 == tags.0, cookie_tags.1 == tags.1) {
        (false, false) if tie == tags && tie.0.0 != 0 => Collision::Restart,
        (true, _) => Collision::Same,
        _ => Collision::Discard,
    }
}

impl Endpoint {
    /// Answers an INIT without storing anything (RFC 9260 §5.1 B, §5.2.1, §5.2.2).
    pub(super) fn on_init(&mut self, now: Instant, asked: &Asked, init: &Init) {
        let mut peer = Capabilities::of(init);
        if let Err(cause) = self.check_init(asked, init, &peer) {
            if peer.tag.0 != 0 && self.answers.admit(now, asked, Kind::Opening) {
                self.answers.send(asked, peer.tag, &Abort { reflected_tag: false, causes: vec![cause] });
            }
            return;
        }
        if !self.answers.admit(now, asked, Kind::Opening) {
            return;
        }
        let existing = self.by_tuple.get(&(asked.tuple, asked.header.source_port));
        let existing = existing.and_then(|id| self.entries.get(id)).map(|e| &e.association);
        let opening = existing.filter(|a| matches!(a.state(), State::CookieWait | State::CookieEchoed));
        let (identity, tie) = match (opening, existing) {
            (Some(a), _) => ((a.tags().0, a.local_initial_tsn()), Default::default()),
            (None, Some(a)) => (Default::default(), a.tags()),
            (None, None) => (Default::default(), Default::default()),
        };
        // The announcement of an association's own INIT also applies to its INIT ACK.
        let announced = opening.map(|a| (a.config().clone(), a.announced()));
        let identity: (VerificationTag, Tsn) = if identity.0.0 == 0 { self.new_identity() } else { identity };
        let ours = match &announced {
            Some((transport, (auth, coding))) => {
                LocalParameters { transport, auth: auth.clone(), coding: *coding }
            }
            None => {
                let auth = AuthParams::generate(&mut self.random, &self.config.transport);
                let transport = &*self.config.transport;
                LocalParameters { transport, auth, coding: accepted_coding(transport, asked.tuple.remote) }
            }
        };
        if !self.config.transport.announce {
            peer.addresses.clear();
        }
        let ports = (asked.header.destination_port, asked.header.source_port);
        let cookie = Cookie {
            created: now,
            remote: asked.tuple.remote,
            local_tag: identity.0,
            initial_tsn: identity.1,
            tie,
            ports,
            random: Bytes::new(),
            peer,
        };
        let tag = cookie.peer.tag;
        let session = asked.tuple.sealed;
        let fitting =
            Trim::ALL.into_iter().map(|trim| self.init_ack(&ours, cookie.clone(), session, init, trim));
        if let Some(ack) = fitting.into_iter().find(|ack| asked.admits(ack)) {
            self.answers.send(asked, tag, &ack);
        }
    }

    /// Returns the reason for refusing an INIT, if there is one.
    fn check_init(&self, asked: &Asked, init: &Init, peer: &Capabilities) -> Result<(), Cause> {
        if !peer.valid() {
            return Err(Cause::InvalidMandatoryParameter);
        }
        if let Some(Param::HostNameAddress(name)) =
            init.params.iter().find(|p| matches!(p, Param::HostNameAddress(_)))
        {
            return Err(Cause::UnresolvableAddress(name.clone()));
        }
        let existing = self.by_tuple.get(&(asked.tuple, asked.header.source_port));
        let existing = existing.and_then(|id| self.entries.get(id)).map(|e| &e.association);
        let full = existing.is_none() && (self.full() || self.session_full(asked.tuple.sealed));
        if full || existing.is_none() && self.config.accept.is_none() || asked.len > MAX_INIT {
            return Err(Cause::OutOfResource);
        }
        match existing.and_then(|a| unknown_address(a, peer)) {
            Some(new) => Err(Cause::RestartWithNewAddresses(new)),
            None => Ok(()),
        }
    }

    /// Returns whether a sealed session has its maximum number of associations. The limit prevents one key from opening
    /// more associations by using other ports.
    fn session_full(&self, sealed: SealId) -> bool {
        let most = self.config.max_associations_of_session;
        let open = |e: &Entry| e.sealed == sealed && !e.association.is_closed();
        sealed != SealId::CLEAR && self.entries.values().filter(|e| open(e)).take(most).count() == most
    }

    fn full(&self) -> bool {
        self.entries.len() >= self.memory.associations
    }

    /// Returns an INIT ACK with the parameters that the peer can use and that `trim` does not omit.
    fn init_ack(
        &self,
        ours: &LocalParameters<'_>,
        mut cookie: Cookie,
        session: SealId,
        init: &Init,
        trim: Trim,
    ) -> InitAck {
        let transport = ours.transport;
        let announce = transport.announce && trim < Trim::Addresses;
        let locals: Vec<_> = self.config.locals.iter().filter(|_| announce).map(|(_, a)| a.ip()).collect();
        let none = AuthParams::none();
        let auth = if cookie.peer.auth.is_some() && trim < Trim::Bare { &ours.auth } else { &none };
        // A peer that does not code does not need the announcement that this side decodes.
        let codes = |announced: Option<Announced>| announced.is_some_and(|a| a.0.is_some());
        let wanted = cookie.peer.coding.is_some() && (codes(cookie.peer.coding) || codes(ours.coding));
        let coding = ours.coding.filter(|_| wanted);
        let offer = Offer { partial: cookie.peer.partial, auth, coding, addresses: &locals };
        let mut ack = init_chunk(transport, cookie.local_tag, cookie.initial_tsn, &offer);
        cookie.random = auth.random.clone();
        if auth.random.is_empty() {
            cookie.peer.auth = None;
        }
        if trim >= Trim::Bare {
            cookie.peer.addresses.clear();
        }
        ack.params.push(Param::StateCookie(self.cookies.sign(&cookie, session)));
        for p in init.params.iter().filter(|_| trim < Trim::Reports) {
            let Param::Unknown(u) = p else { continue };
            if u.action().reports() {
                ack.params.push(Param::UnrecognizedParameter(p.to_bytes()));
            }
            if u.action().stops() {
                break;
            }
        }
        InitAck(ack)
    }

    /// Handles COOKIE ECHO (RFC 9260 §5.1.5, §5.2.4). A cookie opens at most one association, even if it arrives
    /// several times or from several sources.
    pub(super) fn on_cookie_echo(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        packet: &Packet,
        cookie: &Bytes,
    ) -> Option<AssociationId> {
        let life = self.config.transport.cookie_life;
        let Some((cookie, mut stale)) = self.cookies.open(now, cookie, life, tuple.sealed) else {
            self.dropped += 1;
            return None;
        };
        let header = packet.header;
        let ports = (header.destination_port, header.source_port);
        let existing =
            self.by_tuple.get(&(tuple, header.source_port)).or(self.by_tag.get(&cookie.local_tag.0));
        let existing = existing.copied().filter(|id| self.entries.contains_key(id));
        let strange = existing.is_some_and(|id| self.sealed(id) != Some(tuple.sealed));
        if strange
            || cookie.ports != ports
            || (existing.is_none() && header.verification_tag != cookie.local_tag)
        {
            self.dropped += 1;
            return None;
        }
        let tags = (cookie.local_tag, cookie.peer.tag);
        let same = existing.is_some_and(|id| self.entries[&id].association.tags() == tags);
        match self.used.check(&cookie) {
            Use::Again if !same => {
                self.dropped += 1;
                return None;
            }
            Use::Forgotten => stale = stale.or(Some(now - cookie.created)),
            Use::First | Use::Again => {}
        }
        if let Some(by) = stale.filter(|_| !same) {
            self.too_late(now, &Asked::by(tuple, packet), &cookie, by);
            return None;
        }
        let id = match existing {
            None => self.accept(now, tuple, &cookie),
            Some(id) => self.collide(now, tuple, id, &cookie),
        };
        // The chunks bundled after the COOKIE ECHO.
        if let Some(id) = id.filter(|id| self.entries.contains_key(id)) {
            self.used.remember(now, life, &cookie);
            self.allowed(id)?.handle_packet(now, tuple, packet);
        }
        id
    }

    /// Answers a cookie whose lifetime is over (RFC 9260 §5.1.5, step 3).
    fn too_late(&mut self, now: Instant, asked: &Asked, cookie: &Cookie, by: Duration) {
        if self.answers.admit(now, asked, Kind::Opening) {
            let staleness_us = u32::try_from(by.as_micros()).unwrap_or(u32::MAX);
            let error = ErrorChunk { causes: vec![Cause::StaleCookie { staleness_us }] };
            self.answers.send(asked, cookie.peer.tag, &error);
        }
    }

    fn accept(&mut self, now: Instant, tuple: FourTuple, cookie: &Cookie) -> Option<AssociationId> {
        if self.full() || self.session_full(tuple.sealed) {
            self.dropped += 1;
            return None;
        }
        let (id, _) = self.new_id();
        let association = self.accepted(now, tuple, cookie, id)?;
        let port = association.peer_port();
        self.insert(id, association, port);
        Some(id)
    }

    fn accepted(
        &self,
        now: Instant,
        tuple: FourTuple,
        cookie: &Cookie,
        id: AssociationId,
    ) -> Option<Association> {
        let make = self.config.accept.as_ref()?;
        let seeds = self.seeds.child(&format!("association {} {}", id.0, cookie.local_tag.0));
        let scheme = make(&seeds.child("scheme"));
        let config = std::sync::Arc::clone(&self.config.transport);
        let mut association = Association::accept(now, config, established(cookie), tuple, scheme, &seeds);
        association.want(self.config.decodes_unasked);
        if self.config.transport.announce {
            association.pair_with(now, &cookie.peer, &self.config.locals);
        }
        Some(association)
    }

    fn collide(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        id: AssociationId,
        cookie: &Cookie,
    ) -> Option<AssociationId> {
        let tags = self.entries.get(&id)?.association.tags();
        match collision((cookie.local_tag, cookie.peer.tag), cookie.tie, tags) {
            Collision::Discard => {
                self.dropped += 1;
                None
            }
            Collision::Same => {
                let found = established(cookie);
                self.entries.get_mut(&id)?.association.cookie_again(now, tuple, &found);
                self.touch(id);
                Some(id)
            }
            Collision::Restart => {
                if self.entries.get(&id)?.association.state() == State::ShutdownAckSent {
                    self.entries.get_mut(&id)?.association.refuse_restart();
                    self.touch(id);
                    return None;
                }
                let mut restarted = self.accepted(now, tuple, cookie, id)?;
                restarted.want_as(&self.entries.get(&id)?.association);
                let port = restarted.peer_port();
                self.release(id);
                self.insert(id, restarted, port);
                self.restarted(id);
                Some(id)
            }
        }
    }
}

fn established(cookie: &Cookie) -> Established {
    Established {
        ports: cookie.ports,
        local_tag: cookie.local_tag,
        initial_tsn: cookie.initial_tsn,
        random: cookie.random.clone(),
        peer: cookie.peer.clone(),
        remote: cookie.remote,
    }
}

/// Returns an address that is in a restarting peer's INIT but not in its association (RFC 9260 §5.2.2). The result is
/// the TLV of the error cause.
fn unknown_address(a: &Association, peer: &Capabilities) -> Option<Bytes> {
    if matches!(a.state(), State::CookieWait | State::CookieEchoed) {
        return None;
    }
    let known = |ip: &core::net::IpAddr| a.tuples().any(|t| t.remote.ip() == *ip);
    peer.addresses.iter().find(|ip| !known(ip)).map(|ip| Param::Address(*ip).to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9260 §5.2.4, table 12: X no match, M match, A any, 0 no tie-tags.
    #[test]
    fn the_collision_table() {
        let t = |a, b| (VerificationTag(a), VerificationTag(b));
        let tags = t(1, 2);
        assert_eq!(collision(t(8, 9), t(1, 2), tags), Collision::Restart, "A: X X M M");
        assert_eq!(collision(t(1, 9), t(0, 0), tags), Collision::Same, "B: M X A A");
        assert_eq!(collision(t(8, 2), t(0, 0), tags), Collision::Discard, "C: X M 0 0");
        assert_eq!(collision(t(1, 2), t(5, 6), tags), Collision::Same, "D: M M A A");
        assert_eq!(collision(t(8, 9), t(0, 0), tags), Collision::Discard, "no row");
        assert_eq!(collision(t(8, 9), t(1, 6), tags), Collision::Discard, "no row");
    }
}
