//! Sums of source symbols, which are stored in a ring of rows.

use crate::codec::{CannotRepair, Encoder};
use crate::codecs::coefficients::Coefficients;
use crate::codecs::kernel::{Kernel, Term, row};

/// Encoder of a random linear code, for a block or a window.
#[derive(Debug)]
pub(crate) struct LinearEncoder {
    how: Coefficients,
    kernel: Kernel,
    length: usize,
    /// The rows of source symbols. The row of a symbol has the index of its position modulo the capacity. Each row is
    /// filled with zeros at its end.
    arena: Vec<u8>,
    /// Length in bytes of the symbol in each row.
    lengths: Vec<usize>,
    /// Row of the oldest source symbol.
    first: usize,
    held: usize,
    coefficients: Vec<u8>,
    terms: Vec<Term>,
    sum: Vec<u8>,
}

impl LinearEncoder {
    /// Returns an encoder for at most `capacity` source symbols of at most `length` bytes.
    pub(crate) fn new(how: Coefficients, capacity: usize, length: usize) -> Self {
        LinearEncoder {
            how,
            kernel: Kernel::new(),
            length,
            arena: vec![0; capacity * row(length)],
            lengths: vec![0; capacity],
            first: 0,
            held: 0,
            coefficients: vec![0; capacity],
            terms: Vec::with_capacity(capacity),
            sum: vec![0; row(length)],
        }
    }

    fn row_of(&self, index: usize) -> usize {
        (self.first + index) % self.lengths.len()
    }
}

impl Encoder for LinearEncoder {
    fn push(&mut self, source: &[u8]) {
        assert!(source.len() <= self.length, "the caller cuts messages to symbols");
        assert!(self.held < self.lengths.len(), "the caller drops symbols before it pushes more");
        let at = self.row_of(self.held);
        let bytes = &mut self.arena[at * row(self.length)..][..row(self.length)];
        bytes[..source.len()].copy_from_slice(source);
        bytes[source.len()..].fill(0);
        self.lengths[at] = source.len();
        self.held += 1;
    }

    fn held(&self) -> usize {
        self.held
    }

    fn source(&self, index: usize) -> Option<&[u8]> {
        (index < self.held).then(|| &self.arena[self.row_of(index) * row(self.length)..][..self.length])
    }

    fn forget(&mut self, count: usize) {
        let count = count.min(self.held);
        self.first = self.row_of(count);
        self.held -= count;
    }

    fn repair(&mut self, seed: u32, out: &mut Vec<u8>) -> Result<(), CannotRepair> {
        if self.held == 0 {
            return Err(CannotRepair::Empty);
        }
        if !self.how.valid(seed) {
            return Err(CannotRepair::Seed(seed));
        }
        let longest = (0..self.held).map(|index| self.lengths[self.row_of(index)]).max().unwrap_or(0);
        if longest > 0 {
            self.how.fill(seed, &mut self.coefficients[..self.held]);
            self.terms.clear();
            for index in 0..self.held {
                let coefficient = self.coefficients[index];
                if coefficient != 0 {
                    self.terms.push(Term { coefficient, at: self.row_of(index) * row(self.length) });
                }
            }
            let sum = &mut self.sum[..row(longest)];
            sum.fill(0);
            self.kernel.add(sum, &self.arena, &self.terms);
            out.extend_from_slice(&sum[..longest]);
        }
        Ok(())
    }
}
