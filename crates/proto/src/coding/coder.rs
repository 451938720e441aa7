//! The sending end of an association whose data are coded.

use strandcast_coding::symbol::REPAIR_HEADER;

use super::agreement::{Agreed, Mode};
use super::blocks::{BlockShape, BlockSource, RECORD_OVERHEAD};
use super::config::Coding;
use super::repair::{RepairShape, RepairSource};

/// The coder of an association, which turns messages into symbols.
#[derive(Debug)]
pub(crate) enum Coder {
    /// Puts all messages into coded blocks.
    Blocks(Box<BlockSource>),
    /// Sends messages as usual, and repair symbols in addition.
    Repair(Box<RepairSource>),
}

impl Coder {
    /// Returns the coder for `coding` with the shape on which both sides agreed; `None` if there is no coding. `seed`
    /// is the seed of a block's first repair symbol.
    pub fn new(coding: Option<&Coding>, agreed: Option<&Agreed>, seed: u32) -> Option<Self> {
        let agreed = agreed?;
        match (coding?, agreed.mode) {
            (Coding::Blocks(config), Mode::Blocks) => {
                let shape = BlockShape {
                    code: agreed.code,
                    sources: agreed.sources.into(),
                    symbol_length: agreed.symbol_length.into(),
                    blocks: agreed.blocks.into(),
                    flush: config.flush,
                };
                Some(Coder::Blocks(Box::new(BlockSource::new(shape, seed))))
            }
            (Coding::Repair(config), Mode::Repair) => {
                let Agreed { sources, symbol_length, blocks, .. } = *agreed;
                let shape = RepairShape { sources, symbol_length, blocks };
                Some(Coder::Repair(Box::new(RepairSource::new(config, shape))))
            }
            (Coding::Blocks(_), Mode::Repair) | (Coding::Repair(_), Mode::Blocks) => None,
        }
    }

    /// Returns the number of bytes by which coding reduces the largest message that fits a packet.
    pub fn overhead(&self) -> usize {
        match self {
            Coder::Blocks(_) => REPAIR_HEADER + RECORD_OVERHEAD,
            Coder::Repair(repair) => repair.overhead(),
        }
    }

    /// Returns the maximum length in bytes of a message in one chunk. The symbol length from the agreement limits it,
    /// even if packets have become larger since the handshake.
    pub fn longest(&self) -> usize {
        match self {
            Coder::Blocks(_) => usize::MAX,
            Coder::Repair(repair) => repair.longest(),
        }
    }

    /// Returns the heap in bytes in addition to the bytes of messages.
    pub fn heap(&self) -> usize {
        match self {
            Coder::Blocks(blocks) => blocks.heap(),
            Coder::Repair(repair) => repair.heap(),
        }
    }
}
