//! The initiator's side of a handshake. The initiator is the side that connects.

use strandcast_proto::seeds::Random;

use super::message::{Answer, Answering, Asking, Message1, authentic};
use super::noise::{Noise, Role, child};
use super::primitives::DhCount;
use crate::aead::Ciphers;
use crate::identity::{Peer, SecretKey};
use crate::keys::{Completed, HandshakeId};
use crate::wire::{COOKIE, Datagram, Malformed, RouteBytes};

/// Number of retries of one handshake that are answered immediately. The number limits the datagrams that an attacker
/// with the token can make this side send. A cookie is valid for one address only, so each path needs its own.
const AT_ONCE: u32 = 32;

/// Reason for which a handshake could not begin, or for which a datagram does not answer a handshake.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    /// The SCTP packet does not fit into message 1.
    #[error("a packet of more than {} bytes does not fit into message 1", super::message::MOST_1)]
    TooLong,
    /// The peer's key is a point of small order. Generated keys never are.
    #[error("the peer's key is not a valid key")]
    BadKey,
    /// The datagram is not message 2 of this handshake.
    #[error("the datagram is not an answer to this handshake")]
    NotOurs,
    /// The datagram is a message 2 of another protocol version.
    #[error("the answer has another protocol version")]
    Version,
    /// The MAC is wrong: the sender does not have the token.
    #[error("the sender of the answer does not have the token of the pairing; the answer is ignored")]
    BadMac,
    /// Noise refused the message: its sender does not have the peer's key.
    #[error("the sender of the answer does not have the peer's secret key; the answer is ignored")]
    Forged,
    /// The peer's payload is malformed, or the peer chose a cipher that was not offered.
    #[error("the answer is malformed")]
    Malformed,
}

/// State of one handshake at the initiator. The owner of this state repeats message 1. The bytes of message 1 stay
/// equal until a retry brings a new cookie.
pub(crate) struct Initiator {
    noise: Noise,
    message: Message1,
    id: [u8; 8],
    peer: Peer,
    offer: Ciphers,
    retries: u32,
}

impl Initiator {
    /// Begins a handshake with `peer`. Message 1 carries `packet`. If `route` is `None`, the route bytes are random.
    ///
    /// # Errors
    /// The errors of this function are [`HandshakeError::TooLong`] and [`HandshakeError::BadKey`].
    pub fn start(
        local: &SecretKey,
        peer: &Peer,
        offer: Ciphers,
        continues: Option<HandshakeId>,
        route: Option<RouteBytes>,
        packet: &[u8],
        random: &mut Random,
    ) -> Result<Self, HandshakeError> {
        let payload = Asking { offer, continues, packet }.write().ok_or(HandshakeError::TooLong)?;
        let mut id = [0; 8];
        random.fill(&mut id);
        if let Some(route) = route {
            route.begin(&mut id);
        }
        let mut message = Message1::new(id, peer.token.id());
        let role = Role::Initiator(&peer.key);
        let count = DhCount::default();
        let mut noise = Noise::new(&role, local, &peer.token, message.clear(), child(random), &count)
            .map_err(|_| HandshakeError::BadKey)?;
        noise.write(&payload, message.noise_mut()).map_err(|_| HandshakeError::BadKey)?;
        message.sign(&[0; COOKIE], &peer.token);
        Ok(Initiator { noise, message, id, peer: peer.clone(), offer, retries: 0 })
    }

    /// Returns the initiator's id, by which the responder's datagrams name this handshake.
    pub fn id(&self) -> [u8; 8] {
        self.id
    }

    /// Returns message 1.
    pub fn message(&self) -> &[u8] {
        self.message.bytes()
    }

    /// Handles a retry of the responder. Returns true if message 1 now has a new cookie and must be sent immediately to
    /// the source of the retry. After [`AT_ONCE`] retries, a new cookie is sent only with the next repetition of
    /// message 1.
    pub fn on_retry(&mut self, datagram: &[u8]) -> bool {
        let Ok(Datagram::Retry { initiator, cookie, signed }) = Datagram::parse(datagram) else {
            return false;
        };
        let token = &self.peer.token;
        if initiator != self.id || !authentic(token, &signed) || !self.message.sign(&cookie, token) {
            return false;
        }
        self.retries = self.retries.saturating_add(1);
        self.retries <= AT_ONCE
    }

    /// Reads message 2. Returns the keys, the answer, and the SCTP packet that the message carries.
    ///
    /// # Errors
    /// Returns an error if the datagram does not answer this handshake. A later datagram may still answer it, because a
    /// forged answer changes nothing.
    pub fn read(&mut self, datagram: &[u8]) -> Result<(Completed, Answer, Vec<u8>), HandshakeError> {
        let (noise, signed) = match Datagram::parse(datagram) {
            Ok(Datagram::Message2 { initiator, noise, signed }) if initiator == self.id => (noise, signed),
            Err(Malformed::Version(_)) => return Err(HandshakeError::Version),
            _ => return Err(HandshakeError::NotOurs),
        };
        if !authentic(&self.peer.token, &signed) {
            return Err(HandshakeError::BadMac);
        }
        let mut payload = vec![0; noise.len()];
        let len = self.noise.read(noise, &mut payload).map_err(|_| HandshakeError::Forged)?;
        let payload = payload.get(..len).and_then(Answering::read).ok_or(HandshakeError::Malformed)?;
        if !self.offer.has(payload.cipher) {
            return Err(HandshakeError::Malformed);
        }
        let completed = self.noise.completed(payload.cipher, payload.route).ok_or(HandshakeError::Forged)?;
        Ok((completed, payload.answer, payload.packet.to_vec()))
    }
}
