//! Keys of one completed handshake: connection ids and paths.

use strandcast_proto::path::MAX_PATHS;
use strandcast_proto::time::Instant;

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::number::PacketNumber;
use crate::path::{Receiver, Resting, Sender};
use crate::secret::Secret;

pub(crate) use crate::path::Discard;
pub(crate) use crate::wire::{ConnectionId, RouteBytes};

/// Number of paths that can be numbered in a handshake: 0 to 31. An initiator that needs another number begins a new
/// handshake. In the new handshake, only paths that are still in use have numbers.
pub(crate) const PATHS: u8 = 32;
/// Number of paths of a handshake that can have receiving keys and a replay window at one time. An association has at
/// most this number of paths. If a further path is used, one path must give up its keys and its window. The path whose
/// last authentic datagram is oldest is chosen, and then rests. When a newer datagram arrives on a resting path, this
/// path gets keys and a window again.
pub(crate) const RECEIVING: usize = MAX_PATHS;
/// Maximum heap in bytes of a handshake's keys, for any datagrams of the peer.
pub(crate) const KEYS_HEAP: usize = 100 << 10;
/// Number of remaining packet numbers of a path at which a new handshake is due. At 10⁹ datagrams per second, these
/// numbers last about an hour.
const NUMBERS_DUE: u64 = 1 << 42;

/// Identifier of a completed handshake. The identifier is equal on both sides, and is not secret.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HandshakeId(pub [u8; 16]);

/// Result of a completed handshake.
#[derive(Debug)]
pub(crate) struct Completed {
    /// Cipher that encrypts the datagrams.
    pub cipher: Cipher,
    /// Secret from which this side's keys for sending are derived.
    pub send: Secret,
    /// Secret from which this side's keys for receiving are derived.
    pub receive: Secret,
    /// Identifier of the handshake.
    pub handshake: HandshakeId,
    /// Route bytes in the connection ids of datagrams to the responder.
    pub route: RouteBytes,
    /// True if this side began the handshake.
    pub initiates: bool,
    /// Static key that the other side has proven.
    pub remote: PublicKey,
}

/// The keys of a handshake. The secrets of the handshake are overwritten as soon as the secrets of all paths are
/// derived from them. The keys of past generations therefore cannot be computed from the remaining secrets.
pub(crate) struct Keys {
    cipher: Cipher,
    handshake: HandshakeId,
    remote: PublicKey,
    paths: Vec<Path>,
    /// Number of forged datagrams on all paths (RFC 9001 §6.6).
    forged: u64,
    /// Number of authentic datagrams on all paths.
    opened: u64,
}

/// Keys of a path in both directions.
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
    /// The path can receive datagrams. `last` is the number of authentic datagrams on all paths when the path's last
    /// one arrived.
    Used {
        receiver: Box<Receiver>,
        last: u64,
    },
    /// The path rests, because [`RECEIVING`] other paths were used after it.
    Resting(Resting),
}

impl Keys {
    /// Returns the keys of a completed handshake.
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

    /// Returns the cipher of the datagrams.
    pub(crate) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Returns the identifier of the handshake.
    pub(crate) fn handshake(&self) -> HandshakeId {
        self.handshake
    }

    /// Returns the static key that the other side has proven.
    pub(crate) fn remote(&self) -> PublicKey {
        self.remote
    }

    /// Returns the connection id of datagrams to this side on a path. The path need not be in use. Returns `None` if
    /// the path is unknown.
    pub(crate) fn connection_id(&self, path: u8) -> Option<ConnectionId> {
        self.paths.get(usize::from(path)).map(|path| path.id)
    }

    /// Returns the connection ids and the first secrets of a path, for sending and for receiving. The key log contains
    /// them. Returns `None` once the path is in use, because its first secrets are then overwritten.
    pub(crate) fn log(&self, path: u8) -> Option<[(ConnectionId, Secret); 2]> {
        let Path { id, send, receive } = self.paths.get(usize::from(path))?;
        let (Sending::Unused { id: sending, secret: send }, Receiving::Unused(receive)) = (send, receive)
        else {
            return None;
        };
        Some([(*sending, send.clone()), (*id, receive.clone())])
    }

    /// Encrypts a whole datagram in place. The packet must have 13 bytes of room before it and 16 bytes of room after
    /// it.
    ///
    /// Returns the datagram's packet number. Returns `None` and does not encrypt the datagram in three cases: the path
    /// is unknown, the path has no packet number left, or the datagram contains no packet.
    pub(crate) fn seal(&mut self, now: Instant, path: u8, datagram: &mut [u8]) -> Option<PacketNumber> {
        let cipher = self.cipher;
        let path = self.paths.get_mut(usize::from(path))?;
        let received = path.receive.highest().map(PacketNumber::generation);
        path.send.sender(cipher).seal(now, received, datagram)
    }

    /// Decrypts a whole datagram in place. The packet lies between the first 13 and the last 16 bytes.
    ///
    /// # Errors
    ///
    /// Returns the reason for dropping the datagram, as an error. After an error, the bytes of the datagram are
    /// undefined. No packet number, window or key has then changed.
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

    /// Counts the result of decrypting a datagram of `path`.
    fn count(&mut self, path: u8, opened: Result<PacketNumber, Discard>) -> Result<PacketNumber, Discard> {
        match opened {
            Ok(_) => self.opened_on(path),
            Err(Discard::Forged) => self.forged += 1,
            Err(_) => {}
        }
        opened
    }

    /// Records an authentic datagram on `path`. If too many paths are in use, the path whose last authentic datagram is
    /// oldest then rests.
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

    /// Returns the highest authentic packet number of a path; `None` before the first one.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn highest(&self, path: u8) -> Option<PacketNumber> {
        self.paths.get(usize::from(path))?.receive.highest()
    }

    /// Returns the number of forged datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn forged(&self) -> u64 {
        self.forged
    }

    /// Returns whether a new handshake is due. A new handshake is due when few packet numbers are left, or when forged
    /// datagrams exceed half of the cipher's integrity limit.
    pub(crate) fn renewal_due(&self) -> bool {
        self.forged >= self.cipher.integrity_limit() / 2
            || self.paths.iter().filter_map(|path| path.send.left()).any(|left| left < NUMBERS_DUE)
    }

    /// Skips `on` packet numbers for sending on a path, but stays below `most`. Tests need it because they cannot
    /// encrypt as many datagrams.
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
    /// Returns the sender of the path. The sender is created when it is first used.
    fn sender(&mut self, cipher: Cipher) -> &mut Sender {
        if let Sending::Unused { id, secret } = self {
            *self = Sending::Used(Box::new(Sender::new(*id, cipher, secret.clone())));
        }
        match self {
            Sending::Used(sender) => sender,
            Sending::Unused { .. } => unreachable!("it was used above"),
        }
    }

    /// Returns the number of packet numbers that are left; `None` if no number was used.
    fn left(&self) -> Option<u64> {
        match self {
            Sending::Used(sender) => Some(sender.left()),
            Sending::Unused { .. } => None,
        }
    }
}

impl Receiving {
    /// Returns the highest authentic packet number.
    fn highest(&self) -> Option<PacketNumber> {
        match self {
            Receiving::Used { receiver, .. } => receiver.highest(),
            Receiving::Resting(resting) => resting.highest(),
            Receiving::Unused(_) => None,
        }
    }

    /// Returns the number of authentic datagrams on all paths when the last one on this path arrived. Returns `None` if
    /// the path has no receiver.
    fn last(&self) -> Option<u64> {
        match self {
            Receiving::Used { last, .. } => Some(*last),
            Receiving::Unused(_) | Receiving::Resting(_) => None,
        }
    }
}

/// Returns the connection id of a path in one direction. In the direction to the responder, it begins with `route`.
fn connection_id(direction: &Secret, path: u8, route: Option<RouteBytes>) -> ConnectionId {
    let mut id = [0; 8];
    direction.expand("connection id", &[path], &mut id);
    if let Some(route) = route {
        route.begin(&mut id);
    }
    ConnectionId(id)
}

/// Returns the secret of a path's first key generation in one direction.
fn first_secret(direction: &Secret, path: u8) -> Secret {
    direction.derive("path", &[path])
}

#[cfg(test)]
mod tests;
