//! Secrets, and what is derived from them (HKDF-SHA-256, RFC 5869).

use zeroize::{Zeroize, ZeroizeOnDrop};

/// 32 secret bytes, wiped when they are dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secret(pub(crate) [u8; 32]);
