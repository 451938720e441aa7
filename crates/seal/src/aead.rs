//! Ciphers of datagrams, by ring.

/// A cipher of datagrams.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Cipher {
    /// AES-128-GCM (NIST SP 800-38D).
    Aes128Gcm,
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305,
}

impl Cipher {
    pub(crate) fn bit(self) -> u8 {
        match self {
            Cipher::Aes128Gcm => 1,
            Cipher::ChaCha20Poly1305 => 2,
        }
    }
}

/// A set of ciphers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ciphers(u8);

impl Ciphers {
    pub(crate) const ALL: Ciphers = Ciphers(3);

    pub(crate) fn from_bits(bits: u8) -> Option<Self> {
        (bits & !Self::ALL.0 == 0).then_some(Ciphers(bits))
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }
}
