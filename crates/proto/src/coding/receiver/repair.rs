//! Repair: messages are delivered as they arrive, and repair symbols restore missing ones. A restored message is
//! delivered at once.

use bytes::{Buf as _, Bytes};
use strandcast_coding::Refusal;
use strandcast_coding::blocks::BlockReceiver;
use strandcast_coding::symbol::{Header, SOURCE_HEADER};
use strandcast_coding::windows::WindowReceiver;

use super::Taken;
use super::given::Given;
use crate::coding::agreement::Agreed;
use crate::coding::budget::Budget;
use crate::coding::covered;
use crate::coding::stats::CodingStats;
use crate::rx::Message;
use crate::time::Instant;
use crate::wire::{Ssn, Tsn};

/// Receiver of repair symbols; see the [module](self).
pub(super) struct Repaired {
    receiver: Receiver,
    given: Given,
    streams: u16,
    /// Number of source symbols per block. Messages of all blocks are numbered consecutively.
    sources: u32,
    /// Buffer for a source symbol in the form that repair symbols cover.
    symbol: Vec<u8>,
    /// Number of restored symbols that are not messages.
    unreadable: u64,
    /// TSN of the last chunk, and its time of arrival. Messages that this chunk restores have this time.
    last: (Tsn, Instant),
}

enum Receiver {
    Window(WindowReceiver),
    Blocks(BlockReceiver),
}

impl Repaired {
    pub fn new(agreed: &Agreed, streams: u16) -> Self {
        let receiver = if agreed.code.slides() {
            Receiver::Window(WindowReceiver::new(agreed.window()))
        } else {
            Receiver::Blocks(BlockReceiver::new(agreed.blocks()))
        };
        Repaired {
            receiver,
            given: Given::new(),
            streams,
            sources: agreed.sources.into(),
            symbol: Vec::with_capacity(SOURCE_HEADER + usize::from(agreed.symbol_length)),
            unreadable: 0,
            last: (Tsn(0), Instant::ZERO),
        }
    }

    /// Processes a received chunk. While `budget` permits no work, repair symbols are dropped, and received messages
    /// are not passed to the decoder.
    pub fn take(
        &mut self,
        mut arrived: Message,
        budget: &mut Budget,
        stats: &mut CodingStats,
    ) -> Option<Message> {
        self.last = (arrived.first_tsn, arrived.arrived);
        let header = Header::read(&arrived.payload);
        let (header, payload) = match header {
            Ok((header, payload)) => (header, payload),
            Err(_) => {
                stats.symbols_refused += 1;
                return None;
            }
        };
        let number = match header {
            Header::Repair { .. } | Header::WindowRepair { .. } if !budget.allows() => {
                stats.symbols_refused += 1;
                stats.symbols_shed += 1;
                return None;
            }
            Header::Repair { .. } | Header::WindowRepair { .. } => {
                let innovative = self.receive(&arrived.payload);
                Taken { repair: true, innovative }.count(stats);
                return None;
            }
            // A message is never empty.
            _ if payload.is_empty() => {
                stats.symbols_refused += 1;
                return None;
            }
            Header::Plain => None,
            Header::WindowSource { number } => Some(number),
            Header::Source { block, index, .. } => Some(self.number(block, index)),
        };
        let Some(number) = number else {
            arrived.payload.advance(header.length());
            return Some(arrived);
        };
        budget.earn(payload.len());
        let innovative = if budget.allows() { self.source(header, &arrived) } else { Err(Refusal::Ahead) };
        match innovative {
            // A message after the last repairable one is still delivered, and so is one that bypasses the decoder.
            Err(Refusal::Ahead) => stats.sources_received += 1,
            _ => {
                Taken { repair: false, innovative }.count(stats)?;
            }
        }
        if !self.given.enter(number) {
            stats.sources_late += 1;
            return None;
        }
        arrived.payload.advance(header.length());
        Some(arrived)
    }

    /// Returns the number of a message that is in a block.
    fn number(&self, block: u32, index: u16) -> u32 {
        block.wrapping_mul(self.sources).wrapping_add(index.into())
    }

    /// Writes a source symbol in the form that repair symbols cover. This form includes the stream and the payload
    /// protocol identifier.
    fn rebuild(&mut self, header: Header, arrived: &Message) {
        self.symbol.clear();
        header.write(&mut self.symbol);
        covered::append(arrived.stream, arrived.ppid, &arrived.payload[header.length()..], &mut self.symbol);
    }

    /// Passes a received message to the decoder.
    fn source(&mut self, header: Header, arrived: &Message) -> Result<bool, Refusal> {
        self.rebuild(header, arrived);
        let symbol = core::mem::take(&mut self.symbol);
        let innovative = self.receive(&symbol);
        self.symbol = symbol;
        innovative
    }

    fn receive(&mut self, symbol: &[u8]) -> Result<bool, Refusal> {
        match &mut self.receiver {
            Receiver::Window(window) => window.receive(symbol).map(|taken| taken.innovative),
            Receiver::Blocks(blocks) => blocks.receive(symbol).map(|taken| taken.innovative),
        }
    }

    /// Returns the next message that repair symbols restored.
    pub fn pop(&mut self, stats: &mut CodingStats) -> Option<Message> {
        let message = self.next();
        let counted = match &self.receiver {
            Receiver::Window(window) => window.statistics(),
            Receiver::Blocks(blocks) => blocks.statistics(),
        };
        stats.damaged = counted.damaged + self.unreadable;
        stats.recovered += u64::from(message.is_some());
        message
    }

    fn next(&mut self) -> Option<Message> {
        loop {
            let (number, bytes, recovered) = match &mut self.receiver {
                Receiver::Window(window) => {
                    let m = window.poll()?;
                    (m.number, m.bytes, m.recovered)
                }
                Receiver::Blocks(blocks) => {
                    let m = blocks.poll()?;
                    let number = m.id.block.wrapping_mul(self.sources).wrapping_add(m.id.index.into());
                    (number, m.bytes, m.recovered)
                }
            };
            // Messages that arrived were delivered already.
            if !recovered || !self.given.enter(number) {
                continue;
            }
            let Some((stream, ppid, payload)) = covered::read(bytes).filter(|(s, ..)| s.0 < self.streams)
            else {
                self.unreadable += 1;
                continue;
            };
            let (first_tsn, arrived) = self.last;
            let payload = Bytes::copy_from_slice(payload);
            let message = Message { stream, ssn: Ssn(0), ppid, unordered: true, payload, first_tsn, arrived };
            return Some(message);
        }
    }

    /// Returns the work of the decoders so far.
    pub fn work(&self) -> u64 {
        match &self.receiver {
            Receiver::Window(window) => window.work(),
            Receiver::Blocks(blocks) => blocks.work(),
        }
    }

    pub fn heap(&self) -> usize {
        let decoder = match &self.receiver {
            Receiver::Window(window) => window.bound(),
            Receiver::Blocks(blocks) => blocks.bound(),
        };
        decoder + self.given.heap() + self.symbol.capacity()
    }
}
