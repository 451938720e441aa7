//! The next chunk to leave.

use crate::policy::{Importance, PathId, PathSet, SymbolChoice};
use crate::wire::Tsn;

/// The next chunk to leave.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::association) struct PendingChunk {
    pub path: PathId,
    pub source: ChunkSource,
    /// Payload bytes.
    pub len: usize,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::association) enum ChunkSource {
    /// A lost chunk, to be retransmitted, with copies to follow on these paths.
    Lost(Tsn, PathSet),
    /// A further copy of a chunk just sent.
    Copy(Tsn),
    /// The next chunk of the first message of this importance (`None`: of the oldest message), with copies to follow on
    /// these paths.
    New(Option<Importance>, PathSet),
    /// A symbol of a block, as the scheduler chose it.
    Symbol { block: u32, what: SymbolChoice },
    /// The repair symbol that is due in addition to messages.
    Repair,
}
