//! Coded symbols, as policies see them: blocks of source symbols, and what a scheduler says of the next symbol.
//!
//! An association codes what it sends if [`TransportConfig::coding`](crate::config::TransportConfig::coding) says so and the
//! peer can decode. In blocks every chunk is a symbol, and the scheduler chooses each when a path has room
//! ([`Scheduler::next_symbol`](super::Scheduler::next_symbol)). With repair, messages are sent as ever, and repair symbols
//! beside them ([`Scheduler::next_repair`](super::Scheduler::next_repair)).

use smallvec::SmallVec;

use super::ids::{PathId, PathSet};
use crate::time::Instant;

/// What a chunk carries of a block or window.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its block, or the number of the first source symbol that it covers.
    pub block: u32,
    /// Source symbols that it covers: those of its block or window; 1 if it is the source symbol of a window.
    pub sources: u16,
    /// Source or repair.
    pub kind: SymbolKind,
}

/// A source symbol or a repair symbol.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// The source symbol at this place of its block. Sent again when it is lost, while the receiver needs it.
    Source(u16),
    /// A sum of source symbols. Never sent again: what it was for is covered by another one.
    Repair,
}

/// A block that the receiver does not have yet, oldest first in [`View::blocks`](super::View::blocks).
#[derive(Clone, PartialEq, Debug)]
pub struct BlockView {
    /// Its number; blocks are numbered from 0 in the order of their messages, modulo 2³².
    pub number: u32,
    /// Its source symbols so far; once it is closed, all of them.
    pub sources: u16,
    /// No further source symbol joins it. Repair symbols are of closed blocks alone.
    pub closed: bool,
    /// Independent symbols of it that arrived, as acknowledgements tell. The block is done at `sources`.
    pub rank: u16,
    /// Source symbols of it that were sent: those at places before this one.
    pub sources_sent: u16,
    /// Repair symbols of it that were sent.
    pub repairs_sent: u32,
    /// Symbols in flight, by path slot; slots at the end may be missing.
    pub in_flight: SmallVec<[SymbolsInFlight; 4]>,
}

/// Symbols of one block in flight on one path.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct SymbolsInFlight {
    /// Source symbols.
    pub sources: u32,
    /// Repair symbols.
    pub repairs: u32,
}

impl SymbolsInFlight {
    /// `by` more of `kind`, or fewer.
    pub(crate) fn count(&mut self, kind: SymbolKind, by: i32) {
        let number = match kind {
            SymbolKind::Source(_) => &mut self.sources,
            SymbolKind::Repair => &mut self.repairs,
        };
        *number = number.saturating_add_signed(by);
    }
}

impl BlockView {
    /// Where the block `number` is among `blocks`, which are in order.
    pub(crate) fn find(blocks: &[BlockView], number: u32) -> Option<usize> {
        let before = |b: &BlockView| (b.number.wrapping_sub(number) as i32) < 0;
        let at = blocks.partition_point(before);
        blocks.get(at).filter(|b| b.number == number).map(|_| at)
    }

    /// What of it is in flight on `path`.
    #[inline]
    pub fn on(&self, path: PathId) -> SymbolsInFlight {
        self.in_flight.get(path.index()).copied().unwrap_or_default()
    }
}

/// The next symbol and its path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SymbolAssignment {
    /// Where; it must have room.
    pub path: PathId,
    /// Of which block: one of [`View::blocks`](super::View::blocks).
    pub block: u32,
    /// Its next source symbol, or a new repair symbol.
    pub what: SymbolChoice,
}

/// Which symbol of a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymbolChoice {
    /// Its first source symbol that was not sent.
    Source,
    /// A new repair symbol; the block must be closed.
    Repair,
}

/// A repair symbol that is due beside messages of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct RepairOffer {
    /// Book size of its chunk: payload + 16 bytes.
    pub len: u64,
    /// The number of the first source symbol that it covers.
    pub first: u32,
    /// How many it covers.
    pub sources: u16,
    /// How many of those were sent by each path slot and are not acknowledged; slots at the end may be missing.
    pub sent_on: SmallVec<[u32; 4]>,
    /// When the first and the last of those become worthless.
    pub expires: Option<(Instant, Instant)>,
}

impl RepairOffer {
    /// Source symbols that it covers, sent by `path` and not acknowledged.
    #[inline]
    pub fn sent_on(&self, path: PathId) -> u32 {
        self.sent_on.get(path.index()).copied().unwrap_or_default()
    }

    /// The paths that carried any.
    pub fn paths(&self) -> PathSet {
        let carried = |i: usize| (self.sent_on[i] > 0).then_some(PathId(i as u8));
        (0..self.sent_on.len()).filter_map(carried).collect()
    }
}
