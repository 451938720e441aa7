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

/// The keys of a handshake. What it yielded is overwritten once the secrets of all paths are derived from it: then nothing is
/// left that reveals the keys of generations that are over.
pub(crate) struct Keys {
    cipher: Cipher,
    handshake: HandshakeId,
    remote: PublicKey,
    paths: Vec<Path>,
    /// Datagrams that were not authentic, on all paths together (RFC 9001 §6.6).
    forged: u64,
}

/// Both directions of a path.
struct Path {
    /// What datagrams to this side carry.
    id: ConnectionId,
    state: State,
}

enum State {
    Unused { sending: ConnectionId, send: Secret, receive: Secret },
    Used(Box<Used>),
}

struct Used {
    send: Sender,
    receive: Receiver,
}

impl Keys {
    /// The keys of a handshake that is complete.
    pub(crate) fn new(completed: Completed) -> Self {
        let Completed { cipher, ref send, ref receive, handshake, remote } = completed;
        let path = |number| Path {
            id: connection_id(receive, number),
            state: State::Unused {
                sending: connection_id(send, number),
                send: first_secret(send, number),
                receive: first_secret(receive, number),
            },
        };
        Keys { cipher, handshake, remote, paths: (0..PATHS).map(path).collect(), forged: 0 }
    }

    /// How datagrams are encrypted.
    pub(crate) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// The handshake's name.
    pub(crate) fn handshake(&self) -> HandshakeId {
        self.handshake
    }

    /// Who the other side has proven to be.
    pub(crate) fn remote(&self) -> PublicKey {
        self.remote
    }

    /// What datagrams to this side carry on a path, whether it is used yet or not; `None` if there is no such path.
    pub(crate) fn connection_id(&self, path: u8) -> Option<ConnectionId> {
        self.paths.get(usize::from(path)).map(|path| path.id)
    }

    /// Connection ids and first secrets of a path, for a log of keys: sending, receiving. `None` once the path is used: its
    /// first secrets are no more.
    pub(crate) fn log(&self, path: u8) -> Option<[(ConnectionId, Secret); 2]> {
        let Path { id, state } = self.paths.get(usize::from(path))?;
        match state {
            State::Unused { sending, send, receive } => {
                Some([(*sending, send.clone()), (*id, receive.clone())])
            }
            State::Used(_) => None,
        }
    }

    /// Seals a whole datagram where it lies: 13 bytes of room, the packet, 16 bytes of room.
    ///
    /// Returns its number; `None`, and nothing is sealed, if there is no such path, no number left, or no packet in the
    /// datagram.
    pub(crate) fn seal(&mut self, now: Instant, path: u8, datagram: &mut [u8]) -> Option<PacketNumber> {
        let path = self.path(path)?;
        let received = path.receive.highest().map(PacketNumber::generation);
        path.send.seal(now, received, datagram)
    }

    /// Opens a whole datagram where it lies: its packet is what is between its first 13 and its last 16 bytes.
    ///
    /// # Errors
    ///
    /// Why it was not taken. The datagram's bytes mean nothing then, and no number, window or key has changed.
    pub(crate) fn open(&mut self, path: u8, datagram: &mut [u8]) -> Result<PacketNumber, Discard> {
        if self.forged >= self.cipher.integrity_limit() {
            return Err(Discard::Exhausted);
        }
        let opened = self.path(path).ok_or(Discard::Path)?.receive.open(datagram);
        if opened == Err(Discard::Forged) {
            self.forged += 1;
        }
        opened
    }

    /// The highest authentic number received on a path; `None` before the first.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn highest(&self, path: u8) -> Option<PacketNumber> {
        self.paths.get(usize::from(path))?.used()?.receive.highest()
    }

    /// Datagrams that were not authentic.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn forged(&self) -> u64 {
        self.forged
    }

    /// Whether a new handshake is due: packet numbers run out, or half as many datagrams as the cipher's integrity limit were
    /// forged.
    pub(crate) fn renewal_due(&self) -> bool {
        self.forged >= self.cipher.integrity_limit() / 2
            || self.paths.iter().filter_map(Path::used).any(|path| path.send.left() < NUMBERS_DUE)
    }

    /// What is sent on a path goes on `on` numbers further on, but below `most`: too many to seal that many datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn go_on(&mut self, path: u8, on: u64, most: u64) {
        if let Some(path) = self.path(path) {
            let next = PacketNumber::LAST.full() + 1 - path.send.left();
            path.send.jump((next + on).min(most.max(next + 1) - 1));
        }
    }

    /// A path, which is used from now on.
    fn path(&mut self, number: u8) -> Option<&mut Used> {
        let Path { state, .. } = self.paths.get_mut(usize::from(number))?;
        if let State::Unused { sending, send, receive } = state {
            let send = Sender::new(*sending, self.cipher, send.clone());
            let receive = Receiver::new(self.cipher, receive.clone());
            *state = State::Used(Box::new(Used { send, receive }));
        }
        match state {
            State::Used(used) => Some(used),
            State::Unused { .. } => None,
        }
    }
}

impl Path {
    fn used(&self) -> Option<&Used> {
        match &self.state {
            State::Used(used) => Some(used),
            State::Unused { .. } => None,
        }
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
