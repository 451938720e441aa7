//! Configuration of the coding of sent data.

use core::time::Duration;

use strandcast_coding::Code;
use strandcast_coding::symbol::REPAIR_HEADER;

use super::covered::{LENGTH, PREFIX};

/// Coding of data that an association sends. Data are coded for peers that can decode.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Coding {
    /// All messages form one stream of bytes, which is cut into source symbols. A fixed number of source symbols is a
    /// block. Only symbols are sent, and the scheduler chooses each of them. Messages arrive in the order in which they
    /// were submitted, regardless of their streams. A message is reliable once it is in a block.
    Blocks(BlockCoding),
    /// Unordered messages with a lifetime are sent as usual, each as one source symbol. Repair symbols are sent in
    /// addition.
    Repair(RepairCoding),
}

/// The shape of blocks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BlockCoding {
    /// [`Code::Rlc`] or [`Code::Fountain`].
    pub code: Code,
    /// Number of source symbols per block. 0 means 16, or 8 if the peer's receive buffer is smaller than 128 KiB.
    pub sources: u16,
    /// Longest wait of a block's first byte while no other data wait. The block is then closed even if it is not full.
    pub flush: Duration,
}

/// Repair symbols in addition to messages.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RepairCoding {
    /// The erasure code.
    pub code: RepairCode,
    /// Maximum bytes of repair symbols, divided by the bytes of source symbols. Both include headers. The value is a
    /// hard cap.
    pub redundancy: f64,
    /// Rule for the times at which repair symbols are sent.
    pub when: RepairWhen,
    /// Maximum number of source symbols that a repair symbol covers.
    pub window: u16,
}

impl RepairCoding {
    /// Number of bytes by which coding reduces the largest message that fits a packet. The message's repair symbol also
    /// has to fit a packet.
    pub const OVERHEAD: usize = REPAIR_HEADER + LENGTH + PREFIX;
}

/// An erasure code for repair.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RepairCode {
    /// Random linear code over GF(256) with a sliding window (RFC 8681).
    Rlc,
    /// RaptorQ (RFC 6330) with blocks.
    RaptorQ,
    /// Reed–Solomon code over GF(2^16) with blocks.
    ReedSolomon,
}

/// Rule for the times at which repair symbols are sent.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub enum RepairWhen {
    /// Repair symbols are sent as soon as the cap permits.
    Always,
    /// Repair symbols cover only messages that could not be retransmitted in time if they were lost.
    #[default]
    Late,
}
