//! The receiving end of coded blocks. The receiving end converts symbols to messages. Any received byte may come from
//! an attacker.

use std::collections::VecDeque;
use std::fmt;

use super::config::{BlockConfig, Order};
use super::sender::SourceId;
use crate::codec::{Decoder, Outcome};
use crate::framing::{frame, longest, unframe};
use crate::receipt::{Refusal, Statistics};
use crate::symbol::Header;

/// Maximum number of blocks that one symbol may skip, if newer blocks close older blocks.
const FARTHEST: u32 = 1 << 16;

/// Effect of a received symbol on its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockArrival {
    /// Number of the symbol's block.
    pub block: u32,
    /// Number of independent symbols of the block, including this one.
    pub rank: usize,
    /// True if this symbol increased the rank.
    pub innovative: bool,
}

/// A message that was received or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMessage<'a> {
    /// Block of the message, and its position in the block.
    pub id: SourceId,
    /// Bytes of the message.
    pub bytes: &'a [u8],
    /// True if the message was computed from other symbols before its own symbol arrived.
    pub recovered: bool,
}

struct Open {
    decoder: Box<dyn Decoder>,
    /// Number of source symbols in the block. The number of source symbols is known once a symbol that contains this
    /// number has arrived.
    sources: Option<usize>,
    /// Highest position of a symbol that arrived, plus one.
    seen: usize,
    arrived: Vec<bool>,
    /// Position of the next message to be delivered in order.
    next: usize,
}

/// Receiver that takes the symbols of blocks and delivers their messages.
pub struct BlockReceiver {
    config: BlockConfig,
    /// Number of the oldest open block.
    first: u32,
    open: VecDeque<Option<Open>>,
    spare: Vec<Open>,
    bound: usize,
    framed: Vec<u8>,
    statistics: Statistics,
    /// Decoding work for all blocks, in bytes. The decoder of a closed block is reused for another block.
    work: u64,
}

/// Work of closing a block, in bytes per source symbol.
const CLOSED: usize = 4;

impl BlockReceiver {
    /// Returns a receiver whose first block is block 0.
    ///
    /// # Panics
    /// Panics if the code does not support blocks of this format, or if `blocks` is 0.
    #[must_use]
    pub fn new(config: BlockConfig) -> Self {
        assert!(config.blocks > 0, "a receiver holds at least one block open");
        let one = Self::make(config);
        let working = one.decoder.working();
        let kept = one.decoder.bound() - working + one.arrived.len();
        let each = kept + size_of::<Option<Open>>() + size_of::<Open>();
        let mut spare = Vec::with_capacity(config.blocks);
        spare.push(one);
        BlockReceiver {
            config,
            first: 0,
            open: (0..config.blocks).map(|_| None).collect(),
            spare,
            bound: config.blocks * each + working + config.length,
            framed: Vec::with_capacity(config.length),
            statistics: Statistics::default(),
            work: 0,
        }
    }

    fn make(config: BlockConfig) -> Open {
        let decoder = config.code.decoder(config.sources, config.length);
        Open { decoder, sources: None, seen: 0, arrived: vec![false; config.sources], next: 0 }
    }

    /// Processes one received symbol.
    ///
    /// # Errors
    /// Returns the reason for dropping the symbol, as an error. The counters in [`statistics`](Self::statistics)
    /// include the dropped symbol.
    pub fn receive(&mut self, symbol: &[u8]) -> Result<BlockArrival, Refusal> {
        let taken = self.take(symbol);
        self.statistics.count(taken.map(|(_, outcome)| outcome));
        let (place, outcome) = taken?;
        let rank = self.open[place].as_ref().map_or(0, |open| open.decoder.rank());
        let block = self.first.wrapping_add(place as u32);
        Ok(BlockArrival { block, rank, innovative: outcome == Outcome::Innovative })
    }

    /// Returns the position of the symbol's block among the open blocks, and the effect of the symbol.
    fn take(&mut self, symbol: &[u8]) -> Result<(usize, Outcome), Refusal> {
        let (header, payload) = Header::read(symbol)?;
        match header {
            Header::Source { block, index, last } => {
                if payload.len() > longest(self.config.length) {
                    return Err(Refusal::Overlong(payload.len()));
                }
                let index = usize::from(index);
                if index >= self.config.sources {
                    return Err(Refusal::Contradictory);
                }
                let place = self.place(block)?;
                Ok((place, self.take_source(place, index, last, payload)?))
            }
            Header::Repair { block, sources, seed } => {
                if payload.len() > self.config.length {
                    return Err(Refusal::Overlong(payload.len()));
                }
                let sources = usize::from(sources);
                if sources > self.config.sources {
                    return Err(Refusal::Contradictory);
                }
                let place = self.place(block)?;
                Ok((place, self.take_repair(place, sources, seed, payload)?))
            }
            Header::WindowSource { .. } | Header::WindowRepair { .. } | Header::Plain => {
                Err(Refusal::Foreign)
            }
        }
    }

    /// Returns the position of a block among the open blocks. If newer blocks may close older blocks, this method makes
    /// room for the block.
    fn place(&mut self, block: u32) -> Result<usize, Refusal> {
        let ahead = block.wrapping_sub(self.first);
        let blocks = self.config.blocks as u32;
        if ahead > u32::MAX / 2 {
            return Err(Refusal::Stale);
        }
        if ahead < blocks {
            return Ok(ahead as usize);
        }
        let beyond = ahead - blocks + 1;
        if self.config.order == Order::InOrder || beyond > FARTHEST {
            return Err(Refusal::Ahead);
        }
        for _ in 0..beyond.min(blocks) {
            self.close_oldest();
        }
        self.first = block.wrapping_sub(blocks - 1);
        Ok(self.config.blocks - 1)
    }

    fn close_oldest(&mut self) {
        if let Some(mut open) = self.open.pop_front().flatten() {
            self.work += (CLOSED * self.config.sources) as u64;
            open.decoder.clear();
            open.arrived.fill(false);
            (open.sources, open.seen, open.next) = (None, 0, 0);
            self.spare.push(open);
        }
        self.open.push_back(None);
        self.first = self.first.wrapping_add(1);
    }

    fn open_at(&mut self, place: usize) -> &mut Open {
        let slot = &mut self.open[place];
        slot.get_or_insert_with(|| self.spare.pop().unwrap_or_else(|| Self::make(self.config)))
    }

    fn take_source(
        &mut self,
        place: usize,
        index: usize,
        last: bool,
        payload: &[u8],
    ) -> Result<Outcome, Refusal> {
        frame(payload, self.config.length, &mut self.framed);
        let framed = std::mem::take(&mut self.framed);
        let open = self.open_at(place);
        let before = open.decoder.work();
        let taken = open.take_source(index, last, &framed);
        let work = open.decoder.work() - before;
        self.framed = framed;
        self.work += work;
        taken
    }

    fn take_repair(
        &mut self,
        place: usize,
        sources: usize,
        seed: u32,
        payload: &[u8],
    ) -> Result<Outcome, Refusal> {
        let open = self.open_at(place);
        open.agree(sources)?;
        let before = open.decoder.work();
        let outcome = open.decoder.repair(0..sources, seed, payload);
        let work = open.decoder.work() - before;
        if outcome != Outcome::Refused {
            open.sources = Some(sources);
        }
        self.work += work;
        if outcome == Outcome::Refused {
            return Err(Refusal::Contradictory);
        }
        Ok(outcome)
    }

    /// Returns the next message to be delivered. Call this method after each symbol, until it returns `None`.
    pub fn poll(&mut self) -> Option<BlockMessage<'_>> {
        loop {
            let (place, index) = match self.config.order {
                Order::InOrder => (0, self.next_in_order()?),
                Order::AsKnown => self.next_known()?,
            };
            let open = self.open[place].as_ref().expect("it has a message");
            let symbol = open.decoder.known(index).expect("it is known");
            if unframe(symbol).is_none() {
                self.statistics.damaged += 1;
                continue;
            }
            let recovered = !open.arrived[index];
            self.statistics.give(recovered);
            let open = self.open[place].as_ref().expect("it has a message");
            let bytes = open.decoder.known(index).and_then(unframe).expect("as above");
            let id = SourceId { block: self.first.wrapping_add(place as u32), index: index as u16 };
            return Some(BlockMessage { id, bytes, recovered });
        }
    }

    fn next_in_order(&mut self) -> Option<usize> {
        loop {
            let open = self.open[0].as_mut()?;
            if open.sources == Some(open.next) {
                self.close_oldest();
                continue;
            }
            open.decoder.known(open.next)?;
            open.next += 1;
            return Some(open.next - 1);
        }
    }

    fn next_known(&mut self) -> Option<(usize, usize)> {
        self.open.iter_mut().enumerate().find_map(|(place, open)| {
            let index = open.as_mut()?.decoder.next_known()?;
            Some((place, index))
        })
    }

    /// Returns the number of the oldest block with a message that was not delivered yet. If there is no such block,
    /// returns the number of the oldest open block.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the number of independent symbols that arrived of an open block.
    #[must_use]
    pub fn rank(&self, block: u32) -> usize {
        let place = block.wrapping_sub(self.first) as usize;
        self.open.get(place).and_then(|open| open.as_ref()).map_or(0, |open| open.decoder.rank())
    }

    /// Returns the counters since the start.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the work since the start: the number of bytes of matrix rows that were read or written.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Returns the maximum memory in bytes, for any symbols that may arrive.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.bound
    }
}

impl Open {
    /// Checks whether the block may have `sources` source symbols.
    fn agree(&self, sources: usize) -> Result<(), Refusal> {
        let agreed = self.sources.is_none_or(|known| known == sources) && sources >= self.seen;
        if agreed { Ok(()) } else { Err(Refusal::Contradictory) }
    }

    fn take_source(&mut self, index: usize, last: bool, framed: &[u8]) -> Result<Outcome, Refusal> {
        if last {
            self.agree(index + 1)?;
        } else if self.sources.is_some_and(|sources| index >= sources) {
            return Err(Refusal::Contradictory);
        }
        let unknown = self.decoder.known(index).is_none();
        let outcome = self.decoder.source(index, framed);
        if outcome == Outcome::Refused {
            return Err(Refusal::Contradictory);
        }
        if last {
            self.sources = Some(index + 1);
        }
        self.seen = self.seen.max(index + 1);
        self.arrived[index] |= unknown;
        Ok(outcome)
    }
}

impl fmt::Debug for BlockReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BlockReceiver");
        debug.field("config", &self.config).field("first", &self.first).field("statistics", &self.statistics);
        debug.finish_non_exhaustive()
    }
}
