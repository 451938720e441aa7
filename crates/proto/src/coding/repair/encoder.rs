//! Encoder that makes symbols from messages, with a sliding window or blocks.

use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, BlockSender, Order};
use strandcast_coding::symbol::{Header, REPAIR_HEADER};
use strandcast_coding::windows::{WindowConfig, WindowSender};

use super::RepairShape;
use crate::coding::config::RepairCode;
use crate::coding::covered::{self, LENGTH};

/// Unit of the length of Reed–Solomon symbols in bytes. Symbols may be filled with zeros at the end.
const SHARD: usize = 64;

#[derive(Debug)]
pub(super) enum Encoder {
    Window(WindowSender),
    Blocks(BlockSender, RepairCode),
}

impl Encoder {
    pub fn new(code: RepairCode, shape: RepairShape) -> Self {
        let (sources, length) = (usize::from(shape.sources), usize::from(shape.symbol_length));
        let block = match code {
            RepairCode::Rlc => {
                let config = WindowConfig { sources, held: sources, length, density: 15 };
                return Encoder::Window(WindowSender::new(config, 0));
            }
            RepairCode::RaptorQ => Code::RaptorQ,
            RepairCode::ReedSolomon => {
                Code::ReedSolomon { repairs: covered::reed_solomon_repairs(shape.sources) }
            }
        };
        let blocks = shape.blocks.into();
        let config = BlockConfig { code: block, sources, length, blocks, order: Order::AsKnown };
        Encoder::Blocks(BlockSender::new(config, 0), code)
    }

    /// Returns whether a window slides over messages. Otherwise they are in blocks.
    pub fn slides(&self) -> bool {
        matches!(self, Encoder::Window(_))
    }

    /// Takes the covered bytes of a message. Returns the header of its symbol. The caller has checked that there is
    /// room.
    pub fn push(&mut self, covered: &[u8]) -> Header {
        let fits = "the caller has checked the longest message and makes room";
        match self {
            Encoder::Window(sender) => Header::WindowSource { number: sender.push(covered).expect(fits) },
            Encoder::Blocks(sender, _) => {
                let id = sender.push(covered).expect(fits);
                let last = sender.blocks().last().is_some_and(|(_, _, closed)| closed);
                Header::Source { block: id.block, index: id.index, last }
            }
        }
    }

    /// Drops sources, or closed blocks, before this one.
    pub fn forget(&mut self, before: u32) {
        match self {
            Encoder::Window(sender) => sender.forget(before),
            Encoder::Blocks(sender, _) => sender.release(before),
        }
    }

    /// Closes the block that is being filled.
    pub fn close(&mut self) {
        if let Encoder::Blocks(sender, _) = self {
            sender.close();
        }
    }

    /// Maximum bytes of a repair symbol's payload if the longest message has `longest` covered bytes.
    pub fn payload(&self, longest: usize) -> usize {
        match self {
            Encoder::Blocks(_, RepairCode::ReedSolomon) => (LENGTH + longest).next_multiple_of(SHARD),
            Encoder::Window(_) | Encoder::Blocks(..) => LENGTH + longest,
        }
    }

    /// Writes a new repair symbol of the window or of a closed block, if the longest message has `longest` covered
    /// bytes. Returns `false` if the code has no further symbol. Bytes after that length are 0 and are omitted, because
    /// codes work on each byte, or on shards.
    pub fn write(&mut self, block: u32, longest: usize, out: &mut Vec<u8>) -> bool {
        let most = REPAIR_HEADER + self.payload(longest);
        let made = match self {
            Encoder::Window(sender) => sender.write_repair(out).is_ok(),
            Encoder::Blocks(sender, _) => sender.write_repair(block, out).is_ok(),
        };
        debug_assert!(out.iter().skip(most).all(|byte| *byte == 0), "zeros beyond the longest message");
        out.truncate(most);
        made
    }

    /// Heap in bytes: rows of source symbols; for RaptorQ also its solved block, for Reed–Solomon its repair symbols
    /// and work space.
    pub fn heap(&self, shape: RepairShape) -> usize {
        let row = usize::from(shape.symbol_length).next_multiple_of(SHARD);
        let block = usize::from(shape.sources) * row;
        match self {
            Encoder::Window(_) => block,
            Encoder::Blocks(..) => usize::from(shape.blocks) * 3 * block,
        }
    }
}
