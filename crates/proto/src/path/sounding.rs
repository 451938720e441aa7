//! The receiver's measurements of a path.

use crate::time::{Duration, Instant};

/// Round-trip time of a path by which data arrive, measured by the receiver.
#[derive(Debug, Default)]
pub(crate) struct Sounding {
    /// Nonce and time of the heartbeat that awaits its answer.
    pub pending: Option<(u64, Instant)>,
    /// Round-trip time from the last answers.
    pub rtt: Option<Duration>,
    /// Time of the last heartbeat, and the bytes that had arrived by then.
    pub last: (Instant, u64),
}
