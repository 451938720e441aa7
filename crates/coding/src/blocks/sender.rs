//! The sending end of coded blocks. The sending end divides messages into blocks and creates the symbols of the blocks.

use std::collections::VecDeque;
use std::fmt;

use thiserror::Error;

use super::config::BlockConfig;
use crate::codec::{CannotRepair, Encoder};
use crate::framing::{frame, longest, unframe};
use crate::symbol::Header;

/// Block of a message, and the position of the message in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId {
    /// Number of the block.
    pub block: u32,
    /// Position of the symbol in the block.
    pub index: u16,
}

/// Reason for rejecting a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CannotPush {
    /// The message does not fit into a symbol.
    #[error("a message of {length} bytes does not fit a symbol, which holds {most}")]
    TooLong {
        /// Number of bytes of the message.
        length: usize,
        /// Maximum number of bytes that a symbol holds.
        most: usize,
    },
    /// All blocks are in use. The caller must release the oldest blocks first.
    #[error("all blocks are held")]
    Full,
}

/// Reason for which a symbol was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CannotWrite {
    /// The sender no longer has the block or the message.
    #[error("the block or the message is not held")]
    NotHeld,
    /// The block is not closed yet. Only closed blocks have repair symbols.
    #[error("the block is not closed")]
    Open,
    /// The code cannot create further repair symbols for this block.
    #[error(transparent)]
    Code(#[from] CannotRepair),
}

struct Held {
    encoder: Box<dyn Encoder>,
    closed: bool,
    /// Number of repair symbols that were written for the block.
    repairs: u32,
}

/// Sender that divides a stream of messages into blocks, and writes the symbols of the blocks.
pub struct BlockSender {
    config: BlockConfig,
    /// Number of the oldest block that the sender has.
    first: u32,
    held: VecDeque<Held>,
    spare: Vec<Box<dyn Encoder>>,
    /// Seed of the next repair symbol. If the code accepts any seed, no two blocks use equal seeds. Blocks with equal
    /// coefficients would fail at the same time.
    seed: u32,
    framed: Vec<u8>,
}

impl BlockSender {
    /// Returns a sender whose first block is block 0. `seed` is the seed of the first repair symbol, if the code
    /// accepts any seed.
    ///
    /// # Panics
    /// Panics if the code does not support blocks of this format, or if `blocks` is 0.
    #[must_use]
    pub fn new(config: BlockConfig, seed: u32) -> Self {
        assert!(config.blocks > 0, "a sender holds at least one block");
        let spare = vec![config.code.encoder(config.sources, config.length)];
        let framed = Vec::with_capacity(config.length);
        BlockSender { config, first: 0, held: VecDeque::with_capacity(config.blocks), spare, seed, framed }
    }

    /// Adds a message to the current block. If the block is then full, closes it. After this call,
    /// [`write_source`](Self::write_source) can write the message's symbol.
    ///
    /// # Errors
    /// Returns an error if the message does not fit into a symbol. Also returns an error if the message needs a new
    /// block and all blocks are in use.
    pub fn push(&mut self, message: &[u8]) -> Result<SourceId, CannotPush> {
        let most = longest(self.config.length);
        if message.len() > most {
            return Err(CannotPush::TooLong { length: message.len(), most });
        }
        if self.held.back().is_none_or(|last| last.closed) {
            if self.held.len() == self.config.blocks {
                return Err(CannotPush::Full);
            }
            let make = || self.config.code.encoder(self.config.sources, self.config.length);
            let encoder = self.spare.pop().unwrap_or_else(make);
            self.held.push_back(Held { encoder, closed: false, repairs: 0 });
        }
        let block = self.first.wrapping_add(self.held.len() as u32 - 1);
        let last = self.held.back_mut().expect("the block that is being filled");
        frame(message, self.config.length, &mut self.framed);
        last.encoder.push(&self.framed);
        let index = last.encoder.held() - 1;
        last.closed = index + 1 == self.config.sources;
        Ok(SourceId { block, index: index as u16 })
    }

    /// Closes the current block although it is not full. Returns the block's number. Call this method before the
    /// block's last source symbol is written, because that symbol is marked as the last one.
    pub fn close(&mut self) -> Option<u32> {
        let last = self.held.back_mut().filter(|last| !last.closed)?;
        last.closed = true;
        Some(self.first.wrapping_add(self.held.len() as u32 - 1))
    }

    fn place(&self, block: u32) -> Option<usize> {
        let place = block.wrapping_sub(self.first) as usize;
        (place < self.held.len()).then_some(place)
    }

    /// Appends the symbol of a message to `out`.
    ///
    /// # Errors
    /// Returns an error if the sender no longer has the message.
    pub fn write_source(&self, id: SourceId, out: &mut Vec<u8>) -> Result<(), CannotWrite> {
        let held = &self.held[self.place(id.block).ok_or(CannotWrite::NotHeld)?];
        let symbol = held.encoder.source(id.index.into()).ok_or(CannotWrite::NotHeld)?;
        let last = held.closed && usize::from(id.index) + 1 == held.encoder.held();
        Header::Source { block: id.block, index: id.index, last }.write(out);
        out.extend_from_slice(unframe(symbol).expect("framed by push"));
        Ok(())
    }

    /// Appends a new repair symbol of a closed block to `out`. Returns the symbol's seed.
    ///
    /// # Errors
    /// Returns an error if the sender does not have the block, if the block is not closed, or if the code has no
    /// further repair symbol. After an error, `out` is unchanged.
    pub fn write_repair(&mut self, block: u32, out: &mut Vec<u8>) -> Result<u32, CannotWrite> {
        let place = self.place(block).ok_or(CannotWrite::NotHeld)?;
        let held = &mut self.held[place];
        if !held.closed {
            return Err(CannotWrite::Open);
        }
        let seed = if self.config.code.numbers_repairs() { held.repairs } else { self.seed };
        let start = out.len();
        Header::Repair { block, sources: held.encoder.held() as u16, seed }.write(out);
        if let Err(why) = held.encoder.repair(seed, out) {
            out.truncate(start);
            return Err(why.into());
        }
        held.repairs += 1;
        self.seed = self.seed.wrapping_add(1);
        Ok(seed)
    }

    /// Returns the blocks that the sender has, oldest first. Each block is given by its number, its number of messages,
    /// and whether it is closed.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, usize, bool)> + '_ {
        let number = |place: usize| self.first.wrapping_add(place as u32);
        self.held
            .iter()
            .enumerate()
            .map(move |(place, held)| (number(place), held.encoder.held(), held.closed))
    }

    /// Returns the number of repair symbols that were written for a block. Returns `None` if the sender does not have
    /// the block.
    #[must_use]
    pub fn repairs(&self, block: u32) -> Option<u32> {
        self.place(block).map(|place| self.held[place].repairs)
    }

    /// Releases all closed blocks before `block`.
    pub fn release(&mut self, block: u32) {
        while block.wrapping_sub(self.first) as i32 > 0 && self.held.front().is_some_and(|held| held.closed) {
            let mut held = self.held.pop_front().expect("the front is there");
            held.encoder.forget(held.encoder.held());
            self.spare.push(held.encoder);
            self.first = self.first.wrapping_add(1);
        }
    }
}

impl fmt::Debug for BlockSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockSender")
            .field("config", &self.config)
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}
