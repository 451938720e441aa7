//! The sending end of coded blocks. Messages form one stream of bytes, which is cut into source symbols. A fixed number
//! of source symbols is a block.
//!
//! In the stream, each message is a [record](super::record).
//!
//! The sender keeps the rank of the receiver's decoder. The sender computes the rank by eliminating acknowledged
//! symbols, for which their coefficients suffice.

use std::collections::VecDeque;
use std::fmt;

use bytes::Bytes;
use smallvec::SmallVec;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, BlockSender, Order, SourceId};
use strandcast_coding::codec::{Decoder, Outcome};
use strandcast_coding::symbol::Header;

use super::record::write_header;
use super::written::{Arena, Written};
use crate::policy::{BlockView, Symbol, SymbolChoice, SymbolKind};
use crate::time::{Duration, Instant};
use crate::tx::QueuedMessage;

/// Bytes that a record's header and a symbol's framing add to a message that has its own symbol: 4 and 2 bytes. A
/// message with a stream and a payload protocol identifier has more.
pub(crate) const RECORD_OVERHEAD: usize = 4 + FRAMING;
/// Number of bytes before the payload of a source symbol when the symbol is added to a repair symbol. [`BlockSender`]
/// writes the symbol's length into these bytes.
const FRAMING: usize = 2;

/// Shape on which both ends agreed, and the longest time for which a block waits to be filled.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct BlockShape {
    /// [`Code::Rlc`] or [`Code::Fountain`].
    pub code: Code,
    /// Number of source symbols per block.
    pub sources: usize,
    /// Maximum bytes of a repair symbol's payload.
    pub symbol_length: usize,
    /// Number of blocks that are open at once.
    pub blocks: usize,
    /// Longest wait of a block's first byte. The block is then closed even if it is not full.
    pub flush: Duration,
}

/// Data that the sender no longer has to keep.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Released {
    /// Number of bytes of messages.
    pub bytes: usize,
    /// Number of messages that ended in these bytes.
    pub messages: u64,
}

impl Released {
    fn add(&mut self, other: Released) {
        self.bytes += other.bytes;
        self.messages += other.messages;
    }
}

/// A message whose bytes are being moved into symbols.
#[derive(Debug)]
struct Record {
    head: SmallVec<[u8; 10]>,
    payload: Bytes,
    /// Bytes of the header and the message that are already in symbols.
    taken: usize,
}

impl Record {
    fn new(message: QueuedMessage) -> Self {
        let mut head = SmallVec::new();
        let names = (message.stream, message.ppid);
        write_header(names, message.unordered, message.payload.len(), &mut head);
        Record { head, payload: message.payload, taken: 0 }
    }

    /// Moves up to `room` bytes of the record to `out`. Returns how many of these bytes belong to the message itself.
    fn take(&mut self, room: usize, out: &mut Vec<u8>) -> usize {
        let begin = self.head.get(self.taken..).unwrap_or_default();
        let begin = &begin[..begin.len().min(room)];
        out.extend_from_slice(begin);
        self.taken += begin.len();
        let room = room - begin.len();
        if self.taken < self.head.len() {
            return 0;
        }
        let from = self.taken - self.head.len();
        let own = room.min(self.payload.len() - from);
        out.extend_from_slice(&self.payload[from..from + own]);
        self.taken += own;
        own
    }

    fn ended(&self) -> bool {
        self.taken == self.head.len() + self.payload.len()
    }

    /// Returns the bytes of the message that are not in symbols yet.
    fn left(&self) -> usize {
        self.payload.len() - self.taken.saturating_sub(self.head.len())
    }
}

/// State of a block in addition to its source symbols.
struct Kept {
    /// Decoder of the acknowledged symbols, which computes the rank.
    rank: Box<dyn Decoder>,
    /// Bytes of messages in the block's symbols that are not yet released.
    holds: Released,
    /// Length in bytes of each source symbol.
    lengths: Vec<u16>,
    closed: bool,
    /// True if the receiver has the whole block, or will have it after it processes the symbols that it acknowledged.
    done: bool,
}

impl Kept {
    fn complete(&self) -> bool {
        self.rank.rank() == self.lengths.len()
    }
}

/// The sending end of coded blocks; see the [module](self).
pub(crate) struct BlockSource {
    shape: BlockShape,
    sender: BlockSender,
    /// Number of the oldest block in `kept`.
    first: u32,
    kept: VecDeque<Kept>,
    spare: Vec<Kept>,
    record: Option<Record>,
    /// Source symbol that is being filled, with the bytes of messages in it.
    piece: Vec<u8>,
    piece_holds: Released,
    /// Time at which the first byte arrived that is not in a closed block. Data have waited since then.
    since: Option<Instant>,
    /// Bytes of messages that were accepted and are not yet released.
    bytes: usize,
    /// Bytes of source symbols that were never sent, in blocks that are not done.
    unsent: usize,
    scratch: Vec<u8>,
    arena: Arena,
}

impl BlockSource {
    /// Creates a source. `seed` is the seed of the first repair symbol.
    pub fn new(shape: BlockShape, seed: u32) -> Self {
        let BlockShape { code, sources, symbol_length: length, blocks, .. } = shape;
        let config = BlockConfig { code, sources, length, blocks, order: Order::InOrder };
        BlockSource {
            shape,
            sender: BlockSender::new(config, seed),
            first: 0,
            kept: VecDeque::with_capacity(blocks),
            spare: Vec::new(),
            record: None,
            piece: Vec::with_capacity(length),
            piece_holds: Released::default(),
            since: None,
            bytes: 0,
            unsent: 0,
            scratch: Vec::with_capacity(length + 16),
            arena: Arena::default(),
        }
    }

    /// Takes messages while blocks have room for them. Returns whether there are new symbols. `most` is the greatest
    /// length in bytes of a repair symbol's payload that fits a packet.
    pub fn fill(
        &mut self,
        now: Instant,
        most: usize,
        mut next: impl FnMut() -> Option<QueuedMessage>,
        views: &mut Vec<BlockView>,
    ) -> bool {
        let length = self.shape.symbol_length.min(most).saturating_sub(FRAMING).max(1);
        let mut more = false;
        loop {
            if self.piece.len() >= length {
                if !self.push_piece(views) {
                    return more;
                }
                more = true;
            }
            if self.record.is_none() {
                let Some(message) = next() else { return more };
                self.bytes += message.payload.len();
                self.record = Some(Record::new(message));
            }
            let Some(record) = &mut self.record else { return more };
            self.since = self.since.or(Some(now));
            self.piece_holds.bytes += record.take(length - self.piece.len(), &mut self.piece);
            if record.ended() {
                self.piece_holds.messages += 1;
                self.record = None;
            }
        }
    }

    /// Returns whether another source symbol can be placed in the block that is being filled, or in a new block.
    fn has_place(&self) -> bool {
        self.kept.len() < self.shape.blocks || self.kept.back().is_some_and(|last| !last.closed)
    }

    /// Turns the bytes in `piece` into a source symbol, if a block has a place for it.
    fn push_piece(&mut self, views: &mut Vec<BlockView>) -> bool {
        let Ok(id) = self.sender.push(&self.piece) else { return false };
        if id.index == 0 {
            let kept = self.spare.pop().unwrap_or_else(|| self.make());
            self.kept.push_back(kept);
            views.push(BlockView {
                number: id.block,
                sources: 0,
                closed: false,
                rank: 0,
                sources_sent: 0,
                repairs_sent: 0,
                in_flight: SmallVec::new(),
            });
        }
        let closed = usize::from(id.index) + 1 == self.shape.sources;
        let (kept, view) = self.kept.back_mut().zip(views.last_mut()).expect("it was pushed to this block");
        kept.holds.add(core::mem::take(&mut self.piece_holds));
        kept.lengths.push(self.piece.len() as u16);
        (kept.closed, view.closed) = (closed, closed);
        view.sources += 1;
        self.unsent += self.piece.len();
        self.piece.clear();
        if closed {
            self.since = None;
        }
        true
    }

    /// Returns the bytes of messages and their records in each kept block, oldest first.
    pub fn extents(&self) -> impl Iterator<Item = (u32, u64)> {
        let bytes = |kept: &Kept| kept.lengths.iter().map(|length| u64::from(*length)).sum();
        self.kept.iter().zip(0u32..).map(move |(kept, at)| (self.first.wrapping_add(at), bytes(kept)))
    }

    fn make(&self) -> Kept {
        Kept {
            rank: self.shape.code.decoder(self.shape.sources, 0),
            holds: Released::default(),
            lengths: Vec::with_capacity(self.shape.sources),
            closed: false,
            done: false,
        }
    }

    /// Closes the block that is being filled, although it is not full. Data that wait for a place in the block are put
    /// into it. Returns whether there are new symbols. If all source symbols of a block were already sent, the block
    /// stays open. Further symbols may follow in it, and each symbol is retransmitted until it arrives.
    pub fn flush(&mut self, views: &mut Vec<BlockView>) -> bool {
        let more = !self.piece.is_empty();
        if more && !self.push_piece(views) {
            return false;
        }
        self.since = None;
        let Some((kept, view)) = self.kept.back_mut().zip(views.last_mut()).filter(|(kept, _)| !kept.closed)
        else {
            return more;
        };
        if view.sources_sent == view.sources {
            return more;
        }
        self.sender.close();
        (kept.closed, view.closed) = (true, true);
        true
    }

    /// Returns the time at which [`Self::flush`] must be called.
    pub fn timeout(&self) -> Option<Instant> {
        self.since.filter(|_| self.has_place()).map(|since| since + self.shape.flush)
    }

    /// Writes the symbol that the scheduler chose, if it exists. The symbol counts as sent.
    pub fn write(&mut self, views: &mut [BlockView], block: u32, what: SymbolChoice) -> Option<Written> {
        let view = views.get_mut(BlockView::find(views, block)?)?;
        self.scratch.clear();
        let kind = match what {
            SymbolChoice::Source => {
                let index = Some(view.sources_sent).filter(|index| *index < view.sources)?;
                self.sender.write_source(SourceId { block, index }, &mut self.scratch).ok()?;
                view.sources_sent += 1;
                self.unsent -= usize::from(self.kept[self.place(block)?].lengths[usize::from(index)]);
                SymbolKind::Source(index)
            }
            SymbolChoice::Repair => {
                self.sender.write_repair(block, &mut self.scratch).ok()?;
                view.repairs_sent += 1;
                SymbolKind::Repair
            }
        };
        let symbol = Symbol { block, sources: view.sources, kind };
        let (header, payload) = self.arena.keep(&self.scratch);
        Some(Written { header, payload, symbol, expires: None })
    }

    fn place(&self, block: u32) -> Option<usize> {
        let place = block.wrapping_sub(self.first) as usize;
        (place < self.kept.len()).then_some(place)
    }

    /// Records that the symbol with this `header` arrived.
    pub fn delivered(&mut self, header: &Header, views: &mut Vec<BlockView>) {
        let (Header::Source { block, .. } | Header::Repair { block, .. }) = *header else { return };
        let Some(place) = self.place(block) else { return };
        let kept = &mut self.kept[place];
        let outcome = match *header {
            Header::Source { index, .. } => kept.rank.source(index.into(), &[]),
            Header::Repair { sources, seed, .. } => kept.rank.repair(0..sources.into(), seed, &[]),
            _ => return,
        };
        let Some(at) = BlockView::find(views, block) else { return };
        views[at].rank += u16::from(outcome == Outcome::Innovative);
        if kept.closed && kept.complete() {
            kept.done = true;
            self.unsent -=
                kept.lengths[views[at].sources_sent.into()..].iter().map(|l| usize::from(*l)).sum::<usize>();
            views.remove(at);
        }
    }

    /// Releases the oldest blocks that are done, so that new blocks may begin.
    pub fn let_go(&mut self) -> Released {
        let mut released = Released::default();
        while let Some(oldest) = self.kept.front_mut().filter(|kept| kept.complete()) {
            released.add(core::mem::take(&mut oldest.holds));
            if !oldest.done {
                break;
            }
            let mut gone = self.kept.pop_front().expect("just seen");
            gone.rank.clear();
            gone.lengths.clear();
            (gone.closed, gone.done) = (false, false);
            self.spare.push(gone);
            self.first = self.first.wrapping_add(1);
            self.sender.release(self.first);
        }
        self.bytes -= released.bytes;
        released
    }

    /// Returns whether the receiver still needs the symbol with this `header`, which was lost.
    pub fn needs(&self, header: &Header) -> bool {
        let (Header::Source { block, .. } | Header::Repair { block, .. }) = *header else { return false };
        self.place(block).is_some_and(|place| !self.kept[place].done)
    }

    /// Returns whether the receiver has all data, or will have them after it processes the symbols that it
    /// acknowledged.
    pub fn is_empty(&self) -> bool {
        self.record.is_none() && self.piece.is_empty() && self.kept.iter().all(Kept::complete)
    }

    /// Returns the bytes of messages that were accepted and are not yet released.
    #[cfg(any(test, feature = "testing"))]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes that wait to be sent for the first time.
    pub fn unsent(&self) -> usize {
        self.unsent + self.piece.len() + self.record.as_ref().map_or(0, Record::left)
    }

    /// Returns the counted bytes of the longest chunk that a symbol may need: payload + 16 bytes.
    pub fn symbol_room(&self, most: usize) -> usize {
        self.shape.symbol_length.min(most) + strandcast_coding::symbol::REPAIR_HEADER
    }

    /// Returns the heap in bytes in addition to [`Self::bytes`].
    pub fn heap(&self) -> usize {
        let row = self.shape.symbol_length.next_multiple_of(64);
        let k = self.shape.sources;
        let each = k * row + k * k.next_multiple_of(64) + k * size_of::<u16>();
        let coded = self.bytes - self.record.as_ref().map_or(0, Record::left);
        ((self.kept.len() + self.spare.len()).max(1) * each).saturating_sub(coded)
    }
}

impl fmt::Debug for BlockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BlockSource");
        debug.field("shape", &self.shape).field("first", &self.first).field("kept", &self.kept.len());
        debug.field("bytes", &self.bytes).field("since", &self.since).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
