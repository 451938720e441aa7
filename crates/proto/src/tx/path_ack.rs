//! Results of processing a SACK.

use smallvec::SmallVec;
use strandcast_coding::symbol::Header;

use crate::policy::{AckInfo, ChunkInfo, DeclaredLost, PathId, PathSet};
use crate::time::Duration;
use crate::wire::serial::Tsn;

/// Data about one path, collected while a SACK is processed.
#[derive(Debug)]
pub(crate) struct PathAck {
    pub info: AckInfo,
    /// TSNs of the earliest original and of the earliest retransmission that were in flight before the SACK.
    pub fronts: (Option<Tsn>, Option<Tsn>),
    /// Lowest TSN that was in flight before the SACK.
    pub earliest: Option<Tsn>,
    /// True if the earliest transmission in flight on the path was a copy about which the peer has reported since the
    /// last SACK.
    pub settled_front: bool,
    /// True if the SACK acknowledged a chunk that was sent only on this path.
    pub alive: bool,
    /// TSN of the last acknowledged chunk that arrived although a timeout had declared it lost.
    pub late: Option<Tsn>,
    /// Measured round-trip time for [`AckInfo::rtt`], before the correction for the peer's delay.
    pub measured: Option<Duration>,
    /// Acknowledged payload bytes of chunks that were sent once and on this path.
    pub payload: u64,
    /// Longest lateness of an acknowledged chunk: the time since a SACK first missed it. Only chunks count that were
    /// sent on this path and are known to have arrived by it.
    pub overtaken_for: Duration,
    /// Longest lateness of an acknowledged chunk that seems to have arrived by this path, because the acknowledgement
    /// came soon after a retransmission by another path.
    pub seems_overtaken_for: Duration,
    /// Declarations of loss, by miss indications on this path, of chunks that are now known to have arrived.
    pub spurious: SmallVec<[DeclaredLost; 4]>,
    /// True if one of the acknowledged chunks was retransmitted and the peer received it twice.
    pub needless_again: bool,
}

/// Results of a SACK for each path slot, and results for the application.
#[derive(Debug, Default)]
pub(crate) struct AckOutcome {
    /// Results by path slot.
    pub paths: Vec<PathAck>,
    /// Number of chunks that the SACK newly acknowledges cumulatively. `delivered` is their number of payload bytes.
    pub chunks: usize,
    pub delivered: usize,
    /// Number of messages whose last chunk is among these chunks.
    pub messages: u64,
    /// Number of acknowledged chunks that had been declared lost.
    pub spurious: u64,
    /// Bytes of user data of transmissions that are now known to be needless.
    pub needless: u64,
    /// Symbols that arrived, each with the path to which it is credited first. The path is `None` if the symbol arrived
    /// by one of several paths and it is unknown which.
    pub symbols: Vec<(Header, Option<PathId>)>,
    /// Chunks that arrived and their paths. The arrivals of chunks are recorded if the scheme requests them.
    pub deliveries: Deliveries,
}

/// Chunks that a SACK newly acknowledges, by TSN. The lists are empty unless the scheme requests them.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    /// TSNs in the order in which the SACK was read, each with its path of arrival; `None` if this path is unknown.
    pub credited: Vec<(Tsn, Option<PathId>)>,
    /// Acknowledged chunks that were removed from the retransmission queue, in the order of TSNs.
    popped: Vec<ChunkInfo>,
    /// Copies about which the peer has reported since the last SACK, with their paths.
    pub settled: Vec<(PathId, ChunkInfo)>,
}

impl Deliveries {
    /// Drops the entries of the last SACK. The memory stays allocated.
    pub fn clear(&mut self) {
        self.credited.clear();
        self.popped.clear();
        self.settled.clear();
    }

    /// Records that a SACK newly acknowledges `tsn`. The paths of its arrival are `by`.
    pub fn name(&mut self, tsn: Tsn, by: PathSet) {
        if by.is_empty() {
            self.credited.push((tsn, None));
        }
        self.credited.extend(by.iter().map(|path| (tsn, Some(path))));
    }

    /// Records `chunk`, which is removed from the queue, if this SACK acknowledged it.
    pub fn keep(&mut self, chunk: &ChunkInfo) {
        if self.credited.last().is_some_and(|(tsn, _)| *tsn == chunk.tsn) {
            self.popped.push(chunk.clone());
        }
    }

    /// Returns the chunk `tsn`, if it was removed from the queue.
    pub fn popped(&self, tsn: Tsn) -> Option<&ChunkInfo> {
        let first = self.popped.first()?.tsn;
        let at = self.popped.binary_search_by_key(&(tsn - first), |c| c.tsn - first).ok()?;
        Some(&self.popped[at])
    }
}

impl PathAck {
    /// Counts one chunk of `len` bytes as acknowledged on this path.
    pub fn credit(&mut self, len: u64) {
        self.info.newly_acked += len;
        self.info.newly_acked_chunks += 1;
    }

    /// Records that `tsn` is known to have arrived by this path.
    pub fn arrived(&mut self, tsn: Tsn) {
        let range = &mut self.info.newly_acked_range;
        *range = Some(range.map_or((tsn, tsn), |(lo, hi)| (lower(lo, tsn), higher(hi, tsn))));
        if tsn.is_after(self.info.cum_tsn) {
            let lowest = &mut self.info.lowest_gap_acked;
            *lowest = Some(lowest.map_or(tsn, |lo| lower(lo, tsn)));
        }
    }
}

pub(crate) fn lower(a: Tsn, b: Tsn) -> Tsn {
    if a.is_before(b) { a } else { b }
}

pub(crate) fn higher(a: Tsn, b: Tsn) -> Tsn {
    if a.is_after(b) { a } else { b }
}
