//! The keys of one completed handshake: connection ids and paths.

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::secret::Secret;
pub(crate) use crate::wire::ConnectionId;

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
