//! Results and counters of receivers.

use thiserror::Error;

use crate::codec::Outcome;
use crate::symbol::Malformed;

/// Reason why a symbol was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The bytes are not a symbol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The symbol is for blocks, but the stream uses a sliding window, or the reverse.
    #[error("a symbol of the other kind of stream")]
    Foreign,
    /// The payload is longer than the symbols of this stream.
    #[error("a payload of {0} bytes is longer than a symbol")]
    Overlong(usize),
    /// All messages that the symbol covers were already delivered or given up.
    #[error("older than the open blocks or the window")]
    Stale,
    /// The symbol is too far ahead for the capacity of the receiver.
    #[error("too far ahead of the open blocks or the window")]
    Ahead,
    /// The symbol contradicts earlier symbols, or the code has no such symbol.
    #[error("contradicts what is known of its block or code")]
    Contradictory,
}

/// Counters of symbols by their effect, and of messages by how they were received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Symbols that raised a rank.
    pub innovative: u64,
    /// Symbols that added no information.
    pub redundant: u64,
    /// Symbols that were malformed, longer than allowed, or of the other kind of stream.
    pub malformed: u64,
    /// Symbols that are older than the open blocks or the window.
    pub stale: u64,
    /// Symbols that are too far ahead of the open blocks or the window.
    pub ahead: u64,
    /// Symbols that contradict others.
    pub contradictory: u64,
    /// Messages that were delivered and whose own symbol arrived.
    pub received: u64,
    /// Messages that were delivered and were computed from other symbols.
    pub recovered: u64,
    /// Source symbols that were recovered but contain no valid message. This shows that a symbol was forged.
    pub damaged: u64,
}

impl Statistics {
    pub(crate) fn count(&mut self, taken: Result<Outcome, Refusal>) {
        let counter = match taken {
            Ok(Outcome::Innovative) => &mut self.innovative,
            Ok(Outcome::Redundant) => &mut self.redundant,
            Ok(Outcome::Refused) | Err(Refusal::Contradictory) => &mut self.contradictory,
            Err(Refusal::Malformed(_) | Refusal::Foreign | Refusal::Overlong(_)) => &mut self.malformed,
            Err(Refusal::Stale) => &mut self.stale,
            Err(Refusal::Ahead) => &mut self.ahead,
        };
        *counter += 1;
    }

    pub(crate) fn give(&mut self, recovered: bool) {
        *(if recovered { &mut self.recovered } else { &mut self.received }) += 1;
    }

    /// Number of symbols dropped.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.malformed + self.stale + self.ahead + self.contradictory
    }
}
