//! The interface that all codecs implement. An encoder takes source symbols and creates repair symbols. A decoder takes
//! symbols of both kinds and recovers source symbols.
//!
//! Source symbols form a sequence. The index of a symbol is its distance from the oldest symbol that the codec still
//! holds. A block is added, repaired and dropped as a whole. A sliding window drops its oldest symbol when a further
//! symbol is added.

use std::ops::Range;

use thiserror::Error;

/// Effect of a symbol on a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The symbol added information: it increased the rank by one.
    Innovative,
    /// The symbol added no information.
    Redundant,
    /// The symbol exceeds the decoder's capacity, or no encoder of this code can have created it.
    Refused,
}

/// Reason for which no repair symbol was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CannotRepair {
    /// The encoder holds no source symbols.
    #[error("no source symbol to repair")]
    Empty,
    /// The code has no repair symbol with this seed.
    #[error("the code has no repair symbol with seed {0}")]
    Seed(u32),
}

/// Encoder that creates repair symbols from the source symbols that it holds. A source symbol may be shorter than the
/// configured length, because zeros at its end may be omitted. If the configured length is 0, the encoder only computes
/// coefficients.
pub trait Encoder: Send {
    /// Adds a source symbol.
    ///
    /// # Panics
    /// Panics if the symbol is too long or the encoder is full.
    fn push(&mut self, source: &[u8]);

    /// Returns the number of source symbols held.
    fn held(&self) -> usize;

    /// Returns the source symbol at `index`, filled with zeros up to the configured length.
    fn source(&self, index: usize) -> Option<&[u8]>;

    /// Drops the `count` oldest source symbols, at most all of them.
    fn forget(&mut self, count: usize);

    /// Appends a repair symbol to `out`. The symbol has the seed `seed`, and covers all source symbols that the encoder
    /// holds. The payload of the symbol is as long as the longest of these source symbols.
    ///
    /// # Errors
    /// Returns an error if the encoder is empty, or if the code has no symbol with this seed. After an error, `out` is
    /// unchanged.
    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair>;
}

/// Decoder that recovers source symbols from the symbols that arrived. A payload may be shorter than the configured
/// length, because zeros at its end may be omitted. If the configured length is 0, the decoder only processes
/// coefficients. The decisions of such a decoder are the same as with payloads.
pub trait Decoder: Send {
    /// Adds the source symbol at `index`.
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome;

    /// Adds the repair symbol with the seed `seed`. `span` is the range of source symbols that the repair symbol
    /// covers.
    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome;

    /// Returns the number of independent symbols that were added and are not dropped yet.
    fn rank(&self) -> usize;

    /// Returns the source symbol at `index`, if it is known.
    fn known(&self, index: usize) -> Option<&[u8]>;

    /// Returns the index of a source symbol that has become known. Each symbol is returned only once.
    fn next_known(&mut self) -> Option<usize>;

    /// Drops the `count` oldest source symbols, and the rows that serve only to compute them.
    fn forget(&mut self, count: usize);

    /// Drops all symbols.
    fn clear(&mut self);

    /// Returns the maximum memory in bytes, for any symbols that may arrive.
    fn bound(&self) -> usize;

    /// Returns the approximate work since construction: the number of bytes of matrix rows that were read or written.
    /// The value never decreases.
    fn work(&self) -> u64;

    /// Returns the part of [`bound`](Self::bound) that is needed only while a symbol is being added. Several decoders
    /// can share this part.
    fn working(&self) -> usize {
        0
    }
}
