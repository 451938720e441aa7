//! Opening of an association (RFC 9260 §5.1): INIT and COOKIE ECHO of this side, and the parameters that each side
//! receives in the handshake.

use core::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use smallvec::SmallVec;

use super::auth::{AuthKeys, AuthParams};
use super::context::Context;
use super::control_queue::Control;
use super::event::{CloseReason, Event};
use super::lifecycle::{Role, State};
use super::path_manager::PathManager;
use super::receiver::Receiver;
use crate::coding::Announced;
use crate::config::TransportConfig;
use crate::path::{FourTuple, packet_size};
use crate::policy::{PathId, PathState};
use crate::time::Instant;
use crate::wire::chunk::report::KIND_SUSPEND;
use crate::wire::chunk::{self, ChunkEncode as _, CookieAck, CookieEcho, Init, InitAck};
use crate::wire::packet::HEADER_LEN;
use crate::wire::{Cause, Param, Tsn, VerificationTag};

/// Maximum number of addresses taken from a peer's INIT or INIT ACK.
const MAX_LISTED: usize = 8;
/// Minimum size of this side's INIT, in bytes of the SCTP packet. An answer may have three times the length of INIT,
/// including IP and UDP headers. With this size, an answer has room for a cookie, AUTH, and the addresses of a host
/// with many of them. The padding follows RFC 4820.
const MIN_INIT: usize = 256;
static PADDING: [u8; MIN_INIT] = [0; MIN_INIT];

/// Capabilities that a peer announces in INIT or INIT ACK.
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
    /// Coding that the peer announces.
    pub coding: Option<Announced>,
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
        let coding =
            init.params.iter().find_map(|p| if let Param::Coding(value) = p { Some(value) } else { None });
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
            coding: coding.and_then(|value| Announced::read(value)),
            addresses: addresses.take(MAX_LISTED).collect(),
        }
    }

    /// Returns whether all mandatory fields are valid (RFC 9260 §3.3.2, §3.3.3).
    pub fn valid(&self) -> bool {
        self.tag.0 != 0 && self.outbound_streams > 0 && self.inbound_streams > 0
    }
}

/// Extensions that this side offers in INIT or INIT ACK. INIT ACK offers only extensions that the peer could use.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    /// True if partial reliability is offered.
    pub partial: bool,
    /// Parameters of AUTH. Without these parameters, AUTH and REPORT are not offered.
    pub auth: &'a AuthParams,
    /// Coding that is offered. An offer of coding requires REPORT and partial reliability.
    pub coding: Option<Announced>,
    pub addresses: &'a [IpAddr],
}

/// Returns the coding that an accepting side announces to a peer at `remote`. All paths of the association are assumed
/// to have the configured MTU.
pub(crate) fn accepted_coding(config: &TransportConfig, remote: SocketAddr) -> Option<Announced> {
    let chunks = packet_size(remote, config.mtu, config) - HEADER_LEN;
    Announced::offered(config.coding.as_ref(), chunks)
}

/// Returns this side's INIT without padding. With a cookie added, the chunk becomes an INIT ACK.
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
    }
    let signs = !auth.random.is_empty() || config.sealed();
    if config.reports && signs {
        extensions.push(chunk::report::TYPE);
    }
    let codes = extensions.contains(&chunk::report::TYPE) && extensions.contains(&chunk::forward_tsn::TYPE);
    if !extensions.is_empty() {
        params.push(Param::SupportedExtensions(extensions.into()));
    }
    if let Some(coding) = offer.coding.filter(|_| codes) {
        params.push(Param::Coding(coding.write()));
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

/// Pads `init` to at least [`MIN_INIT`].
fn pad(init: &mut Init) {
    let len = HEADER_LEN + init.encoded_len();
    if let Some(missing) = MIN_INIT.checked_sub(len + 4) {
        init.params.push(Param::Padding(Bytes::from_static(&PADDING[..missing])));
    }
}

/// State that an accepting endpoint restored from a valid cookie.
#[derive(Debug)]
pub(crate) struct Established {
    pub ports: (u16, u16),
    pub local_tag: VerificationTag,
    pub initial_tsn: Tsn,
    pub random: Bytes,
    pub peer: Capabilities,
    /// Address to which INIT ACK was sent. A peer that returns the cookie has received a packet at this address.
    pub remote: SocketAddr,
}

/// The timer T1, the cookie, and the announcements of this side.
#[derive(Debug)]
pub(super) struct Handshake {
    local_tag: VerificationTag,
    initial_tsn: Tsn,
    /// RANDOM, CHUNKS and HMAC-ALGO of this side, as this side sent them.
    auth: AuthParams,
    /// Coding of this side, as this side announced it. Every INIT of this side announces the same coding.
    coding: Option<Announced>,
    cookie: Option<Bytes>,
    t1: Option<Instant>,
    tries: u32,
}

impl Handshake {
    pub fn new(identity: (VerificationTag, Tsn), auth: AuthParams) -> Self {
        let (local_tag, initial_tsn) = identity;
        Handshake { local_tag, initial_tsn, auth, coding: None, cookie: None, t1: None, tries: 0 }
    }

    pub fn local_tag(&self) -> VerificationTag {
        self.local_tag
    }

    pub fn initial_tsn(&self) -> Tsn {
        self.initial_tsn
    }

    /// Returns RANDOM, CHUNKS and HMAC-ALGO of this side, as this side sent them.
    pub fn auth(&self) -> &AuthParams {
        &self.auth
    }

    /// Returns the coding of this side, as this side announced it.
    pub fn coding(&self) -> Option<Announced> {
        self.coding
    }

    /// Records on the accepting side that it sent `random` with its INIT ACK to `remote`. The INIT ACK announces coding
    /// if the peer is able to use it.
    pub fn accepted(&mut self, config: &TransportConfig, remote: SocketAddr, random: Bytes) {
        self.auth = AuthParams::with_random(random);
        self.coding = accepted_coding(config, remote);
    }

    pub fn timeout(&self) -> Option<Instant> {
        self.t1
    }

    /// Handles an ERROR chunk. A stale cookie restarts the handshake with a new INIT (RFC 9260 §5.2.6).
    pub fn on_error(&mut self, cx: &mut Context, now: Instant, error: &chunk::ErrorChunk) {
        for cause in &error.causes {
            if matches!(cause, Cause::StaleCookie { .. }) && cx.state == State::CookieEchoed {
                self.cookie = None;
                cx.state = State::CookieWait;
                self.t1 = Some(now);
            } else {
                cx.stats.peer_errors += 1;
            }
        }
    }

    /// Handles a valid cookie of the association that already exists. Either both sides opened the association at once,
    /// or this side's COOKIE ACK was lost (RFC 9260 §5.2.4 B, D).
    pub fn cookie_again(
        &mut self,
        m: &mut PathManager<'_>,
        now: Instant,
        tuple: FourTuple,
        found: &Established,
    ) {
        if m.cx.state.is_opening() {
            let on = m.cx.path_of(&tuple).unwrap_or(m.cx.paths.seen().primary());
            self.learn(m, &found.peer);
            self.establish(m, now, on);
        } else if m.cx.path_of(&tuple).is_none() && Self::only_shook_hands(m) {
            // This side's COOKIE ACK was lost on the return path of the first COOKIE ECHO: answer to the source of this
            // one.
            m.cx.propose(now, m.cx.paths.seen().primary(), tuple, None);
            m.cx.ack_cookie_there(m.cx.paths.seen().primary());
            return;
        }
        let on = m.cx.path_of(&tuple).unwrap_or(m.cx.paths.seen().primary());
        m.cx.push_control(on, CookieAck);
    }

    /// Returns whether there is one path, which has received only packets of the handshake.
    fn only_shook_hands(m: &PathManager<'_>) -> bool {
        let silent = m.cx.stats.chunks_received == 0 && m.cx.stats.sacks_received == 0;
        silent
            && m.cx.paths.seen().peer_reports()
            && m.cx.reports.nothing_received()
            && m.cx.tuples().count() == 1
    }

    /// Refuses the peer's restart of the association during the last step of a shutdown (RFC 9260 §5.2.4 A).
    pub fn refuse_restart(cx: &mut Context) {
        cx.push_control_anywhere(chunk::ShutdownAck);
        let causes = vec![Cause::CookieReceivedWhileShuttingDown];
        cx.push_control_anywhere(chunk::ErrorChunk { causes });
    }

    pub fn send_init(&mut self, m: &mut PathManager<'_>, now: Instant) {
        let mut open: Vec<PathId> =
            m.cx.paths.views().iter().filter(|v| v.state != PathState::Closed).map(|v| v.id).collect();
        if open.is_empty() {
            return;
        }
        if m.cx.config.eager_handshake.is_none() {
            // Each attempt uses the next path: the first uplink may be dead.
            open = vec![open[self.tries as usize % open.len()]];
        }
        let mut announced: Vec<IpAddr> = Vec::new();
        if m.cx.config.announce {
            for p in m.cx.paths.iter() {
                if !announced.contains(&p.tuple.local.ip()) {
                    announced.push(p.tuple.local.ip());
                }
            }
        }
        if self.coding.is_none() && (m.cx.config.coding.is_some() || m.cx.config.decodes) {
            let least =
                m.cx.paths.views().iter().filter(|v| v.state != PathState::Closed).map(|v| v.mtu).min();
            let chunks = (least.unwrap_or_default() as usize).saturating_sub(m.cx.driver.overhead());
            self.coding = Announced::offered(m.cx.config.coding.as_ref(), chunks);
        }
        let offer = Offer { partial: true, auth: &self.auth, coding: self.coding, addresses: &announced };
        let mut init = init_chunk(&m.cx.config, self.local_tag, self.initial_tsn, &offer);
        pad(&mut init);
        for path in open {
            let alone = Control { alone: true, tag: Some(0), ..Control::on(path, init.clone()) };
            m.cx.queue_control(alone);
        }
        self.start_t1(m, now);
    }

    fn start_t1(&mut self, m: &mut PathManager<'_>, now: Instant) {
        let back_off = m.cx.config.rto_initial * (1 << self.tries.min(6));
        let most = m.cx.config.eager_handshake.unwrap_or(m.cx.config.rto_max);
        self.t1 = Some(now + back_off.min(most));
    }

    /// Handles the expiry of T1-init or T1-cookie.
    pub fn on_t1(&mut self, m: &mut PathManager<'_>, now: Instant) {
        self.t1 = None;
        self.tries += 1;
        if self.tries > m.cx.config.max_init_retrans {
            m.cx.close(CloseReason::NoAnswer);
            return;
        }
        match m.cx.state {
            State::CookieWait => self.send_init(m, now),
            State::CookieEchoed => {
                self.send_cookie(m);
                self.start_t1(m, now);
            }
            _ => {}
        }
    }

    /// Handles the peer's INIT ACK (RFC 9260 §5.1 C).
    pub fn on_init_ack(&mut self, m: &mut PathManager<'_>, now: Instant, ack: &InitAck, on: PathId) {
        if m.cx.state != State::CookieWait {
            return;
        }
        let peer = Capabilities::of(&ack.0);
        let Some(cookie) = ack.state_cookie().filter(|_| peer.valid()) else {
            m.cx.stats.bad_chunks += 1;
            return;
        };
        self.cookie = Some(cookie.clone());
        self.learn(m, &peer);
        m.pair_addresses(&peer, on);
        m.cx.state = State::CookieEchoed;
        m.cx.paths.seen_mut().set_primary(on);
        self.tries = 0;
        m.cx.report_unrecognized(&ack.0);
        self.send_cookie(m);
        self.start_t1(m, now);
    }

    fn send_cookie(&mut self, m: &mut PathManager<'_>) {
        if let Some(cookie) = self.cookie.clone() {
            let path = Self::first_open_from(m, self.tries);
            let chunk = CookieEcho { cookie };
            m.cx.control.push_first(Control::on(path, chunk));
        }
    }

    /// Returns the path for attempt number `tries` of the handshake. The first attempt takes the path of the INIT ACK,
    /// and later attempts take the other paths in turn. A path is skipped if the peer only claimed its address.
    fn first_open_from(m: &PathManager<'_>, tries: u32) -> PathId {
        let n = m.cx.paths.len().max(1);
        let at = |k: usize| PathId(((m.cx.paths.seen().primary().index() + tries as usize + k) % n) as u8);
        (0..n).map(at).find(|p| m.cx.is_open(*p) && !m.cx.unproven(*p)).unwrap_or(m.cx.paths.seen().primary())
    }

    pub fn on_cookie_ack(&mut self, m: &mut PathManager<'_>, now: Instant, on: PathId) {
        if m.cx.state == State::CookieEchoed {
            self.establish(m, now, on);
        }
    }

    /// Stores the announcements that the peer made in the handshake.
    pub fn learn(&mut self, m: &mut PathManager<'_>, peer: &Capabilities) {
        m.cx.peer.tag = peer.tag;
        m.cx.paths.seen_mut().set_a_rwnd(u64::from(peer.a_rwnd));
        let streams = m.cx.config.inbound_streams.min(peer.outbound_streams);
        *m.rx = Receiver::new(&m.cx.config, peer.initial_tsn, streams);
        m.tx.limit_streams(m.cx.config.outbound_streams.min(peer.inbound_streams));
        m.cx.peer.partial = m.cx.config.partial_reliability && peer.partial;
        m.cx.peer.keys = peer.auth.as_ref().and_then(|p| AuthKeys::new(&self.auth, p));
        let signed = m.cx.peer.keys.is_some() || m.cx.config.sealed();
        m.cx.paths.seen_mut().set_peer_reports(m.cx.config.reports && peer.reports && signed);
        self.agree_on_coding(m.cx, peer);
        m.rx.decode_as(m.cx, m.cx.peer.coding_in);
        if let Some(config) = m.cx.config.towards(m.cx.paths.seen().peer_reports()) {
            m.cx.config = config.into();
        }
        let delay = m.cx.config.peer_ack_delay().unwrap_or_default();
        for i in 0..m.cx.paths.len() {
            m.cx.paths.view_mut(i).ack_delay = delay;
        }
    }

    /// Determines the coding in each direction. Coding needs two Strandcast peers: lost repair symbols are abandoned
    /// (RFC 3758) and not retransmitted. Both sides compute the same agreement.
    fn agree_on_coding(&self, cx: &mut Context, peer: &Capabilities) {
        let able = cx.paths.seen().peer_reports() && cx.peer.partial;
        let both = self.coding.zip(peer.coding).filter(|_| able);
        cx.peer.coding_out = both.and_then(|(ours, _)| ours.agreed(peer.a_rwnd));
        cx.peer.coding_in = both.and_then(|(_, theirs)| theirs.agreed(cx.config.receive_buffer));
    }

    /// Completes the handshake. The last packet of the handshake arrived by `on`. The last packet of a handshake
    /// confirms this path (RFC 9260 §5.4), unless the path's address is only claimed.
    pub fn establish(&mut self, m: &mut PathManager<'_>, now: Instant, on: PathId) {
        let on =
            if m.cx.role == Role::Opener && m.cx.unproven(on) { m.cx.paths.seen().primary() } else { on };
        m.cx.state = State::Established;
        let cookie_repeated = self.tries > 0;
        (self.t1, self.tries, self.cookie) = (None, 0, None);
        m.cx.paths.seen_mut().set_primary(on);
        if m.cx.paths.seen().peer_reports() {
            m.cx.paths[on.index()].wire_id = Some(0);
            m.cx.next_wire_id = if m.cx.role == Role::Opener { 1 } else { 0x8000 };
        }
        let measure = m.cx.config.eager_handshake.is_some() && m.cx.paths.len() > 1;
        if !m.cx.unproven(on) {
            m.cx.confirm(now, on);
        }
        // Schedulers compare this path with paths whose round-trip time is measured when they join.
        if m.cx.unproven(on) || measure {
            m.cx.paths[on.index()].heartbeats.want();
        }
        m.cx.events.push_back(Event::Connected { peer_is_strandcast: m.cx.paths.seen().peer_reports() });
        if cookie_repeated && m.cx.role == Role::Opener && m.cx.paths.seen().peer_reports() {
            // The peer may have taken another path's COOKIE ECHO for the first one: report which path this is.
            m.cx.say(now, m.cx.naming(), on, Some(on), true);
        }
        m.tx.begin_coding(m.cx, now);
        debug_assert!(m.tx.streams() > 0, "a valid peer admits at least one stream");
        Self::settle_other_paths(m, now, on);
        if let Some(stream) = m.tx.stream_not_admitted() {
            let streams = m.tx.streams();
            let text = format!(
                "the peer admits only {streams} streams, but a message is for stream {stream}; use a lower one"
            );
            m.cx.close(CloseReason::Protocol(text));
        }
    }

    /// Handles the paths that the handshake did not use. With a Strandcast peer, these paths join the association. With
    /// another peer, this side probes those paths that have a local address of their own.
    fn settle_other_paths(m: &mut PathManager<'_>, now: Instant, on: PathId) {
        for i in 0..m.cx.paths.len() {
            let path = PathId(i as u8);
            if path == on || m.cx.paths[i].confirmed || !m.cx.is_open(path) {
                continue;
            }
            if m.cx.paths.seen().peer_reports() {
                if m.cx.role == Role::Opener {
                    m.cx.join(now, path);
                }
            } else if m.cx.reachable_without_reports(path) {
                m.cx.paths[i].heartbeats.want();
            } else {
                m.close_path(now, path);
            }
        }
        for i in 0..m.cx.paths.len() {
            if m.cx.paths.seen().peer_reports() && m.cx.paths[i].suspended.0 && m.cx.is_open(PathId(i as u8))
            {
                m.cx.say(now, KIND_SUSPEND, PathId(i as u8), None, false);
            }
        }
    }
}
