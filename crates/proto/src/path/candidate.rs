//! An address to which a path may have moved.

use smallvec::SmallVec;

use super::tuple::FourTuple;
use crate::time::Instant;

/// Heartbeats to a candidate that may still be answered.
pub(crate) const PROBES: usize = 4;

/// Where a path goes on if a nonce comes back from there. Until then it is where it was: a peer that reports a
/// move may be unable to receive there.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub tuple: FourTuple,
    /// Bytes that may still go there, headers counted; below zero when what is answered is yet to be counted.
    pub credit: isize,
    /// The report that named it.
    pub serial: Option<u32>,
    pub nonces: SmallVec<[(u64, Instant); PROBES]>,
    pub next_probe: Instant,
}

impl Candidate {
    /// When the heartbeat with `nonce` left, if it may still be answered.
    pub fn sent(&self, nonce: u64) -> Option<Instant> {
        self.nonces.iter().find(|(n, _)| *n == nonce).map(|(_, at)| *at)
    }
}
