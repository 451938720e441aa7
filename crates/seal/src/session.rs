//! A session: the keys of its handshakes, and the addresses of its paths.

use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk;
use strandcast_proto::wire::packet::HEADER_LEN;

use crate::attempt::Attempt;
use crate::context::{Context, Keyset, Owner};
use crate::control::Control;
use crate::event::{Lost, SealEvent};
use crate::handshake::Answer;
use crate::identity::{Peer, PublicKey, TokenId};
use crate::keys::{Discard, HandshakeId, Keys};
use crate::number::PacketNumber;
use crate::opening::{Confirming, Opening};
use crate::outbox::Outbox;
use crate::peer_address::PeerAddress;
use crate::routes::Routes;

/// Time for which the previous keys are kept, for datagrams that were sent before the change of keys.
const KEPT: Duration = Duration::from_secs(30);
/// Time without an arrival before the owner checks whether the session is still needed.
const SILENT: Duration = Duration::from_secs(10);
/// Wait before the first ping under the keys of a new session. Usually the session's association sends data earlier.
const FIRST_PING: Duration = Duration::from_millis(250);

/// Role of this side in a session.
pub(crate) enum Role {
    /// This side is the initiator: it connected. The initiator assigns path numbers and begins handshakes.
    Initiator(Box<Opening>),
    /// This side is the responder: the peer connected. `before` is the handshake that the current handshake continues.
    /// The initiator names it until a datagram has arrived under the current keys.
    Responder { before: Option<HandshakeId> },
}

/// State that two peers share: keys and paths.
pub(crate) struct Session {
    pub id: SealId,
    /// Static key of the peer, proven or expected.
    pub remote: PublicKey,
    /// Token under which the peer connected. The token is `None` if this side connected.
    pub token: Option<TokenId>,
    pub role: Role,
    pub routes: Routes,
    current: Option<Keyset>,
    previous: Option<(Keyset, Instant)>,
    /// Time of the last authentic datagram. Before the first one, it is the beginning of the session.
    pub received: Instant,
    /// Time of the next check whether the session is still needed.
    check: Instant,
    /// Time at which the session last had an association. Until it has one, it is the time at which the session began.
    pub used: Instant,
    /// Time at which the session's alarm fires.
    pub wake: Instant,
    /// True if a deadline of the session may be earlier than `wake`.
    pub touched: bool,
}

impl Session {
    /// Returns a session that this side opens with `peer`.
    pub fn opening(now: Instant, id: SealId, peer: Peer) -> Self {
        let remote = peer.key;
        Session::new(now, id, remote, Role::Initiator(Box::new(Opening::new(peer))))
    }

    /// Returns a session that `remote` opened under `token`.
    pub fn accepted(now: Instant, id: SealId, remote: PublicKey, token: TokenId, keyset: Keyset) -> Self {
        let session = Session::new(now, id, remote, Role::Responder { before: None });
        Session { current: Some(keyset), token: Some(token), ..session }
    }

    fn new(now: Instant, id: SealId, remote: PublicKey, role: Role) -> Self {
        let (received, used, check, wake) = (now, now, now + SILENT, Instant::MAX);
        let (routes, token, current, previous, touched) = (Routes::default(), None, None, None, true);
        Session { id, remote, token, role, routes, current, previous, received, check, used, wake, touched }
    }

    /// Returns the keys that encrypt datagrams.
    pub fn keys(&self) -> Option<&Keys> {
        self.current.as_ref().map(|k| &k.keys)
    }

    /// Encrypts packets for `tuple` in place. Returns false if the packets must not be sent.
    pub fn seal(
        &mut self,
        now: Instant,
        tuple: &FourTuple,
        data: &mut [u8],
        size: usize,
        cx: &mut Context,
    ) -> bool {
        let Some(current) = &mut self.current else {
            return false;
        };
        let route = match &self.role {
            Role::Initiator(_) => self.routes.of_initiator(now, tuple),
            Role::Responder { .. } => self.routes.by_tuple(tuple),
        };
        let datagrams = data.len().div_ceil(size.max(1));
        let Some(route) = route else { return false };
        if !route.addr.spend(datagrams, data.len()) {
            return false;
        }
        for datagram in data.chunks_mut(size.max(1)) {
            if current.keys.seal(now, route.number, datagram).is_none() {
                return false;
            }
        }
        cx.outbox.stats.sealed += datagrams as u64;
        self.sent(now);
        true
    }

    fn sent(&mut self, now: Instant) {
        if let Role::Initiator(opening) = &mut self.role
            && opening.sent(now)
        {
            self.touched = true;
        }
    }

    /// Decrypts a datagram in place.
    ///
    /// # Errors
    /// Returns the reason for dropping the datagram, as an error.
    pub fn open(&mut self, keyset: u64, path: u8, datagram: &mut [u8]) -> Result<PacketNumber, Discard> {
        let next = match &mut self.role {
            Role::Initiator(opening) => opening.next.as_mut(),
            Role::Responder { .. } => None,
        };
        let previous = self.previous.as_mut().map(|(keyset, _)| keyset);
        let mut sets = self.current.iter_mut().chain(next).chain(previous);
        let set = sets.find(|set| set.number == keyset).ok_or(Discard::Path)?;
        set.keys.open(path, datagram)
    }

    /// Records an authentic datagram of `len` bytes. Returns the 4-tuple of the datagram's path at the endpoint.
    #[expect(clippy::too_many_arguments, reason = "all that is known of one datagram")]
    pub fn authentic(
        &mut self,
        now: Instant,
        keyset: u64,
        path: u8,
        number: PacketNumber,
        from: &FourTuple,
        len: usize,
        cx: &mut Context,
    ) -> FourTuple {
        self.received = now;
        let initiates = self.received_by_initiator(now, keyset, cx);
        if self.current.as_ref().is_none_or(|current| current.number != keyset) {
            return self.routes.by_number(path).map_or(*from, |route| route.addr.tuple);
        }
        let random = &mut cx.outbox.random;
        let route = if initiates {
            self.routes.by_number(path)
        } else {
            self.routes.of_responder(now, path, || PeerAddress::claimed(now, *from, random))
        };
        let Some(route) = route else { return *from };
        let tuple = route.addr.tuple;
        route.on_received(now, number, from, len, initiates, &mut cx.outbox.random);
        if route.asks() {
            self.challenge(now, cx);
            self.touched = true;
        }
        tuple
    }

    /// Ends a silence, and changes to the keys of the datagram. Returns true if this side is the initiator.
    fn received_by_initiator(&mut self, now: Instant, keyset: u64, cx: &mut Context) -> bool {
        let Role::Initiator(opening) = &mut self.role else { return false };
        opening.on_received();
        match opening.next.take_if(|next| next.number == keyset) {
            Some(next) => {
                opening.confirming = None;
                opening.keyed(now);
                // The attempts name a handshake that the responder may drop together with these keys.
                cx.forget_attempts(opening.end_attempts());
                self.take_up(now, next, cx);
            }
            None if opening.next.is_none() && opening.confirming.is_some() => {
                let current = self.current.as_ref().is_some_and(|current| current.number == keyset);
                opening.confirming.take_if(|_| current);
                self.touched = true;
            }
            None => {}
        }
        true
    }

    /// Changes the session to other keys.
    fn take_up(&mut self, now: Instant, keyset: Keyset, cx: &mut Context) {
        let cipher = keyset.keys.cipher();
        if let Some((forgotten, _)) = self.previous.take() {
            cx.disown(&forgotten);
        }
        self.previous = self.current.replace(keyset).map(|old| (old, now + KEPT));
        self.routes.rekeyed();
        self.touched = true;
        cx.outbox.stats.renewed += 1;
        cx.outbox.report(SealEvent::Renewed { sealed: self.id, cipher });
    }

    /// Changes the responder to the keys of a handshake that named `before`. A datagram has arrived under these keys.
    pub fn continued(&mut self, now: Instant, keyset: Keyset, before: HandshakeId, cx: &mut Context) {
        self.take_up(now, keyset, cx);
        self.role = Role::Responder { before: Some(before) };
    }

    /// Returns the handshakes by which an initiator may name this session.
    pub fn handshakes(&self) -> impl Iterator<Item = HandshakeId> {
        let before = match self.role {
            Role::Responder { before } => before,
            Role::Initiator(_) => None,
        };
        self.keys().map(Keys::handshake).into_iter().chain(before)
    }

    /// Sends all challenges that are due.
    fn challenge(&mut self, now: Instant, cx: &mut Context) {
        let Some(current) = &mut self.current else { return };
        for route in self.routes.iter_mut() {
            let number = route.number;
            for addr in [Some(&mut route.addr), route.candidate.as_deref_mut()].into_iter().flatten() {
                if let Some(challenge) = addr.challenge(now) {
                    say(&mut current.keys, now, number, addr, challenge, &mut cx.outbox);
                }
            }
        }
    }

    /// Handles a control message that arrived from `from` on a path. If the message ends the session, returns the
    /// reason.
    pub fn on_control(
        &mut self,
        now: Instant,
        path: u8,
        from: &FourTuple,
        control: Control,
        cx: &mut Context,
    ) -> Option<Lost> {
        match control {
            Control::Challenge(nonce) => self.reply(now, path, from, Control::Response(nonce), cx),
            Control::Ping => self.reply(now, path, from, Control::Pong, cx),
            Control::Response(nonce) => {
                self.touched = true;
                if let Some(left) = self.routes.answered(now, path, from, &nonce, &mut cx.outbox.random) {
                    cx.outbox.stats.moved += 1;
                    cx.outbox.report(SealEvent::Moved { from: left, to: *from });
                }
            }
            Control::Pong => {}
            Control::Revoked => return self.ended_by_responder(Lost::Revoked),
            Control::Replaced => return self.ended_by_responder(Lost::Replaced),
        }
        None
    }

    /// Sends an answer to the source of a control message.
    fn reply(&mut self, now: Instant, path: u8, from: &FourTuple, control: Control, cx: &mut Context) {
        let (Some(current), Some(route)) = (&mut self.current, self.routes.by_number(path)) else { return };
        // A forwarded message is not answered at the forwarder's address, because the answer would prove that
        // address.
        if matches!(self.role, Role::Initiator(_)) && route.addr.tuple != *from {
            return;
        }
        let addrs = [Some(&mut route.addr), route.candidate.as_deref_mut()];
        let known = addrs.into_iter().flatten().find(|addr| addr.tuple == *from);
        // The answer is as long as the request, so another address than the path's gets no more than it sent.
        let mut elsewhere = PeerAddress::proven(*from);
        let addr = known.unwrap_or(&mut elsewhere);
        say(&mut current.keys, now, path, addr, control, &mut cx.outbox);
    }

    /// Returns `why` if this side is the initiator. Only the responder may end sessions.
    fn ended_by_responder(&self, why: Lost) -> Option<Lost> {
        matches!(self.role, Role::Initiator(_)).then_some(why)
    }

    /// Notifies the peer on every path that the session has ended.
    pub fn say_closed(&mut self, now: Instant, control: Control, cx: &mut Context) {
        let Some(current) = &mut self.current else { return };
        for route in self.routes.iter_mut() {
            say(&mut current.keys, now, route.number, &mut route.addr, control, &mut cx.outbox);
        }
    }

    /// Changes the local address of a path. A datagram from the new address shows it to the peer at once.
    pub fn path_moved(&mut self, now: Instant, from: &FourTuple, to: FourTuple, cx: &mut Context) {
        let moved = self.routes.retarget(from, to);
        if let Role::Initiator(opening) = &mut self.role {
            opening.tuples.iter_mut().filter(|t| *t == from).for_each(|t| *t = to);
            if let Some(attempt) = opening.attempt().filter(|a| a.tuples().contains(from)) {
                attempt.retarget(from, to, cx);
            }
        }
        if let (true, Some(current), Some(route)) = (moved, &mut self.current, self.routes.by_tuple(&to)) {
            say(&mut current.keys, now, route.number, &mut route.addr, Control::Ping, &mut cx.outbox);
        }
    }

    /// Returns the next time at which a timer expires.
    pub fn deadline(&self) -> Instant {
        let opening = match &self.role {
            Role::Initiator(opening) => opening.deadline(),
            Role::Responder { .. } => None,
        };
        let previous = self.previous.as_ref().map(|(_, until)| *until);
        let others = opening.into_iter().chain(previous).chain(self.routes.deadline());
        others.fold(self.check, Instant::min)
    }

    /// Runs the timers that have expired. If the session has ended, returns the reason.
    pub fn on_timeout(&mut self, now: Instant, cx: &mut Context) -> Option<Lost> {
        self.touched = true;
        if let Some((forgotten, _)) = self.previous.take_if(|(_, until)| *until <= now) {
            cx.disown(&forgotten);
        }
        self.challenge(now, cx);
        if self.check <= now {
            if now >= self.received + SILENT {
                cx.silent.push(self.id);
            } else if matches!(self.role, Role::Responder { .. }) {
                cx.talking.push(self.id);
            }
            self.check = now + SILENT;
        }
        self.open_on_timeout(now, cx)
    }

    /// Drops all state of the session.
    pub fn forget(self, cx: &mut Context) {
        let mut sets: Vec<Keyset> =
            self.current.into_iter().chain(self.previous.map(|(set, _)| set)).collect();
        if let Role::Initiator(opening) = self.role {
            let mut opening = opening;
            sets.extend(opening.next.take());
            cx.forget_attempts(opening.end_attempts());
        }
        sets.iter().for_each(|set| cx.disown(set));
    }
}

/// Methods of the initiator.
impl Session {
    /// Handles a packet while the session has no keys. A handshake carries an INIT. Other packets are dropped. Returns
    /// whether a handshake carries the packet.
    pub fn first_packet(&mut self, now: Instant, tuple: FourTuple, packet: &[u8], cx: &mut Context) -> bool {
        let Role::Initiator(opening) = &mut self.role else { return false };
        if packet.get(HEADER_LEN) != Some(&chunk::init::TYPE) {
            return false;
        }
        if !opening.tuples.contains(&tuple) {
            opening.tuples.push(tuple);
        }
        self.touched = true;
        match opening.attempt() {
            Some(attempt) => attempt.add(tuple, cx),
            None => {
                opening.packet = packet.to_vec();
                self.begin(now, cx);
            }
        }
        true
    }

    /// Begins a handshake. A handshake that continues the session is sent on all paths. A handshake that begins a
    /// session is sent to all destinations of the first packet.
    fn begin(&mut self, now: Instant, cx: &mut Context) {
        let Role::Initiator(opening) = &mut self.role else { return };
        let continues = self.current.as_ref().map(|current| current.keys.handshake());
        let attempt = if continues.is_some() {
            let tuples = self.routes.iter().map(|route| route.addr.tuple).collect();
            Attempt::begin(now, &opening.peer, continues, opening.route, &[], tuples, cx)
        } else {
            let tuples = opening.tuples.clone();
            Attempt::begin(now, &opening.peer, None, opening.route, &opening.packet, tuples, cx)
        };
        let Some(attempt) = attempt else { return };
        cx.attempts.insert(attempt.id(), self.id);
        cx.forget_attempts(opening.add_attempt(attempt).into_iter());
    }

    fn open_on_timeout(&mut self, now: Instant, cx: &mut Context) -> Option<Lost> {
        let due = self.keys().is_some_and(Keys::renewal_due) || self.routes.are_scarce();
        let Role::Initiator(opening) = &mut self.role else { return None };
        let stale = opening.attempt().is_some_and(|attempt| attempt.on_timeout(now, cx));
        let begins = opening.attempt().is_none() && opening.confirming.is_none() && due;
        if stale || begins || opening.wants_handshake(now) {
            self.begin(now, cx);
            return None;
        }
        if opening.confirming.as_ref().is_some_and(|c| c.is_over(now)) {
            opening.confirming = None;
            let unanswered = opening.next.is_none() && self.routes.iter().next().is_some();
            return unanswered.then_some(Lost::Unanswered);
        }
        let confirms = opening.confirming.as_mut().is_some_and(|c| c.ping(now));
        if confirms || opening.ask(now) {
            let newest = opening.next.as_mut().or(self.current.as_mut());
            if let Some(newest) = newest {
                for route in self.routes.iter_mut() {
                    say(&mut newest.keys, now, route.number, &mut route.addr, Control::Ping, &mut cx.outbox);
                }
            }
        }
        None
    }

    /// Handles a retry for a handshake of this session.
    pub fn on_retry(
        &mut self,
        now: Instant,
        from: &FourTuple,
        initiator: &[u8; 8],
        datagram: &[u8],
        cx: &mut Context,
    ) {
        if let Role::Initiator(opening) = &mut self.role
            && let Some(attempt) = opening.attempt_named(initiator)
            && attempt.on_retry(now, from, datagram, cx)
        {
            opening.resume(initiator);
            self.touched = true;
        }
    }

    /// Handles the hint `event`, which explains why a handshake gets no answer. `from` must be a destination of message
    /// 1.
    pub fn on_hint(&mut self, from: &FourTuple, event: SealEvent, cx: &mut Context) {
        if let Role::Initiator(opening) = &mut self.role
            && self.current.is_none()
            && opening.attempt().is_some_and(|attempt| attempt.tuples().contains(from))
            && !core::mem::replace(&mut opening.hinted, true)
        {
            cx.outbox.report(event);
        }
    }

    /// Handles message 2, which came from `from`. Returns the packet in it, and the packet's 4-tuple.
    ///
    /// # Errors
    /// Returns the reason for the end of the session, as an error.
    pub fn on_message_2(
        &mut self,
        now: Instant,
        from: &FourTuple,
        initiator: &[u8; 8],
        datagram: &[u8],
        cx: &mut Context,
    ) -> Result<Option<(FourTuple, Vec<u8>)>, Lost> {
        let Role::Initiator(opening) = &mut self.role else { return Ok(None) };
        let Some(attempt) = opening.attempt_named(initiator) else { return Ok(None) };
        let Some(on) = attempt.answered_on(from) else { return Ok(None) };
        let Some((completed, answer, packet)) = attempt.read(datagram) else {
            cx.outbox.stats.bad_answers += 1;
            return Ok(None);
        };
        let (continues, took) = (attempt.continues.is_some(), attempt.age(now));
        opening.route = Some(completed.route);
        self.touched = true;
        match (answer, continues) {
            (Answer::New, false) => {
                let cipher = completed.cipher;
                self.current = Some(cx.keyset(completed, Owner::Session(self.id)));
                opening.confirming = Some(Confirming::new(now, FIRST_PING, took));
                opening.keyed(now);
                cx.outbox.stats.established += 1;
                let (sealed, peer) = (self.id, self.remote);
                cx.outbox.report(SealEvent::Established { sealed, peer, cipher });
            }
            (Answer::Continued, true) => {
                let next = cx.keyset(completed, Owner::Session(self.id));
                if let Some(never_confirmed) = opening.next.replace(next) {
                    cx.disown(&never_confirmed);
                }
                opening.confirming = Some(Confirming::new(now, Duration::ZERO, took));
            }
            (Answer::Unknown, true) => return Err(Lost::Unknown),
            (Answer::Refused, _) => return Err(Lost::Refused),
            (Answer::Busy, false) => return Err(Lost::Busy),
            _ => {
                cx.outbox.stats.bad_answers += 1;
                return Ok(None);
            }
        }
        cx.forget_attempts(opening.end_attempts());
        Ok((!packet.is_empty()).then_some((on, packet)))
    }
}

/// Sends a control message, if its destination may receive it.
fn say(keys: &mut Keys, now: Instant, path: u8, to: &mut PeerAddress, control: Control, outbox: &mut Outbox) {
    let mut datagram = control.datagram();
    if to.spend(1, datagram.len()) && keys.seal(now, path, &mut datagram).is_some() {
        outbox.send(to.tuple, datagram);
    }
}
