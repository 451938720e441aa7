//! What both ends of a stream of blocks agree on.

use crate::code::Code;

/// In which order a receiver gives messages out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each message when those before it have been given out; blocks ahead of those held open are refused.
    #[default]
    InOrder,
    /// Each message once it is known; a newer block than those held open closes the oldest.
    AsKnown,
}

/// The shape of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockConfig {
    /// The code.
    pub code: Code,
    /// Source messages per block, at most [`MOST_SOURCES`](crate::MOST_SOURCES).
    pub sources: usize,
    /// Bytes of a repair symbol's payload: those of the longest message and 2. With 0 messages have no bytes, and
    /// coefficients alone are sent and eliminated.
    pub length: usize,
    /// Blocks held open at once.
    pub blocks: usize,
    /// In which order messages are given out.
    pub order: Order,
}
