//! The common interface of all codecs. An encoder takes source symbols and makes repair symbols. A decoder takes both
//! and recovers the source symbols.
//!
//! Source symbols form a sequence. The index of a symbol is its distance from the oldest symbol that is still held. A
//! block is added, repaired and dropped as a whole. A sliding window drops its oldest symbol when the next one is
//! added.

use std::ops::Range;

use thiserror::Error;

/// The effect of a symbol on a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The symbol added information: the rank rose by one.
    Innovative,
    /// The symbol added no information.
    Redundant,
    /// The symbol is beyond the decoder's capacity, or no encoder of this code can have made it.
    Refused,
}

/// Reason why no repair symbol was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CannotRepair {
    /// The encoder holds no source symbol.
    #[error("no source symbol to repair")]
    Empty,
    /// The code has no repair symbol with this seed.
    #[error("the code has no repair symbol with seed {0}")]
    Seed(u32),
}

/// Makes repair symbols from the source symbols that it holds. A source symbol may be shorter than the length that was
/// set at construction, because zeros at the end may be left out. If that length is 0, the encoder only computes
/// coefficients.
pub trait Encoder: Send {
    /// Appends a source symbol.
    ///
    /// # Panics
    /// If the symbol is too long, or if the encoder is full.
    fn push(&mut self, source: &[u8]);

    /// Number of source symbols held.
    fn held(&self) -> usize;

    /// The source symbol at `index`, filled with zeros up to the length of a symbol.
    fn source(&self, index: usize) -> Option<&[u8]>;

    /// Drops the `count` oldest source symbols, at most all of them.
    fn forget(&mut self, count: usize);

    /// Appends a repair symbol to `out`. It is the one with this `seed` over all source symbols that the encoder holds.
    /// Its payload is as long as the longest of them.
    ///
    /// # Errors
    /// If the encoder is empty, or if the code has no such symbol. `out` then does not change.
    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair>;
}

/// Recovers source symbols from the source and repair symbols that arrived. A payload may be shorter than a symbol,
/// because zeros at its end may be left out. With length 0, the decoder only processes coefficients, and its decisions
/// are the same as with payloads.
pub trait Decoder: Send {
    /// Adds the source symbol at `index`.
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome;

    /// Adds the repair symbol with this `seed`. `span` is the range of the source symbols that it covers.
    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome;

    /// Number of independent symbols that were added and not dropped since.
    fn rank(&self) -> usize;

    /// The source symbol at `index`, if it is known.
    fn known(&self, index: usize) -> Option<&[u8]>;

    /// Returns the index of a source symbol that has become known. Each symbol is returned once.
    fn next_known(&mut self) -> Option<usize>;

    /// Drops the `count` oldest source symbols, and the rows that only help to compute them.
    fn forget(&mut self, count: usize);

    /// Drops everything.
    fn clear(&mut self);

    /// Maximum memory in bytes, whatever symbols arrive.
    fn bound(&self) -> usize;

    /// Approximate work since construction: the number of bytes of rows that were read or written. It never decreases.
    fn work(&self) -> u64;

    /// The part of [`bound`](Self::bound) that is used only while a symbol is being added. Several decoders share it.
    fn working(&self) -> usize {
        0
    }
}
