//! The chunk that is sent next.

use crate::policy::{Importance, PathId, PathSet, SymbolChoice};
use crate::wire::Tsn;

/// The chunk that is sent next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::association) struct PendingChunk {
    pub path: PathId,
    pub source: ChunkSource,
    /// Number of payload bytes.
    pub len: usize,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::association) enum ChunkSource {
    /// A lost chunk that is retransmitted. Copies follow on these paths.
    Lost(Tsn, PathSet),
    /// A further copy of the chunk that was just sent.
    Copy(Tsn),
    /// The next chunk of the first message of this importance, or of the oldest message for `None`. Copies follow on
    /// these paths.
    New(Option<Importance>, PathSet),
    /// A symbol of a coded block, chosen by the scheduler.
    Symbol { block: u32, what: SymbolChoice },
    /// A repair symbol that is due in addition to messages.
    Repair,
}
