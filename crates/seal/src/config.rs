//! Configuration of a seal, and its limits.

use crate::aead::Ciphers;
use crate::identity::{Access, SecretKey};
use crate::keys::KEYS_HEAP;
use crate::wire::RouteBytes;

/// Heap that a session needs in addition to its keys, in bytes: connection ids, paths and their addresses. ASSUMED: a
/// generous estimate.
const PATHS_HEAP: usize = 16 << 10;

/// Configuration of a seal.
#[derive(Clone, Debug)]
pub struct SealConfig {
    /// Static key of this side.
    pub identity: SecretKey,
    /// The keys that may connect. If there are no grants, no peer may connect, and handshakes get no answer.
    pub access: Access,
    /// The ciphers that this side offers or accepts.
    pub ciphers: Ciphers,
    /// Maximum number of sessions. When they are all in use, a further sender gets the answer "no room".
    pub max_sessions: usize,
    /// Maximum number of sessions per key. One more session ends the one of that key that has been silent for the
    /// longest time. So one sender cannot use up all sessions, and a sender that restarts does not have to wait until
    /// its old sessions expire.
    pub max_sessions_of_key: usize,
    /// Route bytes that this side assigns to initiators. `None`: each initiator keeps the random ones that it chose.
    pub route: Option<RouteBytes>,
}

impl SealConfig {
    /// Maximum heap of a session in bytes, whatever its peer sends. It includes the current keys and the previous ones,
    /// which are kept for a short time.
    pub const SESSION_HEAP: usize = 2 * KEYS_HEAP + PATHS_HEAP;

    /// A configuration with the ciphers that suit this processor. It allows 2048 sessions in total, and 8 per key.
    pub fn new(identity: SecretKey, access: Access) -> Self {
        let ciphers = Ciphers::available();
        SealConfig { identity, access, ciphers, max_sessions: 2048, max_sessions_of_key: 8, route: None }
    }
}
