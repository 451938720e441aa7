//! Static keys and tokens.

/// A static key's public half: who somebody is.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PublicKey(pub [u8; 32]);
