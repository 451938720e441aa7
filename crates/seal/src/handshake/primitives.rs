//! Primitives that snow needs for the handshake: X25519 (RFC 7748) and BLAKE2s (RFC 7693). The cipher comes from the
//! crate `ring`.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use blake2::{Blake2s256, Digest as _};
use curve25519_dalek::MontgomeryPoint;
use snow::types;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Counter of Diffie–Hellman operations.
#[derive(Clone, Debug, Default)]
pub(super) struct DhCount(Arc<AtomicU64>);

impl DhCount {
    #[cfg(any(test, feature = "testing"))]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// X25519 that counts its operations. The operation refuses keys of small order (RFC 7748 section 6.1). With such a
/// key, any host could claim a static key that it does not own. The private key is overwritten when this object is
/// dropped.
pub(super) struct X25519 {
    private: Zeroizing<[u8; 32]>,
    public: [u8; 32],
    count: DhCount,
}

impl X25519 {
    /// Returns a state that has no key yet.
    pub fn new(count: DhCount) -> Self {
        X25519 { private: Zeroizing::new([0; 32]), public: [0; 32], count }
    }

    fn derive(&mut self) {
        self.public = MontgomeryPoint::mul_base_clamped(*self.private).to_bytes();
    }
}

impl types::Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        32
    }

    fn priv_len(&self) -> usize {
        32
    }

    fn set(&mut self, key: &[u8]) {
        self.private.copy_from_slice(key);
        self.derive();
    }

    fn generate(&mut self, random: &mut dyn types::Random) -> Result<(), snow::Error> {
        random.try_fill_bytes(&mut *self.private)?;
        self.derive();
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &*self.private
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        self.count.0.fetch_add(1, Ordering::Relaxed);
        let public = public.first_chunk().ok_or(snow::Error::Dh)?;
        let shared = MontgomeryPoint(*public).mul_clamped(*self.private).to_bytes();
        out.get_mut(..32).ok_or(snow::Error::Dh)?.copy_from_slice(&shared);
        if bool::from(shared.ct_eq(&[0; 32])) { Err(snow::Error::Dh) } else { Ok(()) }
    }
}

/// BLAKE2s with a hash of 32 bytes.
#[derive(Default)]
pub(super) struct Blake2s(Blake2s256);

impl types::Hash for Blake2s {
    fn name(&self) -> &'static str {
        "BLAKE2s"
    }

    fn block_len(&self) -> usize {
        64
    }

    fn hash_len(&self) -> usize {
        32
    }

    fn reset(&mut self) {
        self.0 = Blake2s256::new();
    }

    fn input(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn result(&mut self, out: &mut [u8]) {
        out[..32].copy_from_slice(&self.0.finalize_reset());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snow::types::{Dh as _, Hash as _};

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
    }

    /// Test vector of RFC 7748 section 6.1.
    #[test]
    fn x25519_agrees_with_the_rfc() {
        let ends = [
            (
                "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
                "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
            ),
            (
                "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
                "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
            ),
        ];
        let shared = bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        for (at, (private, public)) in ends.iter().enumerate() {
            let mut end = X25519::new(DhCount::default());
            end.set(&bytes(private));
            assert_eq!(end.pubkey(), bytes(public));
            let mut out = [0; 32];
            end.dh(&bytes(ends[1 - at].1), &mut out).expect("a key");
            assert_eq!((&out[..], end.count.get()), (&shared[..], 1));
        }
    }

    #[test]
    fn keys_of_small_order_are_refused() {
        let mut end = X25519::new(DhCount::default());
        end.set(&[7; 32]);
        for small in [[0; 32], std::array::from_fn(|i| u8::from(i == 0))] {
            assert!(end.dh(&small, &mut [0; 32]).is_err());
        }
    }

    /// Test vector of RFC 7693 appendix B.
    #[test]
    fn blake2s_agrees_with_the_rfc() {
        let (mut hash, mut out) = (Blake2s::default(), [0; 32]);
        for _ in 0..2 {
            hash.input(b"abc");
            hash.result(&mut out);
            assert_eq!(out[..], bytes("508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"));
        }
    }
}
