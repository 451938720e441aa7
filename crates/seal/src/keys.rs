//! The keys of one completed handshake: connection ids and paths.

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::secret::Secret;

/// Names a handshake: derived from Noise's handshake hash.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HandshakeId(pub [u8; 16]);

/// What a completed handshake yields.
pub(crate) struct Completed {
    pub cipher: Cipher,
    pub send: Secret,
    pub receive: Secret,
    pub handshake: HandshakeId,
    pub remote: PublicKey,
}
