//! The sending end of an association that codes.

use super::blocks::{BlockSource, RECORD_OVERHEAD};
use super::repair::RepairSource;
use strandcast_coding::symbol::REPAIR_HEADER;

/// What turns messages into symbols.
#[derive(Debug)]
pub(crate) enum Coder {
    /// All messages, in blocks.
    Blocks(Box<BlockSource>),
    /// Repair beside messages.
    Repair(Box<RepairSource>),
}

impl Coder {
    /// Bytes by which the largest message of a packet is shorter.
    pub fn overhead(&self) -> usize {
        match self {
            Coder::Blocks(_) => REPAIR_HEADER + RECORD_OVERHEAD,
            Coder::Repair(repair) => repair.overhead(),
        }
    }

    /// Heap taken beyond the bytes of messages, bytes.
    pub fn heap(&self) -> usize {
        match self {
            Coder::Blocks(blocks) => blocks.heap(),
            Coder::Repair(repair) => repair.heap(),
        }
    }
}
