//! Configuration of a seal, and its limits.

use crate::aead::Ciphers;
use crate::identity::{Access, SecretKey};
use crate::keys::KEYS_HEAP;
use crate::wire::RouteBytes;

/// Heap of a session without its keys, in bytes: connection ids, paths and their addresses. ASSUMED: a
/// generous estimate.
const PATHS_HEAP: usize = 16 << 10;

/// Configuration of a seal.
#[derive(Clone, Debug)]
pub struct SealConfig {
    /// Static key of this side.
    pub identity: SecretKey,
    /// Keys that may connect. Without grants no peer may connect, and handshakes get no answer.
    pub access: Access,
    /// The ciphers to offer, and to choose from.
    pub ciphers: Ciphers,
    /// Maximum number of sessions. Further senders receive the answer "no room".
    pub max_sessions: usize,
    /// Maximum number of sessions per key. A further one ends the session of that key that was silent for
    /// longest, so one sender cannot take every place, and a restarted sender does not wait for its abandoned
    /// sessions.
    pub max_sessions_of_key: usize,
    /// Route bytes that this side assigns to initiators. `None`: those that each has drawn.
    pub route: Option<RouteBytes>,
}

impl SealConfig {
    /// Maximum heap of a session in bytes, for any input of its peer: the current keys, and for a while the
    /// previous ones.
    pub const SESSION_HEAP: usize = 2 * KEYS_HEAP + PATHS_HEAP;

    /// A configuration with the ciphers that suit this processor, and room for 2048 sessions, 8 per key.
    pub fn new(identity: SecretKey, access: Access) -> Self {
        let ciphers = Ciphers::available();
        SealConfig { identity, access, ciphers, max_sessions: 2048, max_sessions_of_key: 8, route: None }
    }
}
