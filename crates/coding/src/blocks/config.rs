//! Configuration of a stream of coded blocks. Both ends of the stream need an identical configuration.

use crate::code::Code;

/// Order in which a receiver delivers the messages of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each message is delivered after all earlier messages. Symbols of blocks that are newer than the open blocks are
    /// refused.
    #[default]
    InOrder,
    /// Each message is delivered as soon as it is known. If a symbol of a newer block arrives, the oldest open block is
    /// closed to make room.
    AsKnown,
}

/// Configuration of the blocks of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockConfig {
    /// The erasure code.
    pub code: Code,
    /// Number of source messages per block, at most [`MOST_SOURCES`](crate::MOST_SOURCES).
    pub sources: usize,
    /// Length in bytes of a repair symbol's payload. The length is the length of the longest message plus 2. With 0,
    /// repair symbols have no payload: only their coefficients are sent and eliminated.
    pub length: usize,
    /// Maximum number of blocks that are open at one time.
    pub blocks: usize,
    /// Order in which messages are delivered.
    pub order: Order,
}
