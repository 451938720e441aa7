//! State that a scheduler of symbols keeps of each open block.

use std::collections::VecDeque;

use strandcast_proto::policy::BlockView;

/// Greatest number of blocks that are tracked, starting with the oldest open block. No receive buffer holds more
/// blocks.
const MOST: u32 = 1 << 16;

/// Values of `T`, one for each block from the oldest open block to the newest.
#[derive(Debug, Default)]
pub(super) struct PerBlock<T> {
    /// The number of the first of `blocks`.
    first: u32,
    /// Number of blocks from the oldest open block to the newest.
    span: u32,
    /// States of the blocks that were requested.
    blocks: VecDeque<T>,
}

impl<T: Default + Clone> PerBlock<T> {
    /// Drops blocks that are no longer open. Without open blocks the state does not change.
    pub fn follow(&mut self, open: &[BlockView]) {
        let (Some(oldest), Some(newest)) = (open.first(), open.last()) else { return };
        let gone = oldest.number.wrapping_sub(self.first) as usize;
        self.blocks.drain(..self.blocks.len().min(gone));
        self.first = oldest.number;
        self.span = newest.number.wrapping_sub(oldest.number).saturating_add(1).min(MOST);
    }

    /// Returns the entry of the block with this number, if it is open.
    pub fn of(&mut self, number: u32) -> Option<&mut T> {
        let place = number.wrapping_sub(self.first);
        if place >= self.span {
            return None;
        }
        let place = place as usize;
        if self.blocks.len() <= place {
            self.blocks.resize(place + 1, T::default());
        }
        self.blocks.get_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::tests::block;

    #[test]
    fn numbers_go_on_beyond_the_last() {
        let mut counts: PerBlock<u32> = PerBlock::default();
        assert_eq!(counts.of(0), None, "nothing is open");
        counts.follow(&[block(u32::MAX, 4), block(1, 4)]);
        for (i, number) in [u32::MAX, 0, 1].into_iter().enumerate() {
            *counts.of(number).expect("it is open") = i as u32 + 1;
        }
        let mut all = |numbers: [u32; 3]| numbers.map(|number| counts.of(number).copied());
        assert_eq!(all([2, u32::MAX - 1, u32::MAX]), [None, None, Some(1)]);
        counts.follow(&[]);
        counts.follow(&[block(1, 4), block(2, 4)]);
        let mut all = |numbers: [u32; 3]| numbers.map(|number| counts.of(number).copied());
        assert_eq!(all([0, 1, 2]), [None, Some(3), Some(0)]);
        counts.follow(&[block(0, 4)]);
        assert_eq!(counts.of(0).copied(), Some(0), "what went back begins anew");
    }
}
