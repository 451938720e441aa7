//! How an association codes what it sends.

use core::time::Duration;

use strandcast_coding::Code;
use strandcast_coding::symbol::REPAIR_HEADER;

use super::covered::{LENGTH, PREFIX};

/// How an association codes what it sends, towards peers that can decode.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Coding {
    /// All messages are one stream of bytes, cut into source symbols, so many of which are a block; what is sent are symbols
    /// alone, as the scheduler chooses them. Messages arrive in the order in which they were handed in, whatever their
    /// streams, and once they are in a block they are reliable.
    Blocks(BlockCoding),
    /// Unordered messages with a lifetime are sent as ever, each a source symbol, and repair symbols beside them.
    Repair(RepairCoding),
}

/// The shape of blocks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BlockCoding {
    /// [`Code::Rlc`] or [`Code::Fountain`].
    pub code: Code,
    /// Source symbols per block; 0: 16, or 8 if the peer's receive buffer is less than 128 KiB.
    pub sources: u16,
    /// A block that is not full is closed when its first byte has waited for so long and nothing else does.
    pub flush: Duration,
}

/// Repair beside messages.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RepairCoding {
    /// The code.
    pub code: RepairCode,
    /// Bytes of repair symbols by bytes of source symbols at the most, headers included on both sides: a hard cap.
    pub redundancy: f64,
    /// When repair symbols are sent.
    pub when: RepairWhen,
    /// Source symbols that a repair symbol covers at the most.
    pub window: u16,
}

impl RepairCoding {
    /// Bytes by which the largest message of a packet is shorter: its repair symbol has to fit one, too.
    pub const OVERHEAD: usize = REPAIR_HEADER + LENGTH + PREFIX;
}

/// A code for repair.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RepairCode {
    /// Random linear code over GF(256) and a sliding window (RFC 8681).
    Rlc,
    /// RaptorQ (RFC 6330) and blocks.
    RaptorQ,
    /// Reed–Solomon over GF(2^16) and blocks.
    ReedSolomon,
}

/// When repair symbols are sent.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub enum RepairWhen {
    /// As soon as the cap allows.
    Always,
    /// For messages alone that could not be sent again in time if they were lost.
    #[default]
    Late,
}
