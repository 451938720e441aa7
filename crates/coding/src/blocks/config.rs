//! Configuration that both ends of a stream of blocks share.

use crate::code::Code;

/// Order in which a receiver delivers messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each message after all earlier ones; blocks beyond the open ones are refused.
    #[default]
    InOrder,
    /// Each message is delivered once it is known. A block newer than the open ones closes the oldest.
    AsKnown,
}

/// The shape of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockConfig {
    /// The code.
    pub code: Code,
    /// Source messages per block, at most [`MOST_SOURCES`](crate::MOST_SOURCES).
    pub sources: usize,
    /// Payload of a repair symbol in bytes: the longest message plus 2. 0 omits the payloads, so that only
    /// coefficients are sent and eliminated.
    pub length: usize,
    /// Maximum number of open blocks.
    pub blocks: usize,
    /// Order in which messages are delivered.
    pub order: Order,
}
