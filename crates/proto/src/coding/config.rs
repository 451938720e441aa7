//! Configuration of the coding of sent data.

use core::time::Duration;

use strandcast_coding::Code;
use strandcast_coding::symbol::REPAIR_HEADER;

use super::covered::{LENGTH, PREFIX};

/// Coding of the data that an association sends to peers that can decode.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Coding {
    /// All messages form one stream of bytes, which is cut into source symbols. A fixed number of source symbols is a
    /// block. Only symbols are sent, as the scheduler chooses them. Messages arrive in the order in which they were
    /// submitted, regardless of their streams, and are reliable once they are in a block.
    Blocks(BlockCoding),
    /// Unordered messages with a lifetime are sent as usual, each as a source symbol, with repair symbols in addition.
    Repair(RepairCoding),
}

/// The shape of blocks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BlockCoding {
    /// [`Code::Rlc`] or [`Code::Fountain`].
    pub code: Code,
    /// Number of source symbols per block; 0: 16, or 8 if the peer's receive buffer is less than 128 KiB.
    pub sources: u16,
    /// Longest time for which the first byte of a block waits, while no other data wait, before the block is closed
    /// even if it is not full.
    pub flush: Duration,
}

/// Repair symbols in addition to messages.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RepairCoding {
    /// The code.
    pub code: RepairCode,
    /// Maximum bytes of repair symbols divided by bytes of source symbols, with the headers included in both. This is a
    /// hard cap.
    pub redundancy: f64,
    /// Time at which repair symbols are sent.
    pub when: RepairWhen,
    /// Maximum number of source symbols that a repair symbol covers.
    pub window: u16,
}

impl RepairCoding {
    /// Number of bytes by which coding reduces the size of the largest message of a packet, because the message's
    /// repair symbol also has to fit a packet.
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

/// Times at which repair symbols are sent.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub enum RepairWhen {
    /// Repair symbols leave as soon as the cap permits.
    Always,
    /// Repair symbols cover only messages that could not be sent again in time if they were lost.
    #[default]
    Late,
}
