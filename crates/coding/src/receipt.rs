//! What receivers say of a symbol, and what they count.

use thiserror::Error;

use crate::codec::Outcome;
use crate::symbol::Malformed;

/// Why a symbol was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It is no symbol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A symbol of blocks where a window slides, or the other way round.
    #[error("a symbol of the other kind of stream")]
    Foreign,
    /// Longer than symbols are here.
    #[error("a payload of {0} bytes is longer than a symbol")]
    Overlong(usize),
    /// All that it is about has been given out or given up.
    #[error("behind what is still open")]
    Stale,
    /// Farther ahead than is held open.
    #[error("ahead of what is held open")]
    Ahead,
    /// It contradicts what was taken before, or the code has no such symbol.
    #[error("contradicts what is known of its block or code")]
    Contradictory,
}

/// Symbols by what was done with them, and messages by how they came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Symbols that raised a rank.
    pub innovative: u64,
    /// Symbols that brought nothing that was not known.
    pub redundant: u64,
    /// Bytes that are no symbol, too long, or of the other kind of stream.
    pub malformed: u64,
    /// Symbols behind what is still open.
    pub stale: u64,
    /// Symbols ahead of what is held open.
    pub ahead: u64,
    /// Symbols that contradict others.
    pub contradictory: u64,
    /// Messages given out whose symbol arrived.
    pub received: u64,
    /// Messages given out whose symbol was computed from others.
    pub recovered: u64,
    /// Source symbols found that hold no message: some symbol was forged.
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

    /// Symbols dropped.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.malformed + self.stale + self.ahead + self.contradictory
    }
}
