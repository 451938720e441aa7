//! RaptorQ (RFC 6330), implemented by the crate `raptorq`. Each block is one source block with one sub-block. A seed is
//! the number of a repair symbol.

use std::ops::Range;

use raptorq::{
    EncodingPacket, ObjectTransmissionInformation, PayloadId, SourceBlockDecoder, SourceBlockEncoder,
};

use crate::codec::{CannotRepair, Decoder, Encoder, Outcome};
use crate::codecs::block_store::BlockStore;

/// Number of possible repair symbols. Encoding symbol IDs have 24 bits (RFC 6330 §3.2). The lowest ones belong to the
/// symbols of the block, which has at most 65 536 symbols.
const SEEDS: u32 = (1 << 24) - (1 << 16);
/// Maximum number of symbols that are added beyond the number of the block's symbols. With each of them, decoding fails
/// with a probability of 1/256. A genuine block therefore never needs all of them.
const SPARE: usize = 16;

/// Part of the work of starting a block before its first repair symbol. This part does not depend on the size of the
/// block. The work is given as the number of bytes that linear codes add in an equal time. The work of reading the
/// block's symbols several times is added to this part.
const BEGUN: usize = 1 << 10;
const PASSES_TO_BEGIN: usize = 2;
/// Work of solving a block (RFC 6330 §5.4). The work of solving has three parts. The first part is the number of times
/// that all symbols are read. The second part is a number of bytes times the square of the number of rows. LDPC and
/// HDPC symbols are additional rows. The third part is a constant. The values were measured, as the number of bytes
/// that linear codes add in an equal time.
const PASSES_TO_SOLVE: usize = 8;
const OF_A_SQUARE: usize = 32;
const OWN_ROWS: usize = 32;
const SOLVED: usize = 64 << 10;

/// Returns the work of solving a block, or of finding that more symbols are needed.
pub(crate) fn solving(symbols: usize, length: usize) -> u64 {
    let rows = symbols + OWN_ROWS;
    (SOLVED + PASSES_TO_SOLVE * symbols * length + OF_A_SQUARE * rows * rows) as u64
}

/// Returns the description of a block of `symbols` symbols with `length` bytes each.
fn block(symbols: usize, length: usize) -> ObjectTransmissionInformation {
    ObjectTransmissionInformation::new((symbols * length) as u64, length as u16, 1, 1, 1)
}

/// Returns the length of a symbol for the crate `raptorq`. The length is at least one byte, even if only coefficients
/// are used.
fn size(length: usize) -> usize {
    length.max(1)
}

/// Encoder of one block.
#[derive(Debug)]
pub(crate) struct RaptorEncoder {
    capacity: usize,
    length: usize,
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    prepared: Option<SourceBlockEncoder>,
}

impl RaptorEncoder {
    pub(crate) fn new(capacity: usize, length: usize) -> Self {
        let (bytes, lengths) = (Vec::with_capacity(capacity * length), Vec::with_capacity(capacity));
        RaptorEncoder { capacity, length, bytes, lengths, prepared: None }
    }

    /// Creates the encoder of one block. Symbols are cut to the length of the longest one. The cut is possible because
    /// the code processes each byte separately and all bytes after that length are 0.
    fn prepare(&self) -> SourceBlockEncoder {
        let longest = size(self.lengths.iter().copied().max().unwrap_or(0));
        let mut data = vec![0; self.lengths.len() * longest];
        for (i, symbol) in data.chunks_exact_mut(longest).enumerate() {
            let source = &self.bytes[i * self.length..][..self.lengths[i]];
            symbol[..source.len()].copy_from_slice(source);
        }
        SourceBlockEncoder::new(0, &block(self.lengths.len(), longest), &data)
    }
}

impl Encoder for RaptorEncoder {
    fn push(&mut self, source: &[u8]) {
        assert!(source.len() <= self.length, "the caller cuts messages to symbols");
        assert!(self.held() < self.capacity, "the caller drops symbols before it pushes more");
        self.bytes.extend_from_slice(source);
        self.lengths.push(source.len());
        self.bytes.resize(self.lengths.len() * self.length, 0);
        self.prepared = None;
    }

    fn held(&self) -> usize {
        self.lengths.len()
    }

    fn source(&self, index: usize) -> Option<&[u8]> {
        (index < self.held()).then(|| &self.bytes[index * self.length..][..self.length])
    }

    fn forget(&mut self, count: usize) {
        let count = count.min(self.held());
        self.bytes.drain(..count * self.length);
        self.lengths.drain(..count);
        self.prepared = None;
    }

    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair> {
        if self.lengths.is_empty() {
            return Err(CannotRepair::Empty);
        }
        if seed >= SEEDS {
            return Err(CannotRepair::Seed(seed));
        }
        let prepared = self.prepared.take().unwrap_or_else(|| self.prepare());
        let symbols = prepared.repair_packets(seed, 1);
        if self.length > 0 {
            out.extend_from_slice(symbols[0].data());
        }
        self.prepared = Some(prepared);
        Ok(())
    }
}

/// Decoder of one block. The number of source symbols comes from the first repair symbol, which covers all of them.
#[derive(Debug)]
pub(crate) struct RaptorDecoder {
    store: BlockStore,
    /// The block's decoder in `raptorq`, and the number of source symbols. The value is `None` before the first repair
    /// symbol.
    begun: Option<(SourceBlockDecoder, usize)>,
    seeds: Vec<u32>,
    decoded: bool,
    /// Work so far ([`Decoder::work`]).
    work: u64,
}

impl RaptorDecoder {
    pub(crate) fn new(capacity: usize, length: usize) -> Self {
        let store = BlockStore::new(capacity, length);
        RaptorDecoder {
            store,
            begun: None,
            seeds: Vec::with_capacity(capacity + SPARE),
            decoded: false,
            work: 0,
        }
    }

    fn worked(&mut self, bytes: usize) {
        self.work += bytes as u64;
    }

    fn symbol(&self, id: u32, payload: &[u8]) -> EncodingPacket {
        let mut data = Vec::with_capacity(size(self.store.length()));
        data.extend_from_slice(payload);
        data.resize(size(self.store.length()), 0);
        EncodingPacket::new(PayloadId::new(0, id), data)
    }

    /// Starts the decoder in `raptorq`, and passes the symbols that arrived before the first repair symbol to it.
    fn begin(&mut self, symbols: usize) {
        let length = size(self.store.length());
        self.worked(BEGUN + PASSES_TO_BEGIN * symbols * length);
        let mut decoder = SourceBlockDecoder::new(0, &block(symbols, length), (symbols * length) as u64);
        let known = (0..symbols).filter_map(|i| self.store.get(i).map(|bytes| self.symbol(i as u32, bytes)));
        let done = decoder.decode(known.collect::<Vec<_>>());
        self.decoded = done.is_some();
        self.begun = Some((decoder, symbols));
    }

    fn give(&mut self, symbol: EncodingPacket) {
        self.work += size(self.store.length()) as u64;
        let Some((decoder, symbols)) = &mut self.begun else {
            return;
        };
        if self.store.count() + self.seeds.len() >= *symbols && !self.decoded {
            self.work += solving(*symbols, size(self.store.length()));
        }
        if let Some(bytes) = decoder.decode([symbol]) {
            self.decoded = true;
            for (i, source) in bytes.chunks_exact(size(self.store.length())).enumerate().take(*symbols) {
                self.store.put(i, &source[..self.store.length()]);
            }
        }
    }
}

impl Decoder for RaptorDecoder {
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome {
        if self.begun.as_ref().is_some_and(|&(_, symbols)| index >= symbols) {
            return Outcome::Refused;
        }
        let outcome = self.store.put(index, payload);
        if outcome == Outcome::Innovative {
            let symbol = self.symbol(index as u32, payload);
            self.give(symbol);
        }
        outcome
    }

    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome {
        let fits = span.start == 0 && span.end > 0 && span.end <= self.store.capacity();
        let agreed = self.begun.as_ref().is_none_or(|&(_, symbols)| symbols == span.end);
        if !fits || !agreed || seed >= SEEDS || payload.len() > self.store.length() {
            return Outcome::Refused;
        }
        if self.begun.is_none() {
            if (span.end..self.store.capacity()).any(|index| self.store.get(index).is_some()) {
                return Outcome::Refused;
            }
            self.begin(span.end);
        }
        if self.decoded || self.seeds.contains(&seed) {
            return Outcome::Redundant;
        }
        if self.seeds.len() >= span.end + SPARE {
            return Outcome::Refused;
        }
        self.seeds.push(seed);
        let symbol = self.symbol(span.end as u32 + seed, payload);
        self.give(symbol);
        Outcome::Innovative
    }

    fn rank(&self) -> usize {
        let Some((_, symbols)) = self.begun else {
            return self.store.count();
        };
        if self.decoded { symbols } else { (self.store.count() + self.seeds.len()).min(symbols - 1) }
    }

    fn known(&self, index: usize) -> Option<&[u8]> {
        self.store.get(index)
    }

    fn next_known(&mut self) -> Option<usize> {
        self.store.next_fresh()
    }

    fn forget(&mut self, count: usize) {
        if count > 0 {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.store.clear();
        self.begun = None;
        self.seeds.clear();
        self.decoded = false;
    }

    fn bound(&self) -> usize {
        // The crate keeps each symbol with its place, and an entry in a set.
        let taken = 2 * self.store.capacity() + SPARE;
        let kept = self.store.bound() + taken * (size(self.store.length()) + 160) + size_of::<Self>();
        kept + self.working()
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn working(&self) -> usize {
        // The solver of the crate holds the symbols, the zeros of RFC 6330 §5.3.3.4.2, the block a second
        // time, and matrices with about as many rows and columns (the factors are measured).
        let symbols = self.store.capacity() + SPARE;
        let matrices = 4 * (symbols + 128) * (symbols + 128) + (64 << 10);
        5 * symbols * (size(self.store.length()) + 160) + matrices
    }
}
