//! The common interface of all codecs: source symbols in, repair symbols out, source symbols back.
//!
//! Source symbols form a sequence and are indexed by their place in it, counted from the oldest one held. A
//! block is pushed, repaired and dropped as a whole; a sliding window drops its oldest symbol when the next
//! one is pushed.

use std::ops::Range;

use thiserror::Error;

/// Effect of a symbol on a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rank rose by one.
    Innovative,
    /// The symbol added no information.
    Redundant,
    /// The symbol exceeds the decoder's capacity, or no encoder of this code makes it.
    Refused,
}

/// Reason why no repair symbol was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CannotRepair {
    /// No source symbol is held.
    #[error("no source symbol to repair")]
    Empty,
    /// The code has no repair symbol of this seed.
    #[error("the code has no repair symbol with seed {0}")]
    Seed(u32),
}

/// Makes repair symbols from the source symbols it holds. All have at most the length set at construction:
/// zeros at the end may be left out. With length 0 the encoder handles coefficients alone.
pub trait Encoder: Send {
    /// Appends a source symbol.
    ///
    /// # Panics
    /// If the symbol is too long, or the encoder is full.
    fn push(&mut self, source: &[u8]);

    /// The number of source symbols held.
    fn held(&self) -> usize;

    /// The source symbol at `index`, with zeros up to the length of a symbol.
    fn source(&self, index: usize) -> Option<&[u8]>;

    /// Drops the `count` oldest source symbols, at most all of them.
    fn forget(&mut self, count: usize);

    /// Appends to `out` the repair symbol with this `seed` over all source symbols held. Its payload has the
    /// length of the longest of them.
    ///
    /// # Errors
    /// If the encoder is empty or the code has no such symbol; `out` is then unchanged.
    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair>;
}

/// Recovers source symbols from received source and repair symbols. Payloads may be shorter than a symbol:
/// zeros follow. With length 0 the decoder eliminates coefficients alone, and makes the same decisions as
/// with payloads.
pub trait Decoder: Send {
    /// Adds the source symbol at `index`.
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome;

    /// Adds the repair symbol with this `seed` over the source symbols at `span`.
    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome;

    /// Number of independent symbols added and not yet dropped.
    fn rank(&self) -> usize;

    /// The source symbol at `index`, if it is known.
    fn known(&self, index: usize) -> Option<&[u8]>;

    /// Returns the place of a source symbol that has become known, once per symbol.
    fn next_known(&mut self) -> Option<usize>;

    /// Drops the `count` oldest source symbols, and rows that helped only to find them.
    fn forget(&mut self, count: usize);

    /// Drops everything.
    fn clear(&mut self);

    /// Maximum memory in bytes, for any input.
    fn bound(&self) -> usize;

    /// Approximate work since construction, in bytes of rows read or written. The number never falls.
    fn work(&self) -> u64;

    /// Part of [`bound`](Self::bound) that is in use only while a symbol is added: several decoders share it.
    fn working(&self) -> usize {
        0
    }
}
