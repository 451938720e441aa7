//! Both sides of a handshake, which is complete or in progress. Pairs of sides serve tests, fuzzers and benchmarks.

use strandcast_proto::path::FourTuple;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use crate::aead::{Cipher, Ciphers};
use crate::handshake::{Answer, Initiator, Limits, Outcome, Responder};
use crate::identity::{Access, Grant, Peer, PublicKey, SecretKey, Token};
use crate::keys::{Completed, HandshakeId, Keys, RouteBytes};
use crate::secret::Secret;

/// Returns the keys of both ends.
pub(crate) fn keys(cipher: Cipher) -> [Keys; 2] {
    let of = |send, receive, initiates| {
        let [send, receive] = [send, receive].map(|byte| Secret::new([byte; 32]));
        Keys::new(Completed {
            cipher,
            send,
            receive,
            handshake: HandshakeId([3; 16]),
            route: RouteBytes([5, 6]),
            initiates,
            remote: PublicKey([4; 32]),
        })
    };
    [of(1, 2, true), of(2, 1, false)]
}

/// Two ends of a session: one encrypts datagrams, and the other decrypts them.
pub struct Ends {
    sealing: Keys,
    opening: Keys,
}

impl Ends {
    /// Returns both ends before the first datagram.
    pub fn new(cipher: Cipher) -> Self {
        let [sealing, opening] = keys(cipher);
        Ends { sealing, opening }
    }

    /// Encrypts a datagram in place. The packet must have 13 bytes of room before it and 16 bytes after it.
    pub fn seal(&mut self, path: u8, datagram: &mut [u8]) -> bool {
        self.sealing.seal(Instant::ZERO, path, datagram).is_some()
    }

    /// Decrypts a datagram in place.
    pub fn open(&mut self, path: u8, datagram: &mut [u8]) -> bool {
        self.opening.open(path, datagram).is_ok()
    }
}

/// A sender, a receiver, and the handshakes between them.
pub struct Handshakes {
    sender: SecretKey,
    peer: Peer,
    responder: Responder,
    access: Access,
    random: Random,
    from: FourTuple,
}

impl Default for Handshakes {
    fn default() -> Self {
        Handshakes::new()
    }
}

impl Handshakes {
    /// Returns a sender and a receiver with new keys. The number of their handshakes is not limited.
    pub fn new() -> Self {
        let mut random = Seeds::new(1, 0).stream("handshakes");
        let [sender, receiver] = core::array::from_fn(|_| SecretKey::generate(&mut random));
        let token = Token::generate(&mut random);
        let senders = [sender.public()].into();
        let grant = Grant { token: token.clone(), senders, open: false, once: false };
        let limits = Limits { ciphers: Ciphers::ALL, cookies: u32::MAX, ceiling: u32::MAX, route: None };
        Handshakes {
            sender,
            peer: Peer { key: receiver.public(), token },
            responder: Responder::new(receiver, Seeds::new(1, 0).stream("responder"), limits),
            access: Access { grants: vec![grant], ..Access::default() },
            random,
            from: FourTuple::loopback(1, 2),
        }
    }

    /// Runs a complete handshake with payloads of 256 bytes. Returns whether both sides then have keys.
    pub fn whole(&mut self) -> bool {
        let Some(mut initiator) = self.begin() else { return false };
        let Some(message) = self.answer(initiator.message()) else { return false };
        initiator.read(&message).is_ok()
    }

    /// Returns message 1 of a new handshake.
    pub fn message(&mut self) -> Option<Vec<u8>> {
        self.begin().map(|i| i.message().to_vec())
    }

    /// Returns the receiver's answer to a message 1.
    pub fn answer(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        let outcome = self.responder.receive(Instant::ZERO, &self.from, message, &self.access);
        let Outcome::Asked(asked) = outcome else { return None };
        let message = self.responder.answer(asked.slot, Answer::New, &[0; 256]).map(|(_, m)| m.to_vec());
        self.responder.close(asked.slot);
        message
    }

    fn begin(&mut self) -> Option<Initiator> {
        let Handshakes { sender, peer, random, .. } = self;
        Initiator::start(sender, peer, Ciphers::ALL, None, None, &[0; 256], random).ok()
    }
}
