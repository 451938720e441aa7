//! Coded symbols as policies see them: blocks of source symbols, and the scheduler's choice of the next symbol.
//!
//! Data are coded if [`TransportConfig::coding`](crate::config::TransportConfig::coding) is set and the peer can
//! decode. With blocks, every chunk is a symbol. The scheduler chooses each symbol when a path has room
//! ([`Scheduler::next_symbol`](super::Scheduler::next_symbol)). With repair, messages are sent as usual. Repair symbols
//! are sent in addition ([`Scheduler::next_repair`](super::Scheduler::next_repair)).

use smallvec::SmallVec;

use super::ids::{PathId, PathSet};
use crate::time::Instant;

/// Symbol of a coded block or window, carried by a chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Number of the symbol's block. With a window, it is the number of the first source symbol that the symbol covers.
    pub block: u32,
    /// Number of source symbols in the symbol's block, or in the window that a repair symbol covers. For a source
    /// symbol of a window it is 1.
    pub sources: u16,
    /// Kind of the symbol.
    pub kind: SymbolKind,
}

/// Kind of a symbol: source symbol or repair symbol.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// The source symbol with this index in its block. A source symbol is retransmitted after a loss while the receiver
    /// needs it.
    Source(u16),
    /// A repair symbol: a sum of source symbols. A repair symbol is never retransmitted, because another repair symbol
    /// can replace it.
    Repair,
}

/// A coded block that the receiver does not have yet. The order in [`View::blocks`](super::View::blocks) is oldest
/// first.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockView {
    /// Number of the block. Blocks are numbered from 0 in the order of their messages, modulo 2³².
    pub number: u32,
    /// Number of source symbols now in the block. The number of source symbols is final once the block is closed.
    pub sources: u16,
    /// True if no further source symbol is added to the block. Only closed blocks have repair symbols.
    pub closed: bool,
    /// Rank: number of the block's independent symbols that arrived, as acknowledged. The block is done when this
    /// number equals `sources`.
    pub rank: u16,
    /// Number of the block's source symbols that were already sent. The sent source symbols are the symbols with a
    /// lower index than this number.
    pub sources_sent: u16,
    /// Number of the block's repair symbols that were sent.
    pub repairs_sent: u32,
    /// Symbols of the block in flight, by path slot. Slots at the end may be missing.
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
    /// Adds `by`, which may be negative, to the number of symbols of `kind`.
    pub(crate) fn count(&mut self, kind: SymbolKind, by: i32) {
        let number = match kind {
            SymbolKind::Source(_) => &mut self.sources,
            SymbolKind::Repair => &mut self.repairs,
        };
        *number = number.saturating_add_signed(by);
    }
}

impl BlockView {
    /// Returns the index of the block with this number in `blocks`, which are sorted by number.
    pub(crate) fn find(blocks: &[BlockView], number: u32) -> Option<usize> {
        let before = |b: &BlockView| (b.number.wrapping_sub(number) as i32) < 0;
        let at = blocks.partition_point(before);
        blocks.get(at).filter(|b| b.number == number).map(|_| at)
    }

    /// Returns the symbols of the block in flight on `path`.
    #[inline]
    pub fn on(&self, path: PathId) -> SymbolsInFlight {
        self.in_flight.get(path.index()).copied().unwrap_or_default()
    }
}

/// A scheduler's decision: the next symbol and its path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SymbolAssignment {
    /// Path of the symbol. This path must have room.
    pub path: PathId,
    /// Number of the symbol's block, which must be in [`View::blocks`](super::View::blocks).
    pub block: u32,
    /// Choice between the block's next source symbol and a new repair symbol.
    pub what: SymbolChoice,
}

/// Choice of the symbol to send from a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymbolChoice {
    /// The first source symbol of the block that was not sent.
    Source,
    /// A new repair symbol of the block. The block must be closed.
    Repair,
}

/// A repair symbol that is due in addition to messages.
#[derive(Clone, PartialEq, Debug)]
pub struct RepairOffer {
    /// Counted bytes of the chunk with the repair symbol: payload + 16 bytes.
    pub len: u64,
    /// Number of the first source symbol that the repair symbol covers.
    pub first: u32,
    /// Number of source symbols that the repair symbol covers.
    pub sources: u16,
    /// Number of covered source symbols that were sent on a path and are not acknowledged, by path slot. Slots at the
    /// end may be missing.
    pub sent_on: SmallVec<[u32; 4]>,
    /// Times at which the first and the last covered source symbol become useless.
    pub expires: Option<(Instant, Instant)>,
}

impl RepairOffer {
    /// Returns the number of covered source symbols that were sent on `path` and are not acknowledged.
    #[inline]
    pub fn sent_on(&self, path: PathId) -> u32 {
        self.sent_on.get(path.index()).copied().unwrap_or_default()
    }

    /// Returns the paths on which covered source symbols were sent.
    pub fn paths(&self) -> PathSet {
        let carried = |i: usize| (self.sent_on[i] > 0).then_some(PathId(i as u8));
        (0..self.sent_on.len()).filter_map(carried).collect()
    }
}
