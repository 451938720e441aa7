//! The side that connects.

use strandcast_proto::seeds::Random;

use super::message::{Answer, Answering, Asking, Message1, authentic};
use super::noise::{DhCount, Noise, Role, child};
use crate::aead::Ciphers;
use crate::identity::{Peer, SecretKey};
use crate::keys::{Completed, HandshakeId};
use crate::wire::{COOKIE, Datagram, Malformed};

/// Retries of one handshake that are answered at once: an attacker with the token makes no more of a sender. Cookies are bound to addresses, so that each path asks for its own.
const AT_ONCE: u32 = 32;

/// Why a handshake could not be begun, or a datagram is no answer to it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    /// The SCTP packet doesn't fit into message 1.
    #[error("a packet of more than {} bytes does not fit into message 1", super::message::MOST_1)]
    TooLong,
    /// The peer's key has a small order: no key that anybody generates.
    #[error("the peer's key is none")]
    BadKey,
    /// Not message 2 of this handshake.
    #[error("no answer to this handshake")]
    NotOurs,
    /// Message 2 of another version.
    #[error("an answer of another version")]
    Version,
    /// Its MAC is wrong: who sent it does not have the token.
    #[error("an answer without the token")]
    BadMac,
    /// Noise refused it: who sent it does not have the peer's key.
    #[error("an answer without the peer's key")]
    Forged,
    /// The peer's payload cannot be read, or it chose a cipher that was not offered.
    #[error("an answer that cannot be read")]
    Malformed,
}

/// A handshake from the side that connects. Message 1 is repeated by its owner, always with the same bytes until a
/// retry changes its cookie.
pub(crate) struct Initiator {
    noise: Noise,
    message: Message1,
    id: [u8; 8],
    peer: Peer,
    offer: Ciphers,
    retries: u32,
}

impl Initiator {
    /// Begins a handshake with `peer`; `packet` rides in message 1.
    ///
    /// # Errors
    /// [`HandshakeError::TooLong`], [`HandshakeError::BadKey`].
    pub fn start(
        local: &SecretKey,
        peer: &Peer,
        offer: Ciphers,
        continues: Option<HandshakeId>,
        packet: &[u8],
        random: &mut Random,
    ) -> Result<Self, HandshakeError> {
        let payload = Asking { offer, continues, packet }.write().ok_or(HandshakeError::TooLong)?;
        let mut id = [0; 8];
        random.fill(&mut id);
        let mut message = Message1::new(id, peer.token.id());
        let role = Role::Initiator(&peer.key);
        let count = DhCount::default();
        let mut noise = Noise::new(&role, local, &peer.token, message.clear(), child(random), &count)
            .map_err(|_| HandshakeError::BadKey)?;
        noise.write(&payload, message.noise_mut()).map_err(|_| HandshakeError::BadKey)?;
        message.sign(&[0; COOKIE], &peer.token);
        Ok(Initiator { noise, message, id, peer: peer.clone(), offer, retries: 0 })
    }

    /// What the responder's datagrams name this handshake by.
    pub fn id(&self) -> [u8; 8] {
        self.id
    }

    /// Message 1.
    pub fn message(&self) -> &[u8] {
        self.message.bytes()
    }

    /// Takes a retry. Whether the message has a new cookie and is to be sent at once where the retry came from; after
    /// some retries a new cookie waits for the next repetition.
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

    /// Takes message 2: keys, answer, and the SCTP packet that rode in it.
    ///
    /// # Errors
    /// The datagram is no answer to this handshake. Another one may still be: forged answers change nothing.
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
        let completed = self.noise.completed(payload.cipher).ok_or(HandshakeError::Forged)?;
        Ok((completed, payload.answer, payload.packet.to_vec()))
    }
}
