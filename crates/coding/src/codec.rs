//! What every codec does: source symbols in, repair symbols out, source symbols back.
//!
//! Source symbols stand in a row, and are named by their place in it, from the oldest that is still held. A block is pushed
//! whole, repaired and forgotten whole; a sliding window forgets its oldest symbol when the next is pushed.

use std::ops::Range;

use thiserror::Error;

/// What a symbol brought the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rank rose by one.
    Innovative,
    /// Nothing that was not known.
    Redundant,
    /// A symbol that no encoder of this code makes, or beyond what the decoder holds.
    Refused,
}

/// Why there is no repair symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CannotRepair {
    /// No source symbol is held.
    #[error("no source symbol to repair")]
    Empty,
    /// The code has no repair symbol of this seed.
    #[error("the code has no repair symbol with seed {0}")]
    Seed(u32),
}

/// Makes repair symbols of the source symbols it holds. All have a length set at construction, or less: zeros at the end may
/// be left out. With length 0 it is for coefficients alone.
pub trait Encoder: Send {
    /// Appends a source symbol.
    ///
    /// # Panics
    /// If it is longer than a symbol, or as many are held as the encoder was made for.
    fn push(&mut self, source: &[u8]);

    /// The number of source symbols held.
    fn held(&self) -> usize;

    /// The source symbol at `index`, with zeros up to the length of a symbol.
    fn source(&self, index: usize) -> Option<&[u8]>;

    /// Forgets the `count` oldest source symbols, or all.
    fn forget(&mut self, count: usize);

    /// Appends to `out` the repair symbol that `seed` gives over all source symbols held, up to the longest of them.
    ///
    /// # Errors
    /// If nothing is held or the code has no such symbol; `out` is unchanged then.
    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair>;
}

/// Gets source symbols back from those that arrived and from repair symbols. Payloads may be shorter than a symbol: zeros
/// follow. With length 0 it eliminates coefficients alone, and decides as it does with payloads.
pub trait Decoder: Send {
    /// Takes the source symbol at `index`.
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome;

    /// Takes the repair symbol that `seed` gives over the source symbols at `span`.
    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome;

    /// The number of independent symbols among those taken, less those forgotten.
    fn rank(&self) -> usize;

    /// The source symbol at `index`, if it is known.
    fn known(&self, index: usize) -> Option<&[u8]>;

    /// The place of a source symbol that became known and was not yet given out here.
    fn next_known(&mut self) -> Option<usize>;

    /// Forgets the `count` oldest source symbols and what only helped to find them.
    fn forget(&mut self, count: usize);

    /// Forgets everything.
    fn clear(&mut self);

    /// Bytes of memory held at the most, whatever is taken.
    fn bound(&self) -> usize;

    /// Work since it was made: bytes of rows that were read or written, about. It never falls.
    fn work(&self) -> u64;

    /// Of those, bytes that are only taken while a symbol is: several decoders share them.
    fn working(&self) -> usize {
        0
    }
}
