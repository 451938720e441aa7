//! Both ends of a handshake that has taken place, for tests, fuzzers and benches.

use strandcast_proto::time::Instant;

use crate::aead::Cipher;
use crate::identity::PublicKey;
use crate::keys::{Completed, HandshakeId, Keys};
use crate::secret::Secret;

/// The keys of both ends.
pub(crate) fn keys(cipher: Cipher) -> [Keys; 2] {
    let of = |send, receive| {
        let [send, receive] = [send, receive].map(|byte| Secret::new([byte; 32]));
        Keys::new(Completed {
            cipher,
            send,
            receive,
            handshake: HandshakeId([3; 16]),
            remote: PublicKey([4; 32]),
        })
    };
    [of(1, 2), of(2, 1)]
}

/// One end that seals and one that opens.
pub struct Ends {
    sealing: Keys,
    opening: Keys,
}

impl Ends {
    /// Both ends, of which nothing was sent yet.
    pub fn new(cipher: Cipher) -> Self {
        let [sealing, opening] = keys(cipher);
        Ends { sealing, opening }
    }

    /// Seals a datagram where it lies: 13 bytes of room, the packet, 16 bytes of room.
    pub fn seal(&mut self, path: u8, datagram: &mut [u8]) -> bool {
        self.sealing.seal(Instant::ZERO, path, datagram).is_some()
    }

    /// Opens a datagram where it lies.
    pub fn open(&mut self, path: u8, datagram: &mut [u8]) -> bool {
        self.opening.open(path, datagram).is_ok()
    }
}
