//! Number of symbols of each block that arrived.

use strandcast_proto::policy::BlockView;

use super::Counting;
use crate::schedule::per_block::PerBlock;

/// Counts of the symbols of open blocks that arrived.
#[derive(Debug)]
pub(super) struct Counted {
    counting: Counting,
    blocks: PerBlock<Block>,
}

#[derive(Copy, Clone, Default, Debug)]
struct Block {
    /// Number of independent symbols at the last time at which nothing was in flight.
    rank: u32,
    /// Number of symbols that have arrived since then.
    since: u32,
}

impl Counted {
    pub fn new(counting: Counting) -> Self {
        Counted { counting, blocks: PerBlock::default() }
    }

    /// Drops blocks that are no longer open.
    pub fn follow(&mut self, open: &[BlockView]) {
        self.blocks.follow(open);
    }

    /// Records that a symbol of the block with this number arrived.
    pub fn arrived(&mut self, number: u32) {
        if let Some(block) = self.blocks.of(number) {
            block.since = block.since.saturating_add(1);
        }
    }

    /// k̄ of `block`.
    pub fn of(&mut self, block: &BlockView) -> f64 {
        let rank = u32::from(block.rank);
        let Some(counted) = self.blocks.of(block.number).filter(|_| self.counting == Counting::Received)
        else {
            return f64::from(rank);
        };
        if !block.in_flight.iter().any(|there| there.sources.max(there.repairs) > 0) {
            *counted = Block { rank, since: 0 };
        }
        f64::from(rank.max(counted.rank.saturating_add(counted.since)))
    }
}
