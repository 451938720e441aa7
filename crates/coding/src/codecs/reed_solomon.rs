//! Reed–Solomon code over GF(2^16), implemented by the crate `reed-solomon-simd`. Any k symbols suffice to recover a
//! block of k. Both ends need an equal number of repair symbols per block, because each repair symbol depends on this
//! number. A seed is the number of a repair symbol.

use std::fmt;
use std::ops::Range;

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

use crate::codec::{CannotRepair, Decoder, Encoder, Outcome};
use crate::codecs::block_store::BlockStore;

/// Returns the length of a symbol for the crate `reed-solomon-simd`. The length is at least two bytes, the size of an
/// element, even if only coefficients are used.
fn size(length: usize) -> usize {
    length.next_multiple_of(2).max(2)
}

/// Encoder of one block.
pub(crate) struct RsEncoder {
    capacity: usize,
    length: usize,
    repairs: usize,
    bytes: Vec<u8>,
    held: usize,
    codec: ReedSolomonEncoder,
    /// Repair symbols of the block. All repair symbols are computed when the first one is requested.
    made: Vec<u8>,
}

impl RsEncoder {
    pub(crate) fn new(capacity: usize, length: usize, repairs: usize) -> Self {
        let codec =
            ReedSolomonEncoder::new(capacity, repairs, size(length)).expect("within the code's bounds");
        let (bytes, made) = (vec![0; capacity * size(length)], Vec::with_capacity(repairs * size(length)));
        RsEncoder { capacity, length, repairs, bytes, held: 0, codec, made }
    }

    fn make(&mut self) {
        let size = size(self.length);
        let bounds = "a block of at most the capacity, whole symbols of one size";
        self.codec.reset(self.held, self.repairs, size).expect(bounds);
        for source in self.bytes.chunks_exact(size).take(self.held) {
            self.codec.add_original_shard(source).expect(bounds);
        }
        let made = self.codec.encode().expect(bounds);
        made.recovery_iter().for_each(|symbol| self.made.extend_from_slice(symbol));
    }
}

impl Encoder for RsEncoder {
    fn push(&mut self, source: &[u8]) {
        assert!(source.len() <= self.length, "the caller cuts messages to symbols");
        assert!(self.held < self.capacity, "the caller drops symbols before it pushes more");
        let symbol = &mut self.bytes[self.held * size(self.length)..][..size(self.length)];
        symbol[..source.len()].copy_from_slice(source);
        symbol[source.len()..].fill(0);
        self.held += 1;
        self.made.clear();
    }

    fn held(&self) -> usize {
        self.held
    }

    fn source(&self, index: usize) -> Option<&[u8]> {
        (index < self.held).then(|| &self.bytes[index * size(self.length)..][..self.length])
    }

    fn forget(&mut self, count: usize) {
        let count = count.min(self.held);
        self.bytes.copy_within(count * size(self.length).., 0);
        self.held -= count;
        self.made.clear();
    }

    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair> {
        if self.held == 0 {
            return Err(CannotRepair::Empty);
        }
        if seed as usize >= self.repairs {
            return Err(CannotRepair::Seed(seed));
        }
        if self.made.is_empty() {
            self.make();
        }
        out.extend_from_slice(&self.made[seed as usize * size(self.length)..][..self.length]);
        Ok(())
    }
}

/// Decoder of one block. The number of source symbols comes from the first repair symbol, which covers all of them.
pub(crate) struct RsDecoder {
    store: BlockStore,
    symbols: Option<usize>,
    repairs: Vec<u8>,
    arrived: Vec<bool>,
    count: usize,
    codec: ReedSolomonDecoder,
    padded: Vec<u8>,
    /// Work so far ([`Decoder::work`]).
    work: u64,
}

/// Work of recovering a block. The values were measured, as the number of bytes of rows that linear codes add in an
/// equal time. The work has two parts. The first part of the work is a constant, because missing symbols are searched
/// among all 2^16 symbols. The second part is the number of times that the symbols are read. For this number of
/// readings, the number of symbols is rounded up to a power of two.
const LOCATED: usize = 1 << 20;
const PASSES: usize = 4;

/// Returns the work of recovering a block.
pub(crate) fn restoring(symbols: usize, repairs: usize, length: usize) -> u64 {
    (LOCATED + PASSES * (symbols + repairs).next_power_of_two() * size(length)) as u64
}

impl RsDecoder {
    pub(crate) fn new(capacity: usize, length: usize, repairs: usize) -> Self {
        let codec =
            ReedSolomonDecoder::new(capacity, repairs, size(length)).expect("within the code's bounds");
        RsDecoder {
            store: BlockStore::new(capacity, length),
            symbols: None,
            repairs: vec![0; repairs * size(length)],
            arrived: vec![false; repairs],
            count: 0,
            codec,
            padded: vec![0; size(length)],
            work: 0,
        }
    }

    /// Decodes the block if k of its symbols have arrived.
    fn try_decode(&mut self) {
        let Some(symbols) = self.symbols else {
            return;
        };
        if self.store.count() == symbols || self.store.count() + self.count < symbols {
            return;
        }
        let (size, length) = (size(self.store.length()), self.store.length());
        let bounds = "enough different symbols of one size";
        self.work += restoring(symbols, self.arrived.len(), size);
        self.codec.reset(symbols, self.arrived.len(), size).expect(bounds);
        for i in 0..symbols {
            if let Some(bytes) = self.store.get(i) {
                self.padded[..length].copy_from_slice(bytes);
                self.codec.add_original_shard(i, &self.padded).expect(bounds);
            }
        }
        for (i, symbol) in self.repairs.chunks_exact(size).enumerate().filter(|&(i, _)| self.arrived[i]) {
            self.codec.add_recovery_shard(i, symbol).expect(bounds);
        }
        let restored = self.codec.decode().expect(bounds);
        for (i, bytes) in restored.restored_original_iter() {
            self.store.put(i, &bytes[..length]);
        }
    }
}

impl Decoder for RsDecoder {
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome {
        if self.symbols.is_some_and(|symbols| index >= symbols) {
            return Outcome::Refused;
        }
        self.work += size(self.store.length()) as u64;
        let outcome = self.store.put(index, payload);
        if outcome == Outcome::Innovative {
            self.try_decode();
        }
        outcome
    }

    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome {
        let fits = span.start == 0 && span.end > 0 && span.end <= self.store.capacity();
        let agreed = self.symbols.is_none_or(|symbols| symbols == span.end);
        let beyond = || (span.end..self.store.capacity()).any(|index| self.store.get(index).is_some());
        if !fits || !agreed || payload.len() > self.store.length() || (self.symbols.is_none() && beyond()) {
            return Outcome::Refused;
        }
        let Some(&arrived) = self.arrived.get(seed as usize) else {
            return Outcome::Refused;
        };
        self.symbols = Some(span.end);
        if arrived || self.store.count() == span.end {
            return Outcome::Redundant;
        }
        let size = size(self.store.length());
        self.work += size as u64;
        let symbol = &mut self.repairs[seed as usize * size..][..size];
        symbol[..payload.len()].copy_from_slice(payload);
        symbol[payload.len()..].fill(0);
        self.arrived[seed as usize] = true;
        self.count += 1;
        self.try_decode();
        Outcome::Innovative
    }

    fn rank(&self) -> usize {
        let all = self.store.count() + self.count;
        self.symbols.map_or(all, |symbols| all.min(symbols))
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
        self.symbols = None;
        self.arrived.fill(false);
        self.count = 0;
    }

    fn bound(&self) -> usize {
        // The crate uses a power of two of symbols, in units of 64 bytes.
        let work = 2 * (self.store.capacity() + self.arrived.len()).next_power_of_two();
        let size = size(self.store.length());
        self.store.bound()
            + self.arrived.len() * (size + 1)
            + work * (size.next_multiple_of(64) + 1)
            + size
            + 4096
            + size_of::<Self>()
    }

    fn work(&self) -> u64 {
        self.work
    }
}

impl fmt::Debug for RsEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsEncoder").field("held", &self.held).finish_non_exhaustive()
    }
}

impl fmt::Debug for RsDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsDecoder").field("store", &self.store).finish_non_exhaustive()
    }
}
