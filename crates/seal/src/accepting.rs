//! Handshakes that this side answers as the responder. Some of the answered handshakes wait for the endpoint's answer.
//! Other handshakes are answered, but their initiator may be an attacker who repeats a recorded message 1.

use std::collections::BTreeMap;

use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use crate::config::SealConfig;
use crate::context::{Context, Keyset, Owner};
use crate::control::Control;
use crate::event::SealEvent;
use crate::handshake::{Answer, Asked, HandshakeCounts, Limits, Outcome, Responder, Slot};
use crate::identity::{Enrolment, PublicKey, TokenId};
use crate::keys::{Discard, HandshakeId};
use crate::number::PacketNumber;
use crate::peer_address::PeerAddress;
use crate::refusals::Refusals;
use crate::session::Session;

/// The sender of a message 1: its source address, and the session that it asks to continue.
#[derive(Copy, Clone, Debug)]
struct Asker {
    slot: Slot,
    from: FourTuple,
    remote: PublicKey,
    token: TokenId,
    /// The session to continue, and the handshake by which the initiator named the session. The value is `None` if the
    /// initiator requests a new session.
    continues: Option<(SealId, HandshakeId)>,
}

/// A handshake that this side answered, and that no datagram has confirmed yet.
struct Tentative {
    asker: Asker,
    sealed: SealId,
    keyset: Keyset,
}

/// The responder's handshakes and the sessions that they opened.
pub(crate) struct Accepting {
    responder: Responder,
    /// Handshakes whose INIT the endpoint has received and not yet answered. The key of the map is the session that the
    /// handshake may open.
    waiting: BTreeMap<SealId, Asker>,
    tentative: BTreeMap<Slot, Tentative>,
    /// Sessions by handshake. The key of the map is a handshake by which the initiator may name the session.
    named: BTreeMap<HandshakeId, SealId>,
    refusals: Refusals,
    ids: u64,
}

/// The sessions of a seal.
pub(crate) type Sessions = BTreeMap<SealId, Box<Session>>;

impl Accepting {
    pub fn new(config: &SealConfig, random: Random) -> Self {
        let limits = Limits { ciphers: config.ciphers, route: config.route, ..Limits::default() };
        Accepting {
            responder: Responder::new(config.identity.clone(), random, limits),
            waiting: BTreeMap::new(),
            tentative: BTreeMap::new(),
            named: BTreeMap::new(),
            refusals: Refusals::default(),
            ids: SealId::CLEAR.0,
        }
    }

    /// Returns an id that no session had before.
    pub fn next_id(&mut self) -> SealId {
        self.ids += 1;
        SealId(self.ids)
    }

    /// Handles a message 1. Returns the SCTP packet in the message, if the packet is for the endpoint. The caller then
    /// passes the endpoint's answer to [`Accepting::answer`].
    pub fn on_message_1(
        &mut self,
        now: Instant,
        from: FourTuple,
        datagram: &[u8],
        sessions: &Sessions,
        cx: &mut Context,
    ) -> Option<(FourTuple, Vec<u8>)> {
        let outcome = self.responder.receive(now, &from, datagram, cx.admission.access());
        self.forget_half_open(cx);
        match outcome {
            Outcome::Dropped(_) => None,
            Outcome::Send => {
                cx.outbox.send(from, self.responder.output().to_vec());
                None
            }
            Outcome::Refused(key) => {
                cx.outbox.send(from, self.responder.output().to_vec());
                if self.refusals.is_news(now, key) {
                    cx.outbox.report(SealEvent::Refused { key, from: from.remote });
                }
                None
            }
            Outcome::Asked(asked) => self.on_asked(from, asked, sessions, cx),
        }
    }

    fn on_asked(
        &mut self,
        from: FourTuple,
        asked: Asked,
        sessions: &Sessions,
        cx: &mut Context,
    ) -> Option<(FourTuple, Vec<u8>)> {
        let Asked { slot, remote, token, continues, packet } = asked;
        let asker = Asker { slot, from, remote, token, continues: None };
        if let Some(handshake) = continues {
            let named = self.named.get(&handshake).and_then(|id| sessions.get(id));
            match named.filter(|session| session.remote == remote) {
                Some(session) => {
                    let asker = Asker { continues: Some((session.id, handshake)), ..asker };
                    self.complete(session.id, asker, Answer::Continued, &[], cx);
                }
                None => self.complete(SealId::CLEAR, asker, Answer::Unknown, &[], cx),
            }
            return None;
        }
        if packet.is_empty() {
            self.responder.close(slot);
            return None;
        }
        // A key that already has its maximum of sessions replaces an older one.
        if sessions.len() >= cx.config.max_sessions
            && of_key(sessions, remote).count() < cx.config.max_sessions_of_key
        {
            self.complete(SealId::CLEAR, asker, Answer::Busy, &[], cx);
            return None;
        }
        let sealed = self.next_id();
        self.waiting.insert(sealed, asker);
        Some((FourTuple { sealed, ..from }, packet))
    }

    /// Sends the endpoint's answer to a packet that arrived in a message 1. Returns false if `packet` is not such an
    /// answer.
    pub fn answer(&mut self, tuple: &FourTuple, packet: &[u8], cx: &mut Context) -> bool {
        let Some(asker) = self.waiting.remove(&tuple.sealed) else { return false };
        self.complete(tuple.sealed, asker, Answer::New, packet, cx);
        true
    }

    fn complete(&mut self, sealed: SealId, asker: Asker, answer: Answer, packet: &[u8], cx: &mut Context) {
        let Some((completed, message)) = self.responder.answer(asker.slot, answer, packet) else { return };
        cx.outbox.send(asker.from, message.to_vec());
        match answer {
            Answer::New | Answer::Continued => {}
            Answer::Unknown | Answer::Refused => return cx.outbox.stats.unknown_sessions += 1,
            Answer::Busy => return cx.outbox.stats.busy += 1,
        }
        let keyset = cx.keyset(completed, Owner::Tentative(asker.slot));
        self.tentative.insert(asker.slot, Tentative { asker, sealed, keyset });
    }

    /// Closes the handshakes that the endpoint has not answered. Call this method after all output of the endpoint was
    /// read.
    pub fn leave_unanswered(&mut self) {
        while let Some((_, asker)) = self.waiting.pop_first() {
            self.responder.close(asker.slot);
        }
    }

    /// Decrypts a datagram with the keys of a tentative handshake, which no datagram has confirmed yet.
    pub fn open(&mut self, slot: Slot, path: u8, datagram: &mut [u8]) -> Result<PacketNumber, Discard> {
        let tentative = self.tentative.get_mut(&slot).ok_or(Discard::Path)?;
        tentative.keyset.keys.open(path, datagram)
    }

    /// Confirms a tentative handshake. A datagram from `from` on `path` was authentic under the handshake's keys. The
    /// message 1 of this handshake was therefore not repeated by an attacker. Returns the session that the handshake
    /// opens or continues; `None` if this session no longer exists.
    pub fn establish(
        &mut self,
        now: Instant,
        slot: Slot,
        path: u8,
        from: &FourTuple,
        sessions: &mut Sessions,
        cx: &mut Context,
    ) -> Option<SealId> {
        let Tentative { asker, sealed, mut keyset } = self.tentative.remove(&slot)?;
        let proven = self.responder.proves(slot, from);
        self.responder.close(slot);
        if let Some((id, before)) = asker.continues {
            let Some(session) = sessions.get_mut(&id) else {
                cx.disown(&keyset);
                return None;
            };
            cx.own(&mut keyset, Owner::Session(id));
            self.forget(session);
            session.continued(now, keyset, before, cx);
            self.named.extend(session.handshakes().map(|handshake| (handshake, id)));
            self.forget_older(id, slot, cx);
            return Some(id);
        }
        match cx.admission.enrol(asker.token, asker.remote) {
            Enrolment::Refused => {
                cx.outbox.stats.refused_late += 1;
                // The answer is one byte longer than the shortest possible datagram, so it cannot be used to
                // flood an address.
                let mut word = Control::Revoked.datagram();
                if keyset.keys.seal(now, path, &mut word).is_some() {
                    cx.outbox.send(*from, word);
                }
                cx.disown(&keyset);
                return None;
            }
            Enrolment::New => cx.outbox.report(SealEvent::Enrolled { token: asker.token, key: asker.remote }),
            Enrolment::Known => {}
        }
        cx.own(&mut keyset, Owner::Session(sealed));
        cx.outbox.stats.established += 1;
        let (peer, cipher) = (keyset.keys.remote(), keyset.keys.cipher());
        cx.outbox.report(SealEvent::Established { sealed, peer, cipher });
        let mut session = Session::accepted(now, sealed, peer, asker.token, keyset);
        // The holder of these keys has read message 2.
        if proven {
            self.responder.remember(from);
            session.routes.of_responder(now, path, || PeerAddress::proven(FourTuple { sealed, ..*from }));
        }
        self.named.extend(session.handshakes().map(|handshake| (handshake, sealed)));
        sessions.insert(sealed, Box::new(session));
        Some(sealed)
    }

    /// Drops the tentative handshakes that name an older handshake of session `id`, because the session now uses newer
    /// keys.
    fn forget_older(&mut self, id: SealId, slot: Slot, cx: &mut Context) {
        let older = |t: &Tentative| t.asker.slot < slot && t.asker.continues.is_some_and(|(of, _)| of == id);
        let slots: Vec<Slot> = self.tentative.values().filter(|t| older(t)).map(|t| t.asker.slot).collect();
        for slot in slots {
            self.responder.close(slot);
            self.forget_tentative(slot, cx);
        }
    }

    fn forget_tentative(&mut self, slot: Slot, cx: &mut Context) {
        if let Some(tentative) = self.tentative.remove(&slot) {
            cx.disown(&tentative.keyset);
        }
    }

    fn forget_half_open(&mut self, cx: &mut Context) {
        while let Some(slot) = self.responder.poll_forgotten() {
            self.forget_tentative(slot, cx);
        }
    }

    /// Removes the handshakes by which initiators may name `session`.
    pub fn forget(&mut self, session: &Session) {
        for handshake in session.handshakes() {
            self.named.remove(&handshake);
        }
    }

    /// Returns the next time at which [`Accepting::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.responder.poll_timeout()
    }

    /// Drops handshakes that have waited too long for their first datagram.
    pub fn handle_timeout(&mut self, now: Instant, cx: &mut Context) {
        self.responder.handle_timeout(now);
        self.forget_half_open(cx);
    }

    /// Reports the time that the driver took to read and to answer ([`Responder::took`]).
    pub fn took(&mut self, now: Instant, time: Duration) {
        self.responder.took(now, time);
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn tentative(&self) -> usize {
        self.tentative.len()
    }

    /// Returns the numbers of received messages 1, by outcome.
    pub fn counts(&self) -> &HandshakeCounts {
        self.responder.counts()
    }
}

/// Returns the sessions opened by the owner of a key.
pub(crate) fn of_key(sessions: &Sessions, key: PublicKey) -> impl Iterator<Item = &Session> {
    sessions.values().map(|session| &**session).filter(move |s| s.remote == key && s.token.is_some())
}

#[cfg(test)]
mod tests;
