//! Measurements of a path by a host that receives data.

use crate::time::{Duration, Instant};

/// Round-trip time of a path by which data arrive, measured by the receiver of the data.
#[derive(Debug, Default)]
pub(crate) struct Sounding {
    /// Nonce of the heartbeat that waits for its answer, and the time at which it was sent.
    pub pending: Option<(u64, Instant)>,
    /// Round-trip time, computed from the last answers.
    pub rtt: Option<Duration>,
    /// Time of the last heartbeat, and the bytes that had arrived before it.
    pub last: (Instant, u64),
}
