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
    /// The symbol belongs to blocks in a stream with a sliding window, or the reverse.
    #[error("a symbol of the other kind of stream")]
    Foreign,
    /// The payload is longer than this stream's symbols.
    #[error("a payload of {0} bytes is longer than a symbol")]
    Overlong(usize),
    /// Everything that the symbol covers has been delivered or abandoned.
    #[error("older than the open blocks or the window")]
    Stale,
    /// The symbol is farther ahead than the receiver's capacity.
    #[error("too far ahead of the open blocks or the window")]
    Ahead,
    /// The symbol contradicts earlier ones, or the code has no such symbol.
    #[error("contradicts what is known of its block or code")]
    Contradictory,
}

/// Counters of symbols by their effect, and of messages by their source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Symbols that raised a rank.
    pub innovative: u64,
    /// Symbols that added no information.
    pub redundant: u64,
    /// Symbols that were malformed, overlong, or of the other kind of stream.
    pub malformed: u64,
    /// Symbols older than the open blocks or the window.
    pub stale: u64,
    /// Symbols too far ahead of the open blocks or the window.
    pub ahead: u64,
    /// Symbols that contradict others.
    pub contradictory: u64,
    /// Messages delivered whose symbol arrived.
    pub received: u64,
    /// Messages delivered whose symbol was computed from others.
    pub recovered: u64,
    /// Recovered source symbols that contain no message: some symbol was forged.
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
