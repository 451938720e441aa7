//! What a seal is made of, and its limits.

use crate::aead::Ciphers;
use crate::identity::{Access, SecretKey};
use crate::keys::KEYS_HEAP;

/// Heap of a session beside its keys in bytes: connection ids, paths and their addresses. ASSUMED: a generous estimate.
const PATHS_HEAP: usize = 16 << 10;

/// What a seal is made of.
#[derive(Clone, Debug)]
pub struct SealConfig {
    /// This side's static key.
    pub identity: SecretKey,
    /// Who may connect. Without grants no peer may, and nothing is answered.
    pub access: Access,
    /// The ciphers to offer, and to choose from.
    pub ciphers: Ciphers,
    /// Sessions at a time; those who would open more get the answer that there is no room.
    pub max_sessions: usize,
    /// Sessions at a time of one sender's key. When one more comes, the one that was silent for longest ends: so one
    /// sender can't take every place, and one that was restarted needs none that it has left behind.
    pub max_sessions_of_key: usize,
}

impl SealConfig {
    /// Maximum heap of a session in bytes, whatever its peer sends: current keys, and for a while those before them.
    pub const SESSION_HEAP: usize = 2 * KEYS_HEAP + PATHS_HEAP;

    /// With the ciphers that this processor is made for, and room for 2048 sessions, 8 of each sender.
    pub fn new(identity: SecretKey, access: Access) -> Self {
        let ciphers = Ciphers::available();
        SealConfig { identity, access, ciphers, max_sessions: 2048, max_sessions_of_key: 8 }
    }
}
