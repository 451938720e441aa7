//! An address to which a path may have moved.

use smallvec::SmallVec;

use super::tuple::FourTuple;
use crate::time::Instant;

/// Maximum number of heartbeats to a candidate that may still be answered.
pub(crate) const PROBES: usize = 4;

/// An address to which a path moves if a nonce returns from there. Until then the path keeps its address: a peer that
/// reports a move may be unable to receive there.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub tuple: FourTuple,
    /// Bytes that may still be sent there, including headers; below zero until the answered packet is counted.
    pub credit: isize,
    /// Serial of the report that named it.
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
