//! Ciphers of datagrams, implemented by the crate `ring`.

use core::fmt;

use ring::aead::{AES_128_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use strandcast_proto::work;
use zeroize::Zeroizing;

use crate::secret::Secret;
use crate::wire::TAG;

/// A cipher that encrypts and authenticates datagrams.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Cipher {
    /// AES-128-GCM. AES-128-GCM is the fastest cipher on processors with AES instructions.
    Aes128Gcm,
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305,
}

impl Cipher {
    /// Returns the byte that names the cipher in a handshake.
    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Cipher::Aes128Gcm => 1,
            Cipher::ChaCha20Poly1305 => 2,
        }
    }

    /// Returns the cipher that a byte of a handshake names.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305].into_iter().find(|cipher| cipher.to_byte() == byte)
    }

    /// Returns the number of forged datagrams after which a key must not be used any longer, because a further forgery
    /// may succeed (RFC 9001 §6.6).
    pub(crate) fn integrity_limit(self) -> u64 {
        match self {
            Cipher::Aes128Gcm => 1 << 52,
            Cipher::ChaCha20Poly1305 => 1 << 36,
        }
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            Cipher::Aes128Gcm => &AES_128_GCM,
            Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        }
    }
}

impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cipher::Aes128Gcm => "AES-128-GCM",
            Cipher::ChaCha20Poly1305 => "ChaCha20-Poly1305",
        })
    }
}

/// The set of ciphers that one side offers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ciphers(u8);

impl Ciphers {
    /// The set of both ciphers.
    pub const ALL: Ciphers = Ciphers(3);

    /// Returns ChaCha20-Poly1305. On processors with AES instructions, also returns AES-128-GCM.
    pub fn available() -> Self {
        if has_aes() { Ciphers::ALL } else { Ciphers::only(Cipher::ChaCha20Poly1305) }
    }

    /// Returns the set of one cipher.
    pub fn only(cipher: Cipher) -> Self {
        Ciphers(cipher.to_byte())
    }

    /// Returns the set of ciphers that a byte of a handshake names. Unknown bits of the byte are ignored.
    pub(crate) fn from_byte(byte: u8) -> Self {
        Ciphers(byte & Ciphers::ALL.0)
    }

    /// Returns the byte that names the set of ciphers in a handshake.
    pub(crate) fn to_byte(self) -> u8 {
        self.0
    }

    /// Returns whether the set contains `cipher`.
    pub fn has(self, cipher: Cipher) -> bool {
        self.0 & cipher.to_byte() != 0
    }

    /// Returns the cipher that both sides use. The returned cipher is AES-128-GCM if both sides support this, otherwise
    /// ChaCha20-Poly1305. The result is `None` if the sides have no common cipher.
    pub(crate) fn choose(self, other: Ciphers) -> Option<Cipher> {
        [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305].into_iter().find(|&c| self.has(c) && other.has(c))
    }
}

#[cfg(target_arch = "x86_64")]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes") && std::arch::is_aarch64_feature_detected!("pmull")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_aes() -> bool {
    false
}

/// The key for one path, one direction and one key generation.
pub(crate) struct Key {
    key: LessSafeKey,
    mask: [u8; 12],
}

impl Key {
    /// Derives the key from the secret of its generation. The method is that of RFC 9001 §5.1, with other labels.
    pub(crate) fn new(cipher: Cipher, secret: &Secret) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        let key = &mut key[..cipher.algorithm().key_len()];
        secret.expand("key", &[], key);
        let mut mask = [0; 12];
        secret.expand("iv", &[], &mut mask);
        Key::from_parts(cipher, key, mask)
    }

    fn from_parts(cipher: Cipher, key: &[u8], mask: [u8; 12]) -> Self {
        let key = UnboundKey::new(cipher.algorithm(), key).expect("the key is as long as the cipher's");
        Key { key: LessSafeKey::new(key), mask }
    }

    /// Encrypts `body` in place. The last 16 bytes of `body` are room for the authentication tag. A packet number must
    /// be used only once per key.
    ///
    /// Returns false and changes nothing if `body` is too short for a tag.
    pub(crate) fn seal(&self, number: u64, header: &[u8], body: &mut [u8]) -> bool {
        work::count(header.len() + body.len());
        let Some((plaintext, tag)) = body.split_last_chunk_mut::<TAG>() else { return false };
        match self.key.seal_in_place_separate_tag(self.nonce(number), Aad::from(header), plaintext) {
            Ok(made) => tag.copy_from_slice(made.as_ref()),
            Err(_) => return false,
        }
        true
    }

    /// Decrypts `body` in place. The authentication tag in the last 16 bytes does not change. Returns whether `body` is
    /// authentic. If `body` is not authentic, its bytes are undefined.
    #[must_use]
    pub(crate) fn open(&self, number: u64, header: &[u8], body: &mut [u8]) -> bool {
        work::count(header.len() + body.len());
        self.key.open_in_place(self.nonce(number), Aad::from(header), body).is_ok()
    }

    /// Returns the nonce of the cipher: the packet number XOR the mask (RFC 9001 §5.3). The number is preceded by zeros
    /// up to the length of a nonce.
    fn nonce(&self, number: u64) -> Nonce {
        let mut nonce = self.mask;
        for (byte, of_number) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= of_number;
        }
        Nonce::assume_unique_for_key(nonce)
    }
}

#[cfg(test)]
mod tests;
