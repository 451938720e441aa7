//! Results of a SACK.

use smallvec::SmallVec;
use strandcast_coding::symbol::Header;

use crate::policy::{AckInfo, ChunkInfo, DeclaredLost, PathId, PathSet};
use crate::time::Duration;
use crate::wire::serial::Tsn;

/// Data collected for one path while a SACK is read.
#[derive(Debug)]
pub(crate) struct PathAck {
    pub info: AckInfo,
    /// Earliest original and earliest retransmission in flight before the SACK.
    pub fronts: (Option<Tsn>, Option<Tsn>),
    /// Lowest TSN in flight before the SACK.
    pub earliest: Option<Tsn>,
    /// True if the earliest transmission in flight on the path was a copy that has been settled since the last SACK.
    pub settled_front: bool,
    /// True if an acknowledged chunk was sent only on this path.
    pub alive: bool,
    /// Last acknowledged chunk that a timeout declared lost although it arrived.
    pub late: Option<Tsn>,
    /// Round-trip time of [`AckInfo::rtt`] as measured, without a correction for the peer's delay.
    pub measured: Option<Duration>,
    /// Acknowledged payload bytes of chunks that were sent once, on this path.
    pub payload: u64,
    /// Longest time since the first overtaking of a chunk that was sent on this path, and is known to have arrived by
    /// it.
    pub overtaken_for: Duration,
    /// Declarations of loss, by miss indications on this path, of chunks that arrived.
    pub spurious: SmallVec<[DeclaredLost; 4]>,
    /// True if one of the chunks was retransmitted and the peer has received it twice.
    pub needless_again: bool,
}

/// Results of a SACK for each path slot, and for the application.
#[derive(Debug, Default)]
pub(crate) struct AckOutcome {
    /// Results by path slot.
    pub paths: Vec<PathAck>,
    /// Number of chunks that are now acknowledged cumulatively, and their payload bytes.
    pub chunks: usize,
    pub delivered: usize,
    /// Number of messages whose last chunk is among these chunks.
    pub messages: u64,
    /// Number of chunks that had been declared lost.
    pub spurious: u64,
    /// Bytes of user data of transmissions that turn out to be needless.
    pub needless: u64,
    /// Symbols that arrived, each with the path that is credited first; `None` if it arrived by one of several paths
    /// and the path is unknown.
    pub symbols: Vec<(Header, Option<PathId>)>,
    /// Chunks that arrived, with their paths, if the scheme requests them.
    pub deliveries: Deliveries,
}

/// Chunks that a SACK acknowledges, by TSN. The lists are empty unless the scheme requests them.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    /// TSNs in the order in which they are read, each with its path; `None` if the path is unknown.
    pub credited: Vec<(Tsn, Option<PathId>)>,
    /// Acknowledged chunks that have left the queue, in the order of TSNs.
    popped: Vec<ChunkInfo>,
    /// Copies settled since the last SACK, with their paths.
    pub settled: Vec<(PathId, ChunkInfo)>,
}

impl Deliveries {
    /// Drops the entries of the last SACK, and keeps the memory.
    pub fn clear(&mut self) {
        self.credited.clear();
        self.popped.clear();
        self.settled.clear();
    }

    /// Records that a SACK newly acknowledges `tsn`, which arrived by the paths `by`.
    pub fn name(&mut self, tsn: Tsn, by: PathSet) {
        if by.is_empty() {
            self.credited.push((tsn, None));
        }
        self.credited.extend(by.iter().map(|path| (tsn, Some(path))));
    }

    /// Keeps `chunk`, which leaves the queue, if this SACK acknowledged it.
    pub fn keep(&mut self, chunk: &ChunkInfo) {
        if self.credited.last().is_some_and(|(tsn, _)| *tsn == chunk.tsn) {
            self.popped.push(chunk.clone());
        }
    }

    /// Returns the chunk `tsn`, if it left the queue.
    pub fn popped(&self, tsn: Tsn) -> Option<&ChunkInfo> {
        let first = self.popped.first()?.tsn;
        let at = self.popped.binary_search_by_key(&(tsn - first), |c| c.tsn - first).ok()?;
        Some(&self.popped[at])
    }
}

impl PathAck {
    /// Counts one chunk of `len` bytes as acknowledged.
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
