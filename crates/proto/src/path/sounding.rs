//! The receiver's measurements of a path.

use crate::time::{Duration, Instant};

/// The round trip of a path by which data arrive, measured by the receiver.
#[derive(Debug, Default)]
pub(crate) struct Sounding {
    /// The heartbeat that is under way.
    pub pending: Option<(u64, Instant)>,
    /// What the last ones took.
    pub rtt: Option<Duration>,
    /// When the last one left, and what had arrived by then.
    pub last: (Instant, u64),
}
