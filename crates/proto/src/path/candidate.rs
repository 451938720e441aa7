//! An address to which a path may have moved.

use smallvec::SmallVec;

use super::tuple::FourTuple;
use crate::time::Instant;

/// Maximum number of heartbeats to a candidate that may still be answered.
pub(crate) const PROBES: usize = 4;

/// An address to which a path moves if a nonce returns from there. Until then the path keeps its address, because a
/// peer that reports a move may be unable to receive packets at the new address.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub tuple: FourTuple,
    /// Number of bytes that may still be sent to the candidate, including headers. It is negative until the packet that
    /// is being answered is counted.
    pub credit: isize,
    /// Serial of the report that named the candidate.
    pub serial: Option<u32>,
    pub nonces: SmallVec<[(u64, Instant); PROBES]>,
    pub next_probe: Instant,
}

impl Candidate {
    /// Time at which the heartbeat with `nonce` left, if it may still be answered.
    pub fn sent(&self, nonce: u64) -> Option<Instant> {
        self.nonces.iter().find(|(n, _)| *n == nonce).map(|(_, at)| *at)
    }
}
