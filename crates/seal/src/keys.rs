//! The keys of one completed handshake: connection ids and paths.

use strandcast_proto::time::Instant;

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::number::PacketNumber;
use crate::path::{Receiver, Sender};
use crate::secret::Secret;

pub(crate) use crate::path::Discard;
pub(crate) use crate::wire::ConnectionId;

/// Path numbers of a handshake: 0 to 31. An initiator that needs another one makes a new handshake, where only the paths
/// that still exist have numbers.
pub(crate) const PATHS: u8 = 32;
/// With so few packet numbers left on a path a new handshake is due: an hour's, at a thousand million per second.
const NUMBERS_DUE: u64 = 1 << 42;

/// What both sides call a handshake, once it is complete. Not a secret.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HandshakeId(pub [u8; 16]);

/// What a completed handshake yields.
#[derive(Debug)]
pub(crate) struct Completed {
    /// How datagrams are encrypted.
    pub cipher: Cipher,
    /// What this side's keys for sending are derived from.
    pub send: Secret,
    /// What its keys for receiving are derived from.
    pub receive: Secret,
    /// The handshake's name.
    pub handshake: HandshakeId,
    /// Who the other side has proven to be.
    pub remote: PublicKey,
}

/// The keys of a handshake. Paths come to be as they are used, at most [`PATHS`].
pub(crate) struct Keys {
    completed: Completed,
    paths: [Option<Box<Path>>; PATHS as usize],
    /// Datagrams that were not authentic, on all paths together (RFC 9001 §6.6).
    forged: u64,
}

/// Both directions of a path.
struct Path {
    send: Sender,
    receive: Receiver,
}

impl Keys {
    /// The keys of a handshake that is complete.
    pub(crate) fn new(completed: Completed) -> Self {
        Keys { completed, paths: Default::default(), forged: 0 }
    }

    /// How datagrams are encrypted.
    pub(crate) fn cipher(&self) -> Cipher {
        self.completed.cipher
    }

    /// The handshake's name.
    pub(crate) fn handshake(&self) -> HandshakeId {
        self.completed.handshake
    }

    /// Who the other side has proven to be.
    pub(crate) fn remote(&self) -> PublicKey {
        self.completed.remote
    }

    /// What datagrams to this side carry on a path, whether it is used yet or not.
    pub(crate) fn connection_id(&self, path: u8) -> ConnectionId {
        connection_id(&self.completed.receive, path)
    }

    /// Connection ids and first secrets of a path, for a log of keys: sending, receiving.
    pub(crate) fn log(&self, path: u8) -> [(ConnectionId, Secret); 2] {
        [&self.completed.send, &self.completed.receive]
            .map(|secret| (connection_id(secret, path), first_secret(secret, path)))
    }

    /// Seals a whole datagram where it lies: 13 bytes of room, the packet, 16 bytes of room.
    ///
    /// Returns its number; `None`, and nothing is sealed, if there is no such path, no number left, or no packet in the
    /// datagram.
    pub(crate) fn seal(&mut self, now: Instant, path: u8, datagram: &mut [u8]) -> Option<PacketNumber> {
        let path = self.path(path)?;
        let heard = path.receive.highest().map(PacketNumber::generation);
        path.send.seal(now, heard, datagram)
    }

    /// Opens a whole datagram where it lies: its packet is what is between its first 13 and its last 16 bytes.
    ///
    /// # Errors
    ///
    /// Why it was not taken. The datagram's bytes mean nothing then, and no number, window or key has changed.
    pub(crate) fn open(&mut self, path: u8, datagram: &mut [u8]) -> Result<PacketNumber, Discard> {
        if self.forged >= self.completed.cipher.integrity_limit() {
            return Err(Discard::Exhausted);
        }
        let opened = self.path(path).ok_or(Discard::Path)?.receive.open(datagram);
        if opened == Err(Discard::Forged) {
            self.forged += 1;
        }
        opened
    }

    /// The highest authentic number received on a path; `None` before the first.
    pub(crate) fn highest(&self, path: u8) -> Option<PacketNumber> {
        self.paths.get(usize::from(path))?.as_ref()?.receive.highest()
    }

    /// Datagrams that were not authentic.
    pub(crate) fn forged(&self) -> u64 {
        self.forged
    }

    /// Whether a new handshake is due: packet numbers run out, or half as many datagrams as the cipher's integrity limit were
    /// forged.
    pub(crate) fn renewal_due(&self) -> bool {
        self.forged >= self.completed.cipher.integrity_limit() / 2
            || self.paths.iter().flatten().any(|path| path.send.left() < NUMBERS_DUE)
    }

    /// The lowest path number that neither side has used under these keys; `None` if a new handshake has to bring some.
    pub(crate) fn unused_path(&self) -> Option<u8> {
        (0..PATHS).zip(&self.paths).find_map(|(number, path)| path.is_none().then_some(number))
    }

    /// A path, as new if it was not used yet.
    fn path(&mut self, number: u8) -> Option<&mut Path> {
        let Completed { cipher, send, receive, .. } = &self.completed;
        let slot = self.paths.get_mut(usize::from(number))?;
        Some(slot.get_or_insert_with(|| {
            let id = connection_id(send, number);
            let send = Sender::new(id, *cipher, first_secret(send, number));
            Box::new(Path { send, receive: Receiver::new(*cipher, first_secret(receive, number)) })
        }))
    }
}

/// What datagrams of a direction carry on a path.
fn connection_id(direction: &Secret, path: u8) -> ConnectionId {
    let mut id = [0; 8];
    direction.expand("connection id", &[path], &mut id);
    ConnectionId(id)
}

/// The secret of a path's first generation in a direction.
fn first_secret(direction: &Secret, path: u8) -> Secret {
    direction.derive("path", &[path])
}

#[cfg(test)]
mod tests;
