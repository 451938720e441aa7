//! Opening an association (RFC 9260 §5.1): INIT and COOKIE ECHO of this side, and what both sides learn from them.

use core::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use super::auth::{AuthKeys, AuthParams};
use super::control_queue::Control;
use super::event::{CloseReason, Event, PathChange};
use super::state::{Association, Receiving, Role, State};
use crate::config::TransportConfig;
use crate::path::FourTuple;
use crate::policy::{PathId, PathState, Scheme};
use crate::seeds::Seeds;
use crate::time::Instant;
use crate::wire::chunk::report::{KIND_MOVED, KIND_SUSPEND};
use crate::wire::chunk::{self, ChunkEncode as _, CookieAck, CookieEcho, Init, InitAck};
use crate::wire::{Param, StreamId, Tsn, VerificationTag};

/// Addresses taken from a peer's INIT or INIT ACK at most.
const MAX_LISTED: usize = 8;
/// The least size of our INIT, bytes of SCTP packet: answers three times as long, IP and UDP headers counted, have room
/// for a cookie, AUTH and the addresses of a host with many (RFC 4820 pads it).
const LEAST_INIT: usize = 256;
static PADDING: [u8; LEAST_INIT] = [0; LEAST_INIT];

/// What a peer's INIT or INIT ACK says it can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Capabilities {
    pub tag: VerificationTag,
    pub a_rwnd: u32,
    pub outbound_streams: u16,
    pub inbound_streams: u16,
    pub initial_tsn: Tsn,
    pub partial: bool,
    pub reports: bool,
    pub auth: Option<AuthParams>,
    pub addresses: SmallVec<[IpAddr; 2]>,
}

impl Capabilities {
    pub fn of(init: &Init) -> Self {
        let has = |f: fn(&Param) -> bool| init.params.iter().any(f);
        let extensions = init.params.iter().find_map(|p| match p {
            Param::SupportedExtensions(types) => Some(types.clone()),
            _ => None,
        });
        let extensions = extensions.unwrap_or_default();
        let addresses =
            init.params.iter().filter_map(|p| if let Param::Address(a) = p { Some(*a) } else { None });
        Capabilities {
            tag: init.initiate_tag,
            a_rwnd: init.a_rwnd,
            outbound_streams: init.outbound_streams,
            inbound_streams: init.inbound_streams,
            initial_tsn: init.initial_tsn,
            partial: has(|p| matches!(p, Param::ForwardTsnSupported))
                || extensions.contains(&chunk::forward_tsn::TYPE),
            reports: extensions.contains(&chunk::report::TYPE),
            auth: AuthParams::of_peer(&init.params),
            addresses: addresses.take(MAX_LISTED).collect(),
        }
    }

    /// Whether the mandatory fields make sense (RFC 9260 §3.3.2, §3.3.3).
    pub fn valid(&self) -> bool {
        self.tag.0 != 0 && self.outbound_streams > 0 && self.inbound_streams > 0
    }
}

/// What INIT or INIT ACK offers; INIT ACK only what the peer could use.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    /// Partial reliability.
    pub partial: bool,
    /// AUTH, and REPORT with it; not if empty.
    pub auth: &'a AuthParams,
    pub addresses: &'a [IpAddr],
}

/// Our INIT, not padded (or, with a cookie added, INIT ACK).
pub(crate) fn init_chunk(
    config: &TransportConfig,
    tag: VerificationTag,
    initial_tsn: Tsn,
    offer: &Offer<'_>,
) -> Init {
    let auth = offer.auth;
    let mut extensions = Vec::new();
    let mut params: Vec<Param> = offer.addresses.iter().map(|a| Param::Address(*a)).collect();
    if offer.partial && config.partial_reliability {
        params.push(Param::ForwardTsnSupported);
        extensions.push(chunk::forward_tsn::TYPE);
    }
    if !auth.random.is_empty() {
        params.extend(auth.params());
        extensions.extend([chunk::auth::TYPE, chunk::asconf::TYPE, chunk::asconf_ack::TYPE]);
        if config.reports {
            extensions.push(chunk::report::TYPE);
        }
    }
    if !extensions.is_empty() {
        params.push(Param::SupportedExtensions(extensions.into()));
    }
    Init {
        initiate_tag: tag,
        a_rwnd: config.receive_buffer,
        outbound_streams: config.outbound_streams,
        inbound_streams: config.inbound_streams,
        initial_tsn,
        params,
    }
}

/// Makes `init` as long as [`LEAST_INIT`] at least.
fn pad(init: &mut Init) {
    let len = crate::wire::packet::HEADER_LEN + init.encoded_len();
    if let Some(missing) = LEAST_INIT.checked_sub(len + 4) {
        init.params.push(Param::Padding(Bytes::from_static(&PADDING[..missing])));
    }
}

/// What an accepting endpoint found in a good cookie.
#[derive(Debug)]
pub(crate) struct Established {
    pub ports: (u16, u16),
    pub local_tag: VerificationTag,
    pub initial_tsn: Tsn,
    pub random: Bytes,
    pub peer: Capabilities,
    /// Where INIT ACK went to: whoever has the cookie receives there.
    pub remote: SocketAddr,
}

impl Association {
    /// Opens an association over `tuples`; the first is the primary path.
    pub(crate) fn connect(
        now: Instant,
        config: Arc<TransportConfig>,
        ports: (u16, u16),
        identity: (VerificationTag, Tsn),
        tuples: &[(FourTuple, Option<u16>)],
        scheme: Box<dyn Scheme>,
        seeds: &Seeds,
    ) -> Self {
        let mut a = Association::blank(config, Role::Opener, ports, identity, scheme, seeds);
        for (tuple, mtu) in tuples {
            a.open_slot(now, *tuple, *mtu);
        }
        a.send_init(now);
        a
    }

    /// The association that a valid cookie describes; the COOKIE ECHO came from `tuple`.
    pub(crate) fn accept(
        now: Instant,
        config: Arc<TransportConfig>,
        found: Established,
        tuple: FourTuple,
        scheme: Box<dyn Scheme>,
        seeds: &Seeds,
    ) -> Self {
        let identity = (found.local_tag, found.initial_tsn);
        let mut a = Association::blank(config, Role::Accepter, found.ports, identity, scheme, seeds);
        a.auth_local = AuthParams::with_random(found.random);
        let path = a.open_slot(now, tuple, None);
        // What another address may get is counted with the packet that brought the cookie.
        a.paths[path.index()].credit = (found.remote != tuple.remote).then_some(0);
        a.learn(&found.peer);
        a.establish(now, path);
        a.push_control(PathId(0), CookieAck);
        a
    }

    /// A good cookie of this very association: both sides opened at once, or our COOKIE ACK was lost (RFC 9260 §5.2.4
    /// B, D).
    pub(crate) fn cookie_again(&mut self, now: Instant, tuple: FourTuple, found: &Established) {
        if matches!(self.state, State::CookieWait | State::CookieEchoed) {
            let on = self.path_of(&tuple).unwrap_or(self.paths.seen().primary());
            self.learn(&found.peer);
            self.establish(now, on);
        } else if self.path_of(&tuple).is_none() && self.only_shook_hands() {
            // Our COOKIE ACK did not get through the way the first COOKIE ECHO came: answer where this one came from.
            self.propose(now, self.paths.seen().primary(), tuple, None);
            self.ack_cookie_there(self.paths.seen().primary());
            return;
        }
        let on = self.path_of(&tuple).unwrap_or(self.paths.seen().primary());
        self.push_control(on, CookieAck);
    }

    /// Nothing came on the only path but the handshake.
    fn only_shook_hands(&self) -> bool {
        let silent = self.stats.chunks_received == 0 && self.stats.sacks_received == 0;
        silent
            && self.paths.seen().peer_reports()
            && self.reports.nothing_heard()
            && self.tuples().count() == 1
    }

    /// A restart while the last step of a shutdown is under way (RFC 9260 §5.2.4 A).
    pub(crate) fn refuse_restart(&mut self) {
        self.push_control_anywhere(chunk::ShutdownAck);
        let causes = vec![crate::wire::Cause::CookieReceivedWhileShuttingDown];
        self.push_control_anywhere(chunk::ErrorChunk { causes });
    }

    fn send_init(&mut self, now: Instant) {
        let mut open: Vec<PathId> =
            self.paths.views().iter().filter(|v| v.state != PathState::Closed).map(|v| v.id).collect();
        if open.is_empty() {
            return;
        }
        if self.config.eager_handshake.is_none() {
            // Each try takes the next path: the first uplink may be the dead one.
            open = vec![open[self.t1_tries as usize % open.len()]];
        }
        let mut announced: Vec<IpAddr> = Vec::new();
        if self.config.announce {
            for p in self.paths.iter() {
                if !announced.contains(&p.tuple.local.ip()) {
                    announced.push(p.tuple.local.ip());
                }
            }
        }
        let offer = Offer { partial: true, auth: &self.auth_local, addresses: &announced };
        let mut init = init_chunk(&self.config, self.local_tag, self.initial_tsn, &offer);
        pad(&mut init);
        for path in open {
            let alone = Control { alone: true, tag: Some(0), ..Control::on(path, init.clone()) };
            self.queue_control(alone);
        }
        self.start_t1(now);
    }

    fn start_t1(&mut self, now: Instant) {
        let back_off = self.config.rto_initial * (1 << self.t1_tries.min(6));
        let most = self.config.eager_handshake.unwrap_or(self.config.rto_max);
        self.t1 = Some(now + back_off.min(most));
    }

    /// T1-init or T1-cookie expired.
    pub(super) fn on_t1(&mut self, now: Instant) {
        self.t1 = None;
        self.t1_tries += 1;
        if self.t1_tries > self.config.max_init_retrans {
            self.close(CloseReason::NoAnswer);
            return;
        }
        match self.state {
            State::CookieWait => self.send_init(now),
            State::CookieEchoed => {
                self.send_cookie();
                self.start_t1(now);
            }
            _ => {}
        }
    }

    /// The peer's INIT ACK (RFC 9260 §5.1 C).
    pub(super) fn on_init_ack(&mut self, now: Instant, ack: &InitAck, on: PathId) {
        if self.state != State::CookieWait {
            return;
        }
        let peer = Capabilities::of(&ack.0);
        let Some(cookie) = ack.state_cookie().filter(|_| peer.valid()) else {
            self.stats.bad_chunks += 1;
            return;
        };
        self.cookie = Some(cookie.clone());
        self.learn(&peer);
        self.pair_addresses(&peer, on);
        self.state = State::CookieEchoed;
        self.paths.seen_mut().set_primary(on);
        self.t1_tries = 0;
        self.report_unrecognized(&ack.0);
        self.send_cookie();
        self.start_t1(now);
    }

    fn send_cookie(&mut self) {
        if let Some(cookie) = self.cookie.clone() {
            let path = self.first_open_from(self.t1_tries);
            let chunk = CookieEcho { cookie };
            self.control.push_first(Control::on(path, chunk));
        }
    }

    /// The path of a handshake's try: the one the INIT ACK came by, then the others in turn whose addresses the peer did
    /// not just claim.
    fn first_open_from(&self, tries: u32) -> PathId {
        let n = self.paths.len().max(1);
        let at = |k: usize| PathId(((self.paths.seen().primary().index() + tries as usize + k) % n) as u8);
        (0..n).map(at).find(|p| self.is_open(*p) && !self.unproven(*p)).unwrap_or(self.paths.seen().primary())
    }

    pub(super) fn on_cookie_ack(&mut self, now: Instant, on: PathId) {
        if self.state == State::CookieEchoed {
            self.establish(now, on);
        }
    }

    /// Takes over what the peer announced.
    pub(super) fn learn(&mut self, peer: &Capabilities) {
        self.peer_tag = peer.tag;
        self.paths.seen_mut().set_a_rwnd(u64::from(peer.a_rwnd));
        self.rx = Receiving::new(&self.config, peer.initial_tsn);
        self.rx.streams = self.config.inbound_streams.min(peer.outbound_streams);
        self.tx.next_ssn.resize(usize::from(self.config.outbound_streams.min(peer.inbound_streams)), 0);
        self.peer_partial = self.config.partial_reliability && peer.partial;
        self.auth = peer.auth.as_ref().and_then(|p| AuthKeys::new(&self.auth_local, p));
        self.paths.seen_mut().set_peer_reports(self.config.reports && peer.reports && self.auth.is_some());
        if let Some(config) = self.config.towards(self.paths.seen().peer_reports()) {
            self.config = config.into();
        }
    }

    /// The handshake is done; its last packet came by `on`, which is thereby confirmed (RFC 9260 §5.4), unless the peer
    /// only claims to be there.
    pub(super) fn establish(&mut self, now: Instant, on: PathId) {
        let on =
            if self.role == Role::Opener && self.unproven(on) { self.paths.seen().primary() } else { on };
        self.state = State::Established;
        let cookie_repeated = self.t1_tries > 0;
        (self.t1, self.t1_tries, self.cookie) = (None, 0, None);
        let next_ssn = self.tx.next_ssn.len();
        self.paths.seen_mut().set_primary(on);
        if self.paths.seen().peer_reports() {
            self.paths[on.index()].wire_id = Some(0);
            self.next_wire_id = if self.role == Role::Opener { 1 } else { 0x8000 };
        }
        let measure = self.config.eager_handshake.is_some() && self.paths.len() > 1;
        if !self.unproven(on) {
            self.confirm(now, on);
        }
        // Schedulers compare it with paths whose round trip is measured as they join.
        if self.unproven(on) || measure {
            self.paths[on.index()].heartbeats.want();
        }
        self.events.push_back(Event::Connected { ours: self.paths.seen().peer_reports() });
        if cookie_repeated && self.role == Role::Opener && self.paths.seen().peer_reports() {
            // The peer may have taken another path's COOKIE ECHO for the first: say which path this is.
            self.say(now, KIND_MOVED, on, Some(on), true);
        }
        debug_assert!(next_ssn > 0, "a valid peer admits at least one stream");
        self.settle_other_paths(now, on);
        if let Some(m) = self.tx.queue.first_beyond(StreamId(next_ssn as u16)) {
            self.close(CloseReason::Protocol(format!(
                "the peer admits {next_ssn} streams, a message is for {m}"
            )));
        }
    }

    /// What becomes of the paths the handshake did not use: towards one of ours they join, towards others those with
    /// an address of their own are probed.
    fn settle_other_paths(&mut self, now: Instant, on: PathId) {
        for i in 0..self.paths.len() {
            let path = PathId(i as u8);
            if path == on || self.paths[i].confirmed || !self.is_open(path) {
                continue;
            }
            if self.paths.seen().peer_reports() {
                if self.role == Role::Opener {
                    self.join(now, path);
                }
            } else if self.reachable_without_reports(path) {
                self.paths[i].heartbeats.want();
            } else {
                self.close_path(now, path);
            }
        }
        for i in 0..self.paths.len() {
            if self.paths.seen().peer_reports() && self.paths[i].suspended.0 && self.is_open(PathId(i as u8))
            {
                self.say(now, KIND_SUSPEND, PathId(i as u8), None, false);
            }
        }
    }

    pub(super) fn open_slot(&mut self, now: Instant, tuple: FourTuple, mtu: Option<u16>) -> PathId {
        let id = self.new_path(now, tuple, mtu);
        self.events.push_back(Event::Path(id, PathChange::Opened));
        id
    }
}
