//! The keys of one completed handshake: connection ids and paths.

use strandcast_proto::path::MAX_PATHS;
use strandcast_proto::time::Instant;

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::number::PacketNumber;
use crate::path::{Receiver, Resting, Sender};
use crate::secret::Secret;

pub(crate) use crate::path::Discard;
pub(crate) use crate::wire::{ConnectionId, RouteBytes};

/// Path numbers of a handshake: 0 to 31. An initiator that needs another number makes a new handshake, in
/// which only the remaining paths have numbers.
pub(crate) const PATHS: u8 = 32;
/// Number of paths of a handshake that have keys and replay windows at once, equal to the maximum number of
/// paths of an association. One more path makes the one rest on which no datagram opened for longest. A
/// resting path accepts newer datagrams only, and gets keys and a window again when one arrives.
pub(crate) const RECEIVING: usize = MAX_PATHS;
/// Maximum heap of a handshake's keys in bytes, for any input of the peer.
pub(crate) const KEYS_HEAP: usize = 100 << 10;
/// Remaining packet numbers of a path at which a new handshake is due: an hour's, at a thousand million per
/// second.
const NUMBERS_DUE: u64 = 1 << 42;

/// Identifier of a complete handshake, equal on both sides. Not a secret.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HandshakeId(pub [u8; 16]);

/// Result of a completed handshake.
#[derive(Debug)]
pub(crate) struct Completed {
    /// Cipher of the datagrams.
    pub cipher: Cipher,
    /// Secret from which this side's keys for sending are derived.
    pub send: Secret,
    /// Secret from which this side's keys for receiving are derived.
    pub receive: Secret,
    /// Identifier of the handshake.
    pub handshake: HandshakeId,
    /// Route bytes of connection ids towards the responder.
    pub route: RouteBytes,
    /// True if this side has begun the handshake.
    pub initiates: bool,
    /// Key that the other side has proven.
    pub remote: PublicKey,
}

/// The keys of a handshake. The handshake's secrets are overwritten once the secrets of all paths are derived
/// from them, so that no remaining secret reveals the keys of past generations.
pub(crate) struct Keys {
    cipher: Cipher,
    handshake: HandshakeId,
    remote: PublicKey,
    paths: Vec<Path>,
    /// Forged datagrams on all paths together (RFC 9001 §6.6).
    forged: u64,
    /// Authentic datagrams on all paths together.
    opened: u64,
}

/// Both directions of a path.
struct Path {
    /// Connection id of datagrams to this side.
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
    /// Receives. `last` is the count of decrypted datagrams on all paths at the last one on this path.
    Used {
        receiver: Box<Receiver>,
        last: u64,
    },
    /// Rests, because [`RECEIVING`] other paths were used later.
    Resting(Resting),
}

impl Keys {
    /// The keys of a complete handshake.
    pub(crate) fn new(completed: Completed) -> Self {
        let Completed { cipher, ref send, ref receive, handshake, route, initiates, remote } = completed;
        let id = |direction, number, towards_responder: bool| {
            connection_id(direction, number, towards_responder.then_some(route))
        };
        let path = |number| Path {
            id: id(receive, number, !initiates),
            send: Sending::Unused { id: id(send, number, initiates), secret: first_secret(send, number) },
            receive: Receiving::Unused(first_secret(receive, number)),
        };
        Keys { cipher, handshake, remote, paths: (0..PATHS).map(path).collect(), forged: 0, opened: 0 }
    }

    /// Cipher of the datagrams.
    pub(crate) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Identifier of the handshake.
    pub(crate) fn handshake(&self) -> HandshakeId {
        self.handshake
    }

    /// Key that the other side has proven.
    pub(crate) fn remote(&self) -> PublicKey {
        self.remote
    }

    /// Connection id of datagrams to this side on a path, used or not; `None` for an unknown path.
    pub(crate) fn connection_id(&self, path: u8) -> Option<ConnectionId> {
        self.paths.get(usize::from(path)).map(|path| path.id)
    }

    /// First connection ids and secrets of a path, sending and receiving, as a log of keys needs them. `None`
    /// once the path is used, because its first secrets are overwritten.
    pub(crate) fn log(&self, path: u8) -> Option<[(ConnectionId, Secret); 2]> {
        let Path { id, send, receive } = self.paths.get(usize::from(path))?;
        let (Sending::Unused { id: sending, secret: send }, Receiving::Unused(receive)) = (send, receive)
        else {
            return None;
        };
        Some([(*sending, send.clone()), (*id, receive.clone())])
    }

    /// Seals a whole datagram in place: 13 bytes of room, the packet, 16 bytes of room.
    ///
    /// Returns its packet number. Returns `None` and leaves the datagram unsealed if the path is unknown, if
    /// its numbers are used up, or if the datagram contains no packet.
    pub(crate) fn seal(&mut self, now: Instant, path: u8, datagram: &mut [u8]) -> Option<PacketNumber> {
        let cipher = self.cipher;
        let path = self.paths.get_mut(usize::from(path))?;
        let received = path.receive.highest().map(PacketNumber::generation);
        path.send.sender(cipher).seal(now, received, datagram)
    }

    /// Opens a whole datagram in place: its packet lies between its first 13 and its last 16 bytes.
    ///
    /// # Errors
    ///
    /// The reason for dropping the datagram. Its bytes are then undefined, and no number, window or key has
    /// changed.
    pub(crate) fn open(&mut self, path: u8, datagram: &mut [u8]) -> Result<PacketNumber, Discard> {
        if self.forged >= self.cipher.integrity_limit() {
            return Err(Discard::Exhausted);
        }
        let cipher = self.cipher;
        let receive = self.receiving(path).ok_or(Discard::Path)?;
        // The receiver is kept only after an authentic datagram, so forged ones take no memory.
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

    /// Counts the result of opening a datagram of a path.
    fn count(&mut self, path: u8, opened: Result<PacketNumber, Discard>) -> Result<PacketNumber, Discard> {
        match opened {
            Ok(_) => self.opened_on(path),
            Err(Discard::Forged) => self.forged += 1,
            Err(_) => {}
        }
        opened
    }

    /// Records that a datagram has opened on a path. If more paths are in use than have room, the one on
    /// which no datagram opened for longest rests.
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

    /// Highest authentic number received on a path; `None` before the first.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn highest(&self, path: u8) -> Option<PacketNumber> {
        self.paths.get(usize::from(path))?.receive.highest()
    }

    /// Number of forged datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn forged(&self) -> u64 {
        self.forged
    }

    /// Returns whether a new handshake is due: packet numbers run out, or forged datagrams exceed half of the
    /// cipher's integrity limit.
    pub(crate) fn renewal_due(&self) -> bool {
        self.forged >= self.cipher.integrity_limit() / 2
            || self.paths.iter().filter_map(|path| path.send.left()).any(|left| left < NUMBERS_DUE)
    }

    /// Skips `on` packet numbers for sending on a path, staying below `most`, because a test cannot seal that
    /// many datagrams.
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
    /// The path's sender, created at its first use.
    fn sender(&mut self, cipher: Cipher) -> &mut Sender {
        if let Sending::Unused { id, secret } = self {
            *self = Sending::Used(Box::new(Sender::new(*id, cipher, secret.clone())));
        }
        match self {
            Sending::Used(sender) => sender,
            Sending::Unused { .. } => unreachable!("it was used above"),
        }
    }

    /// Number of packet numbers left, if any was used.
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

    /// Number of datagrams that had opened on all paths when the last one opened here. `None` without a
    /// receiver.
    fn last(&self) -> Option<u64> {
        match self {
            Receiving::Used { last, .. } => Some(*last),
            Receiving::Unused(_) | Receiving::Resting(_) => None,
        }
    }
}

/// Connection id of a path in a direction. Towards the responder it begins with `route`.
fn connection_id(direction: &Secret, path: u8, route: Option<RouteBytes>) -> ConnectionId {
    let mut id = [0; 8];
    direction.expand("connection id", &[path], &mut id);
    if let Some(route) = route {
        route.begin(&mut id);
    }
    ConnectionId(id)
}

/// Secret of a path's first generation in a direction.
fn first_secret(direction: &Secret, path: u8) -> Secret {
    direction.derive("path", &[path])
}

#[cfg(test)]
mod tests;
