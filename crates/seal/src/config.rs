//! Configuration of a seal, and its limits.

use crate::aead::Ciphers;
use crate::identity::{Access, SecretKey};
use crate::keys::KEYS_HEAP;
use crate::wire::RouteBytes;

/// Heap in bytes that a session needs in addition to its keys, for connection ids, paths and their addresses. ASSUMED:
/// a generous estimate.
const PATHS_HEAP: usize = 16 << 10;

/// Configuration of a seal.
#[derive(Clone, Debug)]
pub struct SealConfig {
    /// Static key of this side.
    pub identity: SecretKey,
    /// The keys that may connect to this side. Without grants no peer may connect, and handshakes get no answer.
    pub access: Access,
    /// The ciphers that this side offers or accepts.
    pub ciphers: Ciphers,
    /// Maximum number of sessions. When all sessions are in use, a further sender gets the answer "no room".
    pub max_sessions: usize,
    /// Maximum number of sessions of one key. A further session of the key ends the key's session that has been silent
    /// for the longest time. One sender therefore cannot occupy all sessions. A sender that restarts does not have to
    /// wait until its old sessions expire.
    pub max_sessions_of_key: usize,
    /// Route bytes that this side assigns to initiators. `None` means that each initiator keeps the random route bytes
    /// that it chose.
    pub route: Option<RouteBytes>,
}

impl SealConfig {
    /// Maximum heap in bytes of a session, for any datagrams of its peer. This heap includes the current keys, and the
    /// previous keys, which are kept for a short time.
    pub const SESSION_HEAP: usize = 2 * KEYS_HEAP + PATHS_HEAP;

    /// Returns a configuration with the ciphers that suit this processor. The configuration allows 2048 sessions in
    /// total, and 8 per key.
    pub fn new(identity: SecretKey, access: Access) -> Self {
        let ciphers = Ciphers::available();
        SealConfig { identity, access, ciphers, max_sessions: 2048, max_sessions_of_key: 8, route: None }
    }
}
