//! Results and counters of receivers of symbols.

use thiserror::Error;

use crate::codec::Outcome;
use crate::symbol::Malformed;

/// Reason for dropping a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The bytes are not a symbol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The symbol is for blocks and the stream uses a sliding window, or the reverse.
    #[error("a symbol of the other kind of stream")]
    Foreign,
    /// The payload is longer than symbols of this stream are.
    #[error("a payload of {0} bytes is longer than a symbol")]
    Overlong(usize),
    /// All messages that the symbol covers were already delivered or given up.
    #[error("older than the open blocks or the window")]
    Stale,
    /// The symbol is too far ahead for the receiver's capacity.
    #[error("too far ahead of the open blocks or the window")]
    Ahead,
    /// The symbol contradicts earlier symbols, or the code has no such symbol.
    #[error("contradicts what is known of its block or code")]
    Contradictory,
}

/// Counters of symbols by their effect, and of messages by the way in which they were received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of symbols that increased a rank.
    pub innovative: u64,
    /// Number of symbols that added no information.
    pub redundant: u64,
    /// Number of symbols that were malformed, longer than permitted, or for the other kind of stream.
    pub malformed: u64,
    /// Number of symbols older than the open blocks or the window.
    pub stale: u64,
    /// Number of symbols too far ahead of the open blocks or the window.
    pub ahead: u64,
    /// Number of symbols that contradict earlier symbols.
    pub contradictory: u64,
    /// Number of delivered messages whose own symbol arrived.
    pub received: u64,
    /// Number of delivered messages that were computed from other symbols.
    pub recovered: u64,
    /// Number of recovered source symbols that contain no valid message. A recovered symbol without a valid message
    /// shows that a repair symbol was forged.
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

    /// Returns the number of dropped symbols.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.malformed + self.stale + self.ahead + self.contradictory
    }
}
