//! Encoder that creates symbols from messages, with a sliding window or with blocks.

use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, BlockSender, Order};
use strandcast_coding::symbol::{Header, REPAIR_HEADER};
use strandcast_coding::windows::{WindowConfig, WindowSender};

use super::RepairShape;
use crate::coding::config::RepairCode;
use crate::coding::covered::{self, LENGTH};

/// Unit in bytes of the length of Reed–Solomon symbols. Symbols may be padded with zeros at the end.
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

    /// Returns whether the code has a sliding window over messages. Without a sliding window, messages are in blocks.
    pub fn slides(&self) -> bool {
        matches!(self, Encoder::Window(_))
    }

    /// Passes the covered bytes of a message to the encoder. Returns the header of the message's symbol. The caller has
    /// checked that there is room.
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

    /// Drops the sources, or the closed blocks, before number `before`.
    pub fn forget(&mut self, before: u32) {
        match self {
            Encoder::Window(sender) => sender.forget(before),
            Encoder::Blocks(sender, _) => sender.release(before),
        }
    }

    /// Closes the block being filled.
    pub fn close(&mut self) {
        if let Encoder::Blocks(sender, _) = self {
            sender.close();
        }
    }

    /// Returns the maximum bytes of a repair symbol's payload if the longest message has `longest` covered bytes.
    pub fn payload(&self, longest: usize) -> usize {
        match self {
            Encoder::Blocks(_, RepairCode::ReedSolomon) => (LENGTH + longest).next_multiple_of(SHARD),
            Encoder::Window(_) | Encoder::Blocks(..) => LENGTH + longest,
        }
    }

    /// Writes a new repair symbol of the window or of a closed block. The longest message has `longest` covered bytes.
    /// Returns `false` if the code has no further symbol. The bytes after this length are 0 and are omitted: codes work
    /// on single bytes or on shards.
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

    /// Returns the heap in bytes of the rows of source symbols. RaptorQ adds its solved block, and Reed–Solomon adds
    /// its repair symbols and work space.
    pub fn heap(&self, shape: RepairShape) -> usize {
        let row = usize::from(shape.symbol_length).next_multiple_of(SHARD);
        let block = usize::from(shape.sources) * row;
        match self {
            Encoder::Window(_) => block,
            Encoder::Blocks(..) => usize::from(shape.blocks) * 3 * block,
        }
    }
}
