//! The responder's side of handshakes: a table of fixed size for half-open handshakes, and cookies under high load.

use strandcast_proto::path::FourTuple;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::cookie::Cookies;
pub(crate) use super::half_open::Slot;
use super::half_open::{HalfOpen, Pending, State};
use super::load::Load;
use super::message::{Answer, Answering, Asking, authentic, mac, message_2, retry};
use super::noise::{Noise, Role, child};
use super::primitives::DhCount;
use super::seen::Seen;
use crate::aead::Ciphers;
use crate::identity::{Access, Grant, PublicKey, SecretKey, TokenId};
use crate::keys::{Completed, HandshakeId};
use crate::wire::{self, Datagram, Malformed, RouteBytes};

/// Limits of a responder's handshakes.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Limits {
    /// Ciphers of datagrams that this side supports.
    pub ciphers: Ciphers,
    /// Handshakes per second above which senders must prove their addresses by a cookie.
    pub cookies: u32,
    /// Maximum number of handshakes per second.
    pub ceiling: u32,
    /// Route bytes that each message 2 assigns. `None` means that the route bytes of message 1 are kept.
    pub route: Option<RouteBytes>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { ciphers: Ciphers::available(), cookies: 100, ceiling: 500, route: None }
    }
}

/// Reason for dropping a message 1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HandshakeDrop {
    /// The datagram is not a message 1: its type or length is wrong, or reserved bytes are not zero.
    Malformed,
    /// The message has another protocol version.
    Version,
    /// No grant has the token that the message names.
    UnknownToken,
    /// The MAC is wrong: the sender of the message does not have the token.
    BadMac,
    /// The message was already read, and waits for its answer.
    Unanswered,
    /// The message was already answered.
    Seen,
    /// More handshakes arrived than this side may compute per second.
    Overloaded,
    /// Noise refused the message: it is for another receiver, or a host with the token forged it.
    Forged,
    /// The payload of the message is malformed.
    Payload,
    /// The message offers no cipher that this side supports.
    NoCipher,
}

/// Counters of a responder's handshakes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HandshakeCounts {
    /// Number of dropped messages, in the order of [`HandshakeDrop`].
    dropped: [u64; 10],
    /// Number of messages 1 from senders that may connect.
    pub asked: u64,
    /// Number of answers that were sent again because message 1 was repeated.
    pub repeated: u64,
    /// Number of retries sent to senders that must prove their addresses.
    pub retries: u64,
    /// Number of senders that got the answer "refused" because they may not connect.
    pub refused: u64,
}

impl HandshakeCounts {
    /// Returns the number of messages dropped for one reason.
    pub fn dropped(&self, why: HandshakeDrop) -> u64 {
        self.dropped[why as usize]
    }

    /// Returns the total number of datagrams. Each datagram is counted once.
    pub fn all(&self) -> u64 {
        self.dropped.iter().sum::<u64>() + self.asked + self.repeated + self.retries + self.refused
    }
}

/// Outcome of processing a datagram.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The datagram was dropped and counted.
    Dropped(#[cfg_attr(not(test), expect(dead_code, reason = "tests ask why"))] HandshakeDrop),
    /// The datagram in [`Responder::output`] must be sent to the source of the received datagram.
    Send,
    /// The datagram in [`Responder::output`] must be sent. The datagram is the answer that the owner of this key may
    /// not connect.
    Refused(PublicKey),
    /// The request of an admitted sender. [`Responder::answer`] answers it.
    Asked(Asked),
}

/// A message 1 of an admitted sender. The message may be an old message that an attacker recorded and repeats. The
/// message therefore has no further effect until an authentic datagram arrives under the handshake's keys.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Identifier of the half-open handshake.
    pub slot: Slot,
    /// Static key of the sender.
    pub remote: PublicKey,
    /// Token by which the sender connects.
    pub token: TokenId,
    /// Handshake whose session the sender asks to continue.
    pub continues: Option<HandshakeId>,
    /// SCTP packet in message 1.
    pub packet: Vec<u8>,
}

/// Responder that reads messages 1 and writes messages 2.
pub(crate) struct Responder {
    local: SecretKey,
    limits: Limits,
    random: Random,
    /// Secret key of the message digests. The key prevents peers from computing the digests.
    digest_key: [u8; 32],
    half_open: HalfOpen,
    seen: Seen,
    cookies: Cookies,
    load: Load,
    /// Number of handshakes admitted since the last report of their processing time.
    admitted: u32,
    diffie_hellmans: DhCount,
    counts: HandshakeCounts,
    output: Vec<u8>,
}

impl Responder {
    /// Returns a responder for the owner of the key `local`.
    pub fn new(local: SecretKey, mut random: Random, limits: Limits) -> Self {
        let mut digest_key = [0; 32];
        random.fill(&mut digest_key);
        let load = Load::new(limits.cookies, limits.ceiling, &mut random);
        Responder {
            local,
            limits,
            random,
            digest_key,
            half_open: HalfOpen::default(),
            seen: Seen::default(),
            cookies: Cookies::new(),
            load,
            admitted: 0,
            diffie_hellmans: DhCount::default(),
            counts: HandshakeCounts::default(),
            output: Vec::new(),
        }
    }

    /// Handles a datagram of type 2 (message 1).
    pub fn receive(&mut self, now: Instant, from: &FourTuple, datagram: &[u8], access: &Access) -> Outcome {
        self.admit(now, from, datagram, access).unwrap_or_else(|why| {
            self.counts.dropped[why as usize] += 1;
            Outcome::Dropped(why)
        })
    }

    /// Makes all checks that precede a computation with X25519 keys.
    fn admit(
        &mut self,
        now: Instant,
        from: &FourTuple,
        datagram: &[u8],
        access: &Access,
    ) -> Result<Outcome, HandshakeDrop> {
        let message = match Datagram::parse(datagram) {
            Ok(Datagram::Message1(message)) => message,
            Err(Malformed::Version(_)) => return Err(HandshakeDrop::Version),
            _ => return Err(HandshakeDrop::Malformed),
        };
        let grant = access.grant(TokenId(message.token)).ok_or(HandshakeDrop::UnknownToken)?;
        if !authentic(&grant.token, &message.signed) {
            return Err(HandshakeDrop::BadMac);
        }
        // The digest leaves the cookie out, so that a retry does not change it.
        let [a, b, c, d, e, f, g, h, ..] = mac(&self.digest_key, &[message.clear, message.noise]);
        let digest = [a, b, c, d, e, f, g, h];
        let name = u64::from_be_bytes(digest);
        self.half_open.expire(now);
        match self.half_open.again(name, from.remote) {
            Some(State::Answered(answer)) => {
                self.output.clone_from(answer);
                self.counts.repeated += 1;
                return Ok(Outcome::Send);
            }
            Some(State::Asked(_)) => return Err(HandshakeDrop::Unanswered),
            None if self.seen.contains(name) => return Err(HandshakeDrop::Seen),
            None => {}
        }
        if self.load.demands_cookie(now)
            && !self.cookies.accepts(now, from.remote, &digest, &message.cookie, &mut self.random)
        {
            let cookie = self.cookies.make(now, from.remote, &digest, &mut self.random);
            retry(message.initiator, &cookie, &grant.token, &mut self.output);
            self.counts.retries += 1;
            return Ok(Outcome::Send);
        }
        if !self.load.admit(now, from.remote.ip()) {
            return Err(HandshakeDrop::Overloaded);
        }
        self.admitted = self.admitted.saturating_add(1);
        self.seen.insert(name, &mut self.random);
        self.read(now, from, &message, name, grant, access)
    }

    fn read(
        &mut self,
        now: Instant,
        from: &FourTuple,
        message: &wire::Message1<'_>,
        digest: u64,
        grant: &Grant,
        access: &Access,
    ) -> Result<Outcome, HandshakeDrop> {
        let random = child(&mut self.random);
        let count = &self.diffie_hellmans;
        let mut noise = Noise::new(&Role::Responder, &self.local, &grant.token, message.clear, random, count)
            .map_err(|_| HandshakeDrop::Forged)?;
        let mut payload = [0; wire::MESSAGE_1];
        let len = noise.read(message.noise, &mut payload).map_err(|_| HandshakeDrop::Forged)?;
        let asking = payload.get(..len).and_then(Asking::read).ok_or(HandshakeDrop::Payload)?;
        let remote = noise.remote().ok_or(HandshakeDrop::Forged)?;
        let cipher = self.limits.ciphers.choose(asking.offer).ok_or(HandshakeDrop::NoCipher)?;
        let token = grant.token.clone();
        let route = self.limits.route.unwrap_or(RouteBytes::of_id(message.initiator));
        let mut pending = Pending { noise, cipher, id: message.initiator, route, token };
        if !access.admits(grant.token.id(), &remote) {
            // The handshake is not kept: an unknown source with a token must not push others out of the
            // table.
            let (_, answer) =
                write_answer(&mut pending, Answer::Refused, &[]).ok_or(HandshakeDrop::Forged)?;
            self.output = answer;
            self.counts.refused += 1;
            return Ok(Outcome::Refused(remote));
        }
        let (continues, packet) = (asking.continues, asking.packet.to_vec());
        self.counts.asked += 1;
        let slot = self.half_open.insert(now, digest, from.remote, Box::new(pending), &mut self.random);
        Ok(Outcome::Asked(Asked { slot, remote, token: grant.token.id(), continues, packet }))
    }

    /// Reports the time that the driver took to read and to answer since the last call. A slow machine therefore
    /// computes fewer handshakes per second.
    pub fn took(&mut self, now: Instant, time: Duration) {
        match core::mem::take(&mut self.admitted) {
            0 => {}
            handshakes => self.load.took(now, handshakes, time),
        }
    }

    /// Returns the datagram to be sent after [`Outcome::Send`].
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Answers a handshake. Message 2 carries `packet`, and is sent to the source of message 1. The keys are valid only
    /// for the answers [`Answer::New`] and [`Answer::Continued`]. Returns `None` if the handshake was dropped or
    /// already answered, or if the packet is too long. In the last case, the handshake is also dropped.
    pub fn answer(&mut self, slot: Slot, answer: Answer, packet: &[u8]) -> Option<(Completed, &[u8])> {
        let pending = match self.half_open.get_mut(slot)? {
            State::Asked(pending) => pending,
            State::Answered(_) => return None,
        };
        let Some((completed, message)) = write_answer(pending, answer, packet) else {
            self.half_open.remove(slot);
            return None;
        };
        let state = self.half_open.get_mut(slot)?;
        *state = State::Answered(message);
        match state {
            State::Answered(message) => Some((completed, message)),
            State::Asked(_) => None,
        }
    }

    /// Returns whether message 2 was sent only to `to`. If message 2 was sent only to `to`, a peer that has the keys of
    /// the handshake receives at `to`. A repeated message 1 is answered at its own source address.
    pub fn proves(&self, slot: Slot, to: &FourTuple) -> bool {
        self.half_open.proves(slot, to.remote)
    }

    /// Records that an admitted key has opened a session from the proven address `from`.
    pub fn remember(&mut self, from: &FourTuple) {
        self.load.remember(from.remote.ip(), &mut self.random);
    }

    /// Removes a half-open handshake. The first datagram of such a handshake has arrived, or the handshake will not be
    /// answered.
    pub fn close(&mut self, slot: Slot) {
        self.half_open.remove(slot);
    }

    /// Drops handshakes that have been half open for too long.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.half_open.expire(now);
    }

    /// Returns the next time at which [`Responder::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.half_open.expires()
    }

    /// Returns a handshake that expired or was replaced by another one. The caller should drop its keys. Call this
    /// method until it returns `None`, after each `receive` and `handle_timeout`.
    pub fn poll_forgotten(&mut self) -> Option<Slot> {
        self.half_open.poll_forgotten()
    }

    /// Returns the counters of handshakes.
    pub fn counts(&self) -> &HandshakeCounts {
        &self.counts
    }

    /// Returns the number of Diffie–Hellman operations computed so far.
    #[cfg(any(test, feature = "testing"))]
    pub fn diffie_hellmans(&self) -> u64 {
        self.diffie_hellmans.get()
    }

    /// Returns the number of half-open handshakes.
    #[cfg(any(test, feature = "testing"))]
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }
}

/// Writes message 2. Returns the keys of the handshake, which is thereby complete.
fn write_answer(pending: &mut Pending, answer: Answer, packet: &[u8]) -> Option<(Completed, Vec<u8>)> {
    let (cipher, route) = (pending.cipher, pending.route);
    let payload = Answering { cipher, answer, route, packet }.write()?;
    let message = message_2(pending.id, &pending.token, |out| pending.noise.write(&payload, out).ok())?;
    Some((pending.noise.completed(cipher, route)?, message))
}
