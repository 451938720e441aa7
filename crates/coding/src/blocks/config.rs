//! The configuration of a stream of blocks. Both sides of the stream must have the same one.

use crate::code::Code;

/// Order in which a receiver delivers messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each message is delivered after all earlier ones. Symbols of a block newer than the open blocks are refused.
    #[default]
    InOrder,
    /// Each message is delivered as soon as it is known. If a symbol of a newer block arrives, the oldest open block is
    /// closed.
    AsKnown,
}

/// The format of a stream's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockConfig {
    /// The code.
    pub code: Code,
    /// Number of source messages per block, at most [`MOST_SOURCES`](crate::MOST_SOURCES).
    pub sources: usize,
    /// Length of the payload of a repair symbol in bytes. It is the length of the longest message plus 2. With 0,
    /// repair symbols have no payloads: only coefficients are sent and eliminated.
    pub length: usize,
    /// Maximum number of blocks that are open at the same time.
    pub blocks: usize,
    /// Order in which messages are delivered.
    pub order: Order,
}
