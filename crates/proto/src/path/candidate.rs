//! A candidate address, to which a path may have moved.

use smallvec::SmallVec;

use super::tuple::FourTuple;
use crate::time::Instant;

/// Maximum number of heartbeats to a candidate address that may still be answered.
pub(crate) const PROBES: usize = 4;

/// A candidate address. A path moves to it if a nonce returns from there. Until then the path keeps its address. The
/// reason is that a peer that reports a move may be unable to receive at the new address.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub tuple: FourTuple,
    /// Number of bytes, including headers, that may still be sent to the candidate address. The number of bytes is
    /// negative until the packet that caused the present answer is counted.
    pub credit: isize,
    /// Serial of the report that named the candidate address.
    pub serial: Option<u32>,
    pub nonces: SmallVec<[(u64, Instant); PROBES]>,
    pub next_probe: Instant,
}

impl Candidate {
    /// Returns the time at which the heartbeat with `nonce` was sent, if it may still be answered.
    pub fn sent(&self, nonce: u64) -> Option<Instant> {
        self.nonces.iter().find(|(n, _)| *n == nonce).map(|(_, at)| *at)
    }
}
