//! The side that connects.

use strandcast_proto::seeds::Random;

use super::message::{Answer, Answering, Asking, COOKIE, FirstOut, NotOne, Second, read_retry};
use super::noise::{DhCount, Noise, Role, child};
use crate::aead::Ciphers;
use crate::identity::{Peer, SecretKey};
use crate::keys::{Completed, HandshakeId};

/// Retries of one handshake that are answered at once: whoever has the token can't make more of a sender than this.
const AT_ONCE: u32 = 4;

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
    message: FirstOut,
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
        let mut message = FirstOut::new(id, peer.token.id());
        let role = Role::Initiator(&peer.key);
        let count = DhCount::default();
        let mut noise = Noise::new(&role, local, &peer.token, message.clear(), child(random), &count)
            .map_err(|_| HandshakeError::BadKey)?;
        noise.write(&payload, message.noise_mut()).map_err(|_| HandshakeError::BadKey)?;
        message.sign(&[0; COOKIE], &peer.token);
        Ok(Initiator { noise, message, peer: peer.clone(), offer, retries: 0 })
    }

    /// What the responder's datagrams name this handshake by.
    pub fn id(&self) -> [u8; 8] {
        self.message.id()
    }

    /// Message 1.
    pub fn message(&self) -> &[u8] {
        self.message.bytes()
    }

    /// Takes a retry. Whether the message has a new cookie and is to be sent at once; after some retries a new cookie
    /// waits for the next repetition.
    pub fn on_retry(&mut self, datagram: &[u8]) -> bool {
        let Some(cookie) = read_retry(datagram, self.id(), &self.peer.token) else { return false };
        if !self.message.sign(&cookie, &self.peer.token) {
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
        let message = Second::parse(datagram).map_err(|e| match e {
            NotOne::Version => HandshakeError::Version,
            NotOne::Malformed => HandshakeError::NotOurs,
        })?;
        if !message.is_for(self.id()) {
            return Err(HandshakeError::NotOurs);
        }
        if !message.authentic(&self.peer.token) {
            return Err(HandshakeError::BadMac);
        }
        let mut payload = vec![0; message.noise().len()];
        let len = self.noise.read(message.noise(), &mut payload).map_err(|_| HandshakeError::Forged)?;
        let payload = payload.get(..len).and_then(Answering::read).ok_or(HandshakeError::Malformed)?;
        if payload.cipher.bit() & self.offer.bits() == 0 {
            return Err(HandshakeError::Malformed);
        }
        let completed = self.noise.completed(payload.cipher).ok_or(HandshakeError::Forged)?;
        Ok((completed, payload.answer, payload.packet.to_vec()))
    }
}
