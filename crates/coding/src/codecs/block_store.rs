//! Store of the known source symbols of one block. The decoders that use other crates' codecs share it.

use std::collections::VecDeque;

use crate::codec::Outcome;

/// Source symbols of equal length. Each is stored by its position in the block.
#[derive(Debug)]
pub(crate) struct BlockStore {
    length: usize,
    bytes: Vec<u8>,
    known: Vec<bool>,
    count: usize,
    fresh: VecDeque<usize>,
}

impl BlockStore {
    pub(crate) fn new(capacity: usize, length: usize) -> Self {
        let (bytes, known) = (vec![0; capacity * length], vec![false; capacity]);
        BlockStore { length, bytes, known, count: 0, fresh: VecDeque::with_capacity(capacity) }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns the number of known source symbols.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Stores the source symbol at `index`, unless it is already known.
    pub(crate) fn put(&mut self, index: usize, payload: &[u8]) -> Outcome {
        if index >= self.capacity() || payload.len() > self.length {
            return Outcome::Refused;
        }
        if self.known[index] {
            return Outcome::Redundant;
        }
        let bytes = &mut self.bytes[index * self.length..][..self.length];
        bytes[..payload.len()].copy_from_slice(payload);
        bytes[payload.len()..].fill(0);
        self.known[index] = true;
        self.count += 1;
        self.fresh.push_back(index);
        Outcome::Innovative
    }

    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        self.known
            .get(index)
            .is_some_and(|&known| known)
            .then(|| &self.bytes[index * self.length..][..self.length])
    }

    pub(crate) fn next_fresh(&mut self) -> Option<usize> {
        self.fresh.pop_front()
    }

    pub(crate) fn clear(&mut self) {
        self.known.fill(false);
        self.count = 0;
        self.fresh.clear();
    }

    /// Returns the maximum memory in bytes.
    pub(crate) fn bound(&self) -> usize {
        self.capacity() * (self.length + 1 + size_of::<usize>())
    }
}
