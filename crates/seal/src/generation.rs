//! Key generations of a path: a chain of secrets. A new generation begins after every 2^22 packet numbers.

use crate::aead::{Cipher, Key};
use crate::secret::Secret;

/// Binary logarithm of the number of packet numbers per generation. AES-128-GCM would permit 2²³ datagrams under one
/// key (RFC 9001 §6.6).
pub(crate) const GENERATION_BITS: u32 = 22;

/// The key generations of one path in one direction. Each secret is overwritten as soon as the next secret is derived
/// from it. Earlier secrets cannot be computed from later ones. A receiver keeps a copy of the current secret.
#[derive(Clone)]
pub(crate) struct Chain {
    cipher: Cipher,
    /// Generation whose key is derived next.
    generation: u64,
    secret: Secret,
}

impl Chain {
    /// Returns a chain that begins at generation 0 with this secret.
    pub(crate) fn new(cipher: Cipher, secret: Secret) -> Self {
        Chain { cipher, generation: 0, secret }
    }

    /// Returns the generation whose key is derived next.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Derives the key of the next generation.
    pub(crate) fn take(&mut self) -> Key {
        let key = Key::new(self.cipher, &self.secret);
        self.step();
        key
    }

    /// Derives the key of `generation`, which may be later than the next one. The generations between are skipped.
    pub(crate) fn take_at(&mut self, generation: u64) -> Key {
        debug_assert!(generation >= self.generation, "a chain leads in one direction");
        self.skip_to(generation);
        self.take()
    }

    /// Skips the generations before `generation`.
    pub(crate) fn skip_to(&mut self, generation: u64) {
        while self.generation < generation {
            self.step();
        }
    }

    fn step(&mut self) {
        self.secret = following(&self.secret);
        self.generation += 1;
    }

    /// Returns a chain whose next generation is `generation`. The secret is that of this generation.
    pub(crate) fn at(cipher: Cipher, secret: Secret, generation: u64) -> Self {
        Chain { cipher, generation, secret }
    }
}

/// Returns the secret of the generation that follows the generation of `secret`.
pub(crate) fn following(secret: &Secret) -> Secret {
    secret.derive("next generation", &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Chain {
        Chain::new(Cipher::Aes128Gcm, Secret::new([7; 32]))
    }

    /// Returns a value that differs for different keys: the tag of an empty plaintext.
    fn tag(key: &Key) -> [u8; 16] {
        let mut body = [0; 16];
        assert!(key.seal(0, &[], &mut body));
        body
    }

    #[test]
    fn each_generation_has_a_key_of_its_own_however_it_is_reached() {
        let mut walked = chain();
        let tags: Vec<_> = (0..20).map(|_| tag(&walked.take())).collect();
        for (generation, expected) in tags.iter().enumerate() {
            let mut skipped = chain();
            assert_eq!(tag(&skipped.take_at(generation as u64)), *expected);
            assert_eq!(skipped.generation(), generation as u64 + 1);
            assert!(!tags[..generation].contains(expected));
        }
    }
}
