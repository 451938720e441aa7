//! What a SACK means.

use crate::policy::AckInfo;
use crate::wire::serial::Tsn;

/// What is collected for one path while a SACK is read.
#[derive(Debug)]
pub(crate) struct PathAck {
    pub info: AckInfo,
    /// The earliest original and retransmission in flight before the SACK.
    pub fronts: (Option<Tsn>, Option<Tsn>),
    /// The lowest TSN in flight before the SACK.
    pub earliest: Option<Tsn>,
    /// What was in flight earliest on the path was a copy that is settled since the last SACK.
    pub settled_front: bool,
    /// An acknowledgement that can only be of a transmission on this path.
    pub alive: bool,
    /// The last chunk it acknowledges that a timeout took for lost although it arrived.
    pub late: Option<Tsn>,
    /// Payload bytes acknowledged of chunks that were sent once, here.
    pub payload: u64,
}

/// What a SACK means: for each path slot, and for the application.
#[derive(Debug, Default)]
pub(crate) struct AckOutcome {
    /// By path slot.
    pub paths: Vec<PathAck>,
    /// Chunks that are acknowledged cumulatively now, and their payload bytes.
    pub chunks: usize,
    pub delivered: usize,
    /// Messages whose last chunk is among them.
    pub messages: u64,
    /// Chunks that had been declared lost.
    pub spurious: u64,
}

impl PathAck {
    /// Counts one chunk of `len` bytes as acknowledged.
    pub fn credit(&mut self, len: u64) {
        self.info.newly_acked += len;
        self.info.newly_acked_chunks += 1;
    }

    /// `tsn` is known to have arrived by this path.
    pub fn arrived(&mut self, tsn: Tsn) {
        let range = &mut self.info.newly_acked_range;
        *range = Some(range.map_or((tsn, tsn), |(lo, hi)| (lower(lo, tsn), higher(hi, tsn))));
    }
}

pub(crate) fn lower(a: Tsn, b: Tsn) -> Tsn {
    if a.is_before(b) { a } else { b }
}

pub(crate) fn higher(a: Tsn, b: Tsn) -> Tsn {
    if a.is_after(b) { a } else { b }
}
