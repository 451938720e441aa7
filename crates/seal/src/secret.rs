//! Secrets, and what is derived from them (HKDF-SHA-256, RFC 5869).

use core::fmt;

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Separates what is derived here from what another protocol derives from the same bytes.
const PREFIX: &str = "strandcast ";

/// 32 secret, uniformly random bytes, overwritten when they are dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    /// A secret of these bytes. The caller overwrites its own copy.
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Secret(bytes)
    }

    /// Another 32-byte secret: HKDF-Expand-Label (RFC 8446 §7.1).
    pub(crate) fn derive(&self, label: &str, context: &[u8]) -> Secret {
        let mut derived = Secret([0; 32]);
        self.expand(label, context, &mut derived.0);
        derived
    }

    /// Fills `out` with HKDF-Expand-Label (RFC 8446 §7.1, with "strandcast " in place of "tls13 "). Different labels,
    /// contexts and lengths give independent bytes. Labels and contexts are constants or a few bytes: below 240 each.
    pub(crate) fn expand(&self, label: &str, context: &[u8], out: &mut [u8]) {
        self.expand_label(PREFIX, label, context, out);
    }

    fn expand_label(&self, prefix: &str, label: &str, context: &[u8], out: &mut [u8]) {
        debug_assert!(prefix.len() + label.len() < 256 && context.len() < 256 && out.len() < 1 << 16);
        let length = (out.len() as u16).to_be_bytes();
        let label_length = [(prefix.len() + label.len()) as u8];
        let context_length = [context.len() as u8];
        let info: [&[u8]; 6] =
            [&length, &label_length, prefix.as_bytes(), label.as_bytes(), &context_length, context];
        self.expand_info(&info, out);
    }

    /// HKDF-Expand (RFC 5869 §2.3). The secret is uniformly random, so that nothing is to be extracted (§3.3).
    fn expand_info(&self, info: &[&[u8]], out: &mut [u8]) {
        Hkdf::<Sha256>::from_prk(&self.0)
            .expect("32 bytes are a key of SHA-256")
            .expand_multi_info(info, out)
            .expect("no more than 255 blocks are ever asked for");
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
