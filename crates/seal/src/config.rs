//! What a seal is made of, and its limits.

use crate::aead::Ciphers;
use crate::identity::{Access, SecretKey};

/// What a seal is made of.
#[derive(Clone, Debug)]
pub struct SealConfig {
    /// This side's static key.
    pub identity: SecretKey,
    /// Who may connect. Without grants no peer may, and nothing is answered.
    pub access: Access,
    /// The ciphers to offer, and to choose from.
    pub ciphers: Ciphers,
    /// Sessions at a time; peers that would open more are not answered.
    pub max_sessions: usize,
}

impl SealConfig {
    /// With the ciphers that this processor is made for, and room for 2048 sessions.
    pub fn new(identity: SecretKey, access: Access) -> Self {
        SealConfig { identity, access, ciphers: Ciphers::available(), max_sessions: 2048 }
    }
}
