//! The keys of one completed handshake: connection ids and paths.

use strandcast_proto::path::MAX_PATHS;
use strandcast_proto::time::Instant;

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::number::PacketNumber;
use crate::path::{Receiver, Resting, Sender};
use crate::secret::Secret;

pub(crate) use crate::path::Discard;
pub(crate) use crate::wire::ConnectionId;

/// Path numbers of a handshake: 0 to 31. An initiator that needs another one makes a new handshake, where only the paths
/// that still exist have numbers.
pub(crate) const PATHS: u8 = 32;
/// Paths of a handshake with keys and replay windows at a time, as many as an association has paths. When one more comes, the one
/// on which nothing opened for longest rests: it takes newer datagrams alone from then on, and has keys and a window again when
/// one comes.
pub(crate) const RECEIVING: usize = MAX_PATHS;
/// Maximum heap of the keys of a handshake in bytes, whatever the peer sends under them.
pub(crate) const KEYS_HEAP: usize = 100 << 10;
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
    /// Datagrams that were.
    opened: u64,
}

/// Both directions of a path.
struct Path {
    /// What datagrams to this side carry.
    id: ConnectionId,
    send: Sending,
    receive: Receiving,
}

enum Sending {
    Unused { id: ConnectionId, secret: Secret },
    Used(Box<Sender>),
}

enum Receiving {
    Unused(Secret),
    /// Something authentic came. `last`: how many datagrams had opened on all paths by the last one.
    Used {
        receiver: Box<Receiver>,
        last: u64,
    },
    /// [`RECEIVING`] others came after it.
    Resting(Resting),
}

impl Keys {
    /// The keys of a handshake that is complete.
    pub(crate) fn new(completed: Completed) -> Self {
        let Completed { cipher, ref send, ref receive, handshake, remote } = completed;
        let path = |number| Path {
            id: connection_id(receive, number),
            send: Sending::Unused { id: connection_id(send, number), secret: first_secret(send, number) },
            receive: Receiving::Unused(first_secret(receive, number)),
        };
        Keys { cipher, handshake, remote, paths: (0..PATHS).map(path).collect(), forged: 0, opened: 0 }
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
        let Path { id, send, receive } = self.paths.get(usize::from(path))?;
        let (Sending::Unused { id: sending, secret: send }, Receiving::Unused(receive)) = (send, receive)
        else {
            return None;
        };
        Some([(*sending, send.clone()), (*id, receive.clone())])
    }

    /// Seals a whole datagram where it lies: 13 bytes of room, the packet, 16 bytes of room.
    ///
    /// Returns its number; `None`, and nothing is sealed, if there is no such path, no number left, or no packet in the
    /// datagram.
    pub(crate) fn seal(&mut self, now: Instant, path: u8, datagram: &mut [u8]) -> Option<PacketNumber> {
        let cipher = self.cipher;
        let path = self.paths.get_mut(usize::from(path))?;
        let received = path.receive.highest().map(PacketNumber::generation);
        path.send.sender(cipher).seal(now, received, datagram)
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
        let cipher = self.cipher;
        let receive = self.receiving(path).ok_or(Discard::Path)?;
        // A receiver is kept once something authentic has come: to forge takes no memory.
        let new = match receive {
            Receiving::Used { .. } => None,
            Receiving::Unused(secret) => Some(Receiver::new(cipher, secret.clone())),
            Receiving::Resting(resting) => Some(resting.wake()),
        };
        if let Some(mut receiver) = new {
            let opened = receiver.open(datagram);
            if opened.is_ok() {
                *receive = Receiving::Used { receiver: Box::new(receiver), last: 0 };
            }
            return self.count(path, opened);
        }
        let Receiving::Used { receiver, .. } = receive else { return Err(Discard::Path) };
        let opened = receiver.open(datagram);
        self.count(path, opened)
    }

    /// Counts what came of a datagram of a path.
    fn count(&mut self, path: u8, opened: Result<PacketNumber, Discard>) -> Result<PacketNumber, Discard> {
        match opened {
            Ok(_) => self.opened_on(path),
            Err(Discard::Forged) => self.forged += 1,
            Err(_) => {}
        }
        opened
    }

    /// A datagram has opened on a path. Of too many paths the one on which nothing opened for longest rests.
    fn opened_on(&mut self, path: u8) {
        self.opened += 1;
        let opened = self.opened;
        let Some(Receiving::Used { last, .. }) = self.receiving(path) else { return };
        let first = core::mem::replace(last, opened) == 0;
        let used = self.paths.iter().map(|path| &path.receive);
        let used = used.enumerate().filter_map(|(path, receive)| Some((receive.last()?, path as u8)));
        if first
            && used.clone().count() > RECEIVING
            && let Some((_, oldest)) = used.min()
            && let Some(receive) = self.receiving(oldest)
            && let Receiving::Used { receiver, .. } = receive
        {
            *receive = Receiving::Resting(receiver.rest());
        }
    }

    fn receiving(&mut self, path: u8) -> Option<&mut Receiving> {
        self.paths.get_mut(usize::from(path)).map(|path| &mut path.receive)
    }

    /// The highest authentic number received on a path; `None` before the first.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn highest(&self, path: u8) -> Option<PacketNumber> {
        self.paths.get(usize::from(path))?.receive.highest()
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
            || self.paths.iter().filter_map(|path| path.send.left()).any(|left| left < NUMBERS_DUE)
    }

    /// What is sent on a path goes on `on` numbers further on, but below `most`: too many to seal that many datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn go_on(&mut self, path: u8, on: u64, most: u64) {
        let cipher = self.cipher;
        if let Some(path) = self.paths.get_mut(usize::from(path)) {
            let sender = path.send.sender(cipher);
            let next = PacketNumber::LAST.full() + 1 - sender.left();
            sender.jump((next + on).min(most.max(next + 1) - 1));
        }
    }
}

impl Sending {
    /// What is sent on the path, which is used from now on.
    fn sender(&mut self, cipher: Cipher) -> &mut Sender {
        if let Sending::Unused { id, secret } = self {
            *self = Sending::Used(Box::new(Sender::new(*id, cipher, secret.clone())));
        }
        match self {
            Sending::Used(sender) => sender,
            Sending::Unused { .. } => unreachable!("it was used above"),
        }
    }

    /// How many numbers are left, if any was used.
    fn left(&self) -> Option<u64> {
        match self {
            Sending::Used(sender) => Some(sender.left()),
            Sending::Unused { .. } => None,
        }
    }
}

impl Receiving {
    /// The highest authentic number.
    fn highest(&self) -> Option<PacketNumber> {
        match self {
            Receiving::Used { receiver, .. } => receiver.highest(),
            Receiving::Resting(resting) => resting.highest(),
            Receiving::Unused(_) => None,
        }
    }

    /// How many datagrams had opened on all paths when one opened last on this one, which has a receiver.
    fn last(&self) -> Option<u64> {
        match self {
            Receiving::Used { last, .. } => Some(*last),
            Receiving::Unused(_) | Receiving::Resting(_) => None,
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
