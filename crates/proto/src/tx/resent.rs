//! Chunks that were retransmitted on one path.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::serial::Tsn;

/// Chunks that were retransmitted on one path and are in flight on it. The retransmitted chunks are stored in the order
/// of sending and by TSN. With both orders, the cost of a SACK is proportional to the number of chunks that it changes.
/// TSNs are extended to 64 bits ([`super::Outstanding::number`]).
#[derive(Debug, Default)]
pub(crate) struct Resent {
    /// TSN of each chunk and the next new TSN at the time of sending, in the order of sending.
    sent: BTreeMap<u64, (u64, Tsn)>,
    /// TSN of each chunk, and its position in the order of sending. A chunk that was retransmitted twice may have two
    /// entries.
    by_tsn: BTreeSet<(u64, u64)>,
    next: u64,
    /// TSNs that are no longer in flight since the last call of [`Resent::take_left`].
    left: Vec<Tsn>,
}

impl Resent {
    pub fn push(&mut self, number: u64, next_tsn: Tsn) {
        self.sent.insert(self.next, (number, next_tsn));
        self.by_tsn.insert((number, self.next));
        self.next += 1;
    }

    /// Returns the chunk that was sent before all others.
    pub fn first(&self) -> Option<u64> {
        self.sent.first_key_value().map(|(_, (number, _))| *number)
    }

    pub fn lowest(&self) -> Option<u64> {
        self.by_tsn.first().map(|(number, _)| *number)
    }

    pub fn highest(&self) -> Option<u64> {
        self.by_tsn.last().map(|(number, _)| *number)
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn contains(&self, number: u64) -> bool {
        self.by_tsn.range((number, 0)..).next().is_some_and(|e| e.0 == number)
    }

    /// Returns the chunks in the order of sending, each with the next new TSN at the time of sending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Tsn)> {
        self.sent.values().copied()
    }

    /// Records that chunk `tsn` may no longer be in flight on the path.
    pub fn leave(&mut self, tsn: Tsn) {
        if !self.sent.is_empty() {
            self.left.push(tsn);
        }
    }

    /// Returns the TSNs that [`Resent::leave`] recorded. [`Resent::keep_left`] takes the list back.
    pub fn take_left(&mut self) -> Vec<Tsn> {
        core::mem::take(&mut self.left)
    }

    pub fn keep_left(&mut self, mut list: Vec<Tsn>) {
        list.clear();
        self.left = list;
    }

    pub fn remove(&mut self, number: u64) {
        while let Some(&(n, order)) = self.by_tsn.range((number, 0)..).next().filter(|e| e.0 == number) {
            self.by_tsn.remove(&(n, order));
            self.sent.remove(&order);
        }
    }

    pub fn clear(&mut self) {
        self.sent.clear();
        self.by_tsn.clear();
        self.left.clear();
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.left.shrink_to_fit();
    }
}
