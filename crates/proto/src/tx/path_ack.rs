//! What a SACK means.

use smallvec::SmallVec;
use strandcast_coding::symbol::Header;

use crate::policy::{AckInfo, ChunkInfo, DeclaredLost, PathId, PathSet};
use crate::time::Duration;
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
    /// The round-trip time of [`AckInfo::rtt`] as it was measured.
    pub measured: Option<Duration>,
    /// Payload bytes acknowledged of chunks that were sent once, here.
    pub payload: u64,
    /// The longest time since a chunk sent here, and known to have arrived from here, was first overtaken.
    pub overtaken_for: Duration,
    /// Verdicts on chunks that were declared lost here, by miss indications, and arrived.
    pub spurious: SmallVec<[DeclaredLost; 4]>,
    /// One of them was sent again, and the peer has it twice.
    pub needless_again: bool,
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
    /// Bytes of user data of transmissions that were not needed, as is known now.
    pub needless: u64,
    /// The symbols that arrived, and the path that is credited first; `None`: one of several, unknown which.
    pub symbols: Vec<(Header, Option<PathId>)>,
    /// Which chunks arrived by which path, if the scheme wants to know.
    pub deliveries: Deliveries,
}

/// The chunks that a SACK acknowledges, by name. Empty unless they are wanted.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    /// In the order they are read; `None`: by an unknown path.
    pub credited: Vec<(Tsn, Option<PathId>)>,
    /// Those that are in the queue no more, in the order of TSNs.
    popped: Vec<ChunkInfo>,
    /// Copies settled since the last SACK, with their paths.
    pub settled: Vec<(PathId, ChunkInfo)>,
}

impl Deliveries {
    /// Forgets the last SACK's, and keeps the memory.
    pub fn clear(&mut self) {
        self.credited.clear();
        self.popped.clear();
        self.settled.clear();
    }

    /// A SACK newly acknowledges `tsn`, which came `by` these paths.
    pub fn name(&mut self, tsn: Tsn, by: PathSet) {
        if by.is_empty() {
            self.credited.push((tsn, None));
        }
        self.credited.extend(by.iter().map(|path| (tsn, Some(path))));
    }

    /// `chunk` leaves the queue; it is kept if this SACK acknowledged it.
    pub fn keep(&mut self, chunk: &ChunkInfo) {
        if self.credited.last().is_some_and(|(tsn, _)| *tsn == chunk.tsn) {
            self.popped.push(chunk.clone());
        }
    }

    /// The chunk `tsn`, if it left the queue.
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
