//! Coded symbols in the view of policies: blocks of source symbols, and the scheduler's choice of the next symbol.
//!
//! An association codes if [`TransportConfig::coding`](crate::config::TransportConfig::coding) is set and the peer can
//! decode. In blocks every chunk is a symbol, and the scheduler chooses each symbol when a path has room
//! ([`Scheduler::next_symbol`](super::Scheduler::next_symbol)). With repair, messages are sent as usual, and repair
//! symbols are sent in addition ([`Scheduler::next_repair`](super::Scheduler::next_repair)).

use smallvec::SmallVec;

use super::ids::{PathId, PathSet};
use crate::time::Instant;

/// Symbol of a block or window that a chunk carries.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Number of the symbol's block, or of the first source symbol that it covers.
    pub block: u32,
    /// Number of source symbols in the symbol's block, or in the window that a repair symbol covers; 1 for a source
    /// symbol of a window.
    pub sources: u16,
    /// Kind of the symbol.
    pub kind: SymbolKind,
}

/// A source symbol or a repair symbol.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// The source symbol with this index in its block. It is retransmitted after a loss as long as the receiver needs
    /// it.
    Source(u16),
    /// A sum of source symbols. It is never retransmitted; another repair symbol replaces it.
    Repair,
}

/// A block that the receiver does not have yet, oldest first in [`View::blocks`](super::View::blocks).
#[derive(Clone, PartialEq, Debug)]
pub struct BlockView {
    /// Number of the block. Blocks are numbered from 0 in the order of their messages, modulo 2³².
    pub number: u32,
    /// Number of the block's source symbols so far; all of them once the block is closed.
    pub sources: u16,
    /// True if no further source symbol joins it. Only closed blocks have repair symbols.
    pub closed: bool,
    /// Number of the block's independent symbols that arrived according to acknowledgements. The block is done when
    /// this number equals `sources`.
    pub rank: u16,
    /// Number of the block's source symbols that were sent. These are the symbols with a lower index.
    pub sources_sent: u16,
    /// Number of the block's repair symbols that were sent.
    pub repairs_sent: u32,
    /// Symbols in flight, by path slot; slots at the end may be missing.
    pub in_flight: SmallVec<[SymbolsInFlight; 4]>,
}

/// Symbols of one block in flight on one path.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct SymbolsInFlight {
    /// Number of source symbols.
    pub sources: u32,
    /// Number of repair symbols.
    pub repairs: u32,
}

impl SymbolsInFlight {
    /// Adds `by`, which may be negative, to the number of `kind`.
    pub(crate) fn count(&mut self, kind: SymbolKind, by: i32) {
        let number = match kind {
            SymbolKind::Source(_) => &mut self.sources,
            SymbolKind::Repair => &mut self.repairs,
        };
        *number = number.saturating_add_signed(by);
    }
}

impl BlockView {
    /// Returns the index of the block `number` in `blocks`, which are in order.
    pub(crate) fn find(blocks: &[BlockView], number: u32) -> Option<usize> {
        let before = |b: &BlockView| (b.number.wrapping_sub(number) as i32) < 0;
        let at = blocks.partition_point(before);
        blocks.get(at).filter(|b| b.number == number).map(|_| at)
    }

    /// Symbols of the block in flight on `path`.
    #[inline]
    pub fn on(&self, path: PathId) -> SymbolsInFlight {
        self.in_flight.get(path.index()).copied().unwrap_or_default()
    }
}

/// The next symbol and its path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SymbolAssignment {
    /// Path of the symbol. The path must have room.
    pub path: PathId,
    /// Block of the symbol: one of [`View::blocks`](super::View::blocks).
    pub block: u32,
    /// The block's next source symbol, or a new repair symbol.
    pub what: SymbolChoice,
}

/// Choice of a symbol of a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymbolChoice {
    /// The first source symbol that was not sent.
    Source,
    /// A new repair symbol. The block must be closed.
    Repair,
}

/// A repair symbol that is due in addition to messages.
#[derive(Clone, PartialEq, Debug)]
pub struct RepairOffer {
    /// Counted bytes of the chunk with the repair symbol: payload + 16 bytes.
    pub len: u64,
    /// Number of the first source symbol that it covers.
    pub first: u32,
    /// Number of source symbols that it covers.
    pub sources: u16,
    /// Number of these symbols that were sent on the path of each slot and are not acknowledged; slots at the end may
    /// be missing.
    pub sent_on: SmallVec<[u32; 4]>,
    /// Times at which the first and the last of these symbols become useless.
    pub expires: Option<(Instant, Instant)>,
}

impl RepairOffer {
    /// Number of covered source symbols that were sent on `path` and are not acknowledged.
    #[inline]
    pub fn sent_on(&self, path: PathId) -> u32 {
        self.sent_on.get(path.index()).copied().unwrap_or_default()
    }

    /// Paths that carried any of these symbols.
    pub fn paths(&self) -> PathSet {
        let carried = |i: usize| (self.sent_on[i] > 0).then_some(PathId(i as u8));
        (0..self.sent_on.len()).filter_map(carried).collect()
    }
}
