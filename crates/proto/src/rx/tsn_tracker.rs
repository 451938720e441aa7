//! Record of arrived TSNs for SACKs: the cumulative TSN ack point, the blocks beyond it, and the duplicates.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::extend::{extend, narrow, origin};
use crate::wire::serial::Tsn;
use crate::work;

/// Maximum distance of an accepted TSN from the cumulative TSN ack point.
const MAX_DISTANCE: u64 = 1 << 20;
/// Maximum number of separate blocks beyond the cumulative TSN ack point. The blocks take 256 KiB in the worst case.
const MAX_BLOCKS: usize = 16_384;
/// Maximum number of duplicates that are listed for one SACK.
const MAX_DUPLICATES: usize = 32;
/// Number of blocks for which memory stays allocated after all gaps are closed. Ordinary reordering then allocates only
/// once.
const KEPT_BLOCKS: usize = 64;

/// Classification of a TSN by a [`TsnTracker`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The TSN arrived for the first time.
    New,
    /// The TSN arrived before, or is at or before the cumulative TSN ack point.
    Duplicate,
    /// The TSN is not accepted, because it is too far ahead or because there are too many blocks. The chunk of such a
    /// TSN must be dropped as if it had not arrived. The TSN directly after the cumulative TSN ack point is always
    /// accepted.
    TooFar,
}

/// Result of [`TsnTracker::insert`] and [`TsnTracker::check`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Inserted {
    /// Classification of the TSN.
    pub arrival: Arrival,
    /// True if the TSN is new and below the highest received TSN: it fills a gap or a part of a gap.
    pub filled: bool,
}

/// Record of the TSNs received from one peer. The record's memory is bounded for any TSNs that the peer sends.
#[derive(Clone, Debug)]
pub struct TsnTracker {
    cum: u64,
    /// First and last TSN of each block beyond `cum`, in ascending order. There are gaps between the blocks, and a gap
    /// after `cum`.
    blocks: VecDeque<(u64, u64)>,
    duplicates: SmallVec<[Tsn; MAX_DUPLICATES]>,
}

impl TsnTracker {
    /// Creates an empty tracker for a peer whose first TSN, in INIT or INIT ACK, is `peer_initial_tsn`.
    pub fn new(peer_initial_tsn: Tsn) -> Self {
        TsnTracker { cum: origin(peer_initial_tsn) - 1, blocks: VecDeque::new(), duplicates: SmallVec::new() }
    }

    /// Records `tsn` as received unless it is [`Arrival::TooFar`]. A duplicate is listed for the next SACK.
    pub fn insert(&mut self, tsn: Tsn) -> Inserted {
        if self.blocks.is_empty() && tsn == narrow(self.cum + 1) {
            self.cum += 1;
            return Inserted { arrival: Arrival::New, filled: false };
        }
        let inserted = self.check(tsn);
        match inserted.arrival {
            Arrival::New => self.record(extend(self.cum, tsn)),
            Arrival::Duplicate if self.duplicates.len() < MAX_DUPLICATES => self.duplicates.push(tsn),
            Arrival::Duplicate | Arrival::TooFar => {}
        }
        inserted
    }

    /// Returns the result that [`TsnTracker::insert`] would return. A chunk for which there is no room can thus be
    /// dropped without a record.
    pub fn check(&self, tsn: Tsn) -> Inserted {
        let tsn = extend(self.cum, tsn);
        let arrival = if tsn <= self.cum {
            Arrival::Duplicate
        } else if tsn - self.cum > MAX_DISTANCE {
            Arrival::TooFar
        } else {
            self.check_beyond(tsn)
        };
        Inserted { arrival, filled: arrival == Arrival::New && tsn < self.highest_extended() }
    }

    /// Returns the cumulative TSN ack point. Every TSN up to it was received, or abandoned by the peer.
    pub fn cum_tsn(&self) -> Tsn {
        narrow(self.cum)
    }

    /// Returns whether TSNs are missing below the highest received TSN.
    pub fn has_gap(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Returns the highest TSN received, or the cumulative TSN ack point if that is higher.
    pub fn highest(&self) -> Tsn {
        narrow(self.highest_extended())
    }

    /// Returns the gap ack blocks in ascending order, each as its first and last offset from the cumulative TSN ack
    /// point (RFC 9260 §3.3.4). Blocks whose offsets do not fit 16 bits are omitted.
    pub fn gap_blocks(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        let cum = self.cum;
        self.blocks.iter().map_while(move |&(first, last)| {
            let start = u16::try_from(first - cum).ok()?;
            Some((start, u16::try_from(last - cum).unwrap_or(u16::MAX)))
        })
    }

    /// Returns the first 32 duplicates since the last call of [`TsnTracker::clear_duplicates`]. A TSN is listed once
    /// for each time that it arrived again.
    pub fn duplicates(&self) -> &[Tsn] {
        &self.duplicates
    }

    /// Drops the list of duplicates after a SACK has reported it.
    pub fn clear_duplicates(&mut self) {
        self.duplicates.clear();
    }

    /// Releases memory that is empty.
    pub fn shrink(&mut self) {
        self.blocks.shrink_to_fit();
    }

    /// Returns the number of blocks beyond the cumulative TSN ack point.
    #[cfg(any(test, feature = "testing"))]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the used heap in bytes.
    pub fn heap(&self) -> usize {
        self.blocks.capacity() * size_of::<(u64, u64)>()
    }

    /// Handles a FORWARD TSN (RFC 3758 §3.6). A FORWARD TSN moves the cumulative TSN ack point to `new_cum`, and then
    /// over TSNs received beyond `new_cum`. Returns false if `new_cum` is not beyond the point. The chunk is then out
    /// of date and has no effect.
    pub fn forward(&mut self, new_cum: Tsn) -> bool {
        let new_cum = extend(self.cum, new_cum);
        if new_cum <= self.cum {
            return false;
        }
        let passed = self.blocks.partition_point(|&(_, last)| last <= new_cum);
        self.blocks.drain(..passed);
        self.cum = new_cum;
        self.absorb();
        true
    }

    fn highest_extended(&self) -> u64 {
        self.blocks.back().map_or(self.cum, |&(_, last)| last)
    }

    /// Returns the index of the first block that ends at or after `tsn`.
    fn position(&self, tsn: u64) -> usize {
        match self.blocks.back() {
            Some(&(_, last)) if tsn > last => self.blocks.len(),
            _ => self.blocks.partition_point(|&(_, last)| last < tsn),
        }
    }

    fn check_beyond(&self, tsn: u64) -> Arrival {
        let i = self.position(tsn);
        if self.blocks.get(i).is_some_and(|&(first, _)| first <= tsn) {
            return Arrival::Duplicate;
        }
        let alone = tsn != self.cum + 1 && !self.follows(i, tsn) && !self.precedes(i, tsn);
        if alone && self.blocks.len() >= MAX_BLOCKS { Arrival::TooFar } else { Arrival::New }
    }

    /// Returns whether `tsn` directly follows the block before position `i`.
    fn follows(&self, i: usize, tsn: u64) -> bool {
        i.checked_sub(1).and_then(|before| self.blocks.get(before)).is_some_and(|&(_, last)| last + 1 == tsn)
    }

    /// Returns whether `tsn` directly precedes the block at position `i`.
    fn precedes(&self, i: usize, tsn: u64) -> bool {
        self.blocks.get(i).is_some_and(|&(first, _)| first == tsn + 1)
    }

    /// Records a TSN that [`TsnTracker::check_beyond`] classified as new.
    fn record(&mut self, tsn: u64) {
        if tsn == self.cum + 1 {
            self.cum = tsn;
            return self.absorb();
        }
        let i = self.position(tsn);
        work::count(i.min(self.blocks.len() - i));
        match (self.follows(i, tsn), self.precedes(i, tsn)) {
            (true, true) => {
                self.blocks[i - 1].1 = self.blocks[i].1;
                self.blocks.remove(i);
            }
            (true, false) => self.blocks[i - 1].1 = tsn,
            (false, true) => self.blocks[i].0 = tsn,
            (false, false) => self.blocks.insert(i, (tsn, tsn)),
        }
    }

    /// Moves the cumulative TSN ack point over the first block, if the point reaches this block.
    fn absorb(&mut self) {
        if let Some(&(first, last)) = self.blocks.front()
            && first <= self.cum + 1
        {
            self.cum = last;
            self.blocks.pop_front();
        }
        if self.blocks.is_empty() && self.blocks.capacity() > KEPT_BLOCKS {
            self.blocks.shrink_to(KEPT_BLOCKS);
        }
    }
}

#[cfg(test)]
mod tests;
