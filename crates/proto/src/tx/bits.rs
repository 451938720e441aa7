//! A set of outstanding TSNs, with one bit for each TSN.

use std::collections::VecDeque;

use crate::wire::serial::Tsn;

/// Number of TSNs in a word.
const WORD: u32 = u64::BITS;

/// Outstanding TSNs that gap blocks have already covered. TSNs that a further SACK covers again are skipped, one word
/// at a time.
#[derive(Debug)]
pub(super) struct Bits {
    /// The value `tsn / 64` of the first word.
    first: u32,
    words: VecDeque<u64>,
}

impl Bits {
    /// Creates an empty set. The first TSN to be added is `initial`.
    pub fn new(initial: Tsn) -> Self {
        Bits { first: initial.0 / WORD, words: VecDeque::new() }
    }

    fn index(&self, tsn: Tsn) -> usize {
        // TSNs wrap at a multiple of 64, and so do their words.
        ((tsn.0 / WORD).wrapping_sub(self.first) & (u32::MAX / WORD)) as usize
    }

    /// Adds the outstanding TSN `tsn` with a cleared bit.
    pub fn push(&mut self, tsn: Tsn) {
        if self.index(tsn) >= self.words.len() {
            self.words.push_back(0);
        }
    }

    /// Sets the first outstanding TSN to `base`. Earlier TSNs are dropped.
    pub fn pass(&mut self, base: Tsn) {
        while self.first != base.0 / WORD {
            self.words.pop_front();
            self.first = (self.first + 1) & (u32::MAX / WORD);
        }
    }

    pub fn set(&mut self, tsn: Tsn) {
        let i = self.index(tsn);
        if let Some(word) = self.words.get_mut(i) {
            *word |= 1 << (tsn.0 % WORD);
        }
    }

    pub fn clear(&mut self, tsn: Tsn) {
        let i = self.index(tsn);
        if let Some(word) = self.words.get_mut(i) {
            *word &= !(1 << (tsn.0 % WORD));
        }
    }

    /// Returns the first of the outstanding TSNs `from..=to` whose bit is not set.
    pub fn next_clear(&self, mut from: Tsn, to: Tsn) -> Option<Tsn> {
        while !from.is_after(to) {
            let bit = from.0 % WORD;
            let clear = !self.words.get(self.index(from))? >> bit;
            if clear != 0 {
                return Some(from + clear.trailing_zeros()).filter(|t| !t.is_after(to));
            }
            from += WORD - bit;
        }
        None
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the bits with an ordinary set, also where TSNs wrap around.
        #[test]
        fn is_a_set_of_outstanding_tsns(
            initial in prop_oneof![any::<u32>(), Just(u32::MAX - 70), Just(0)],
            steps in prop::collection::vec((0..4u8, 0..400u32), 1..300),
        ) {
            let (mut bits, mut set) = (Bits::new(Tsn(initial)), BTreeSet::new());
            let (mut base, mut next) = (0, 0);
            let tsn = |n: u32| Tsn(initial.wrapping_add(n));
            for (what, n) in steps {
                match what {
                    0 => (0..n).for_each(|_| {
                        bits.push(tsn(next));
                        next += 1;
                    }),
                    1 => {
                        base = (base + n / 4).min(next);
                        bits.pass(tsn(base));
                        set.retain(|s| *s >= base);
                    }
                    2 if base + n < next => {
                        bits.set(tsn(base + n));
                        set.insert(base + n);
                    }
                    3 if base + n < next => {
                        bits.clear(tsn(base + n));
                        set.remove(&(base + n));
                    }
                    _ => {}
                }
                let (from, to) = (base + n / 3, base + n);
                if to < next {
                    let clear = (from..=to).find(|s| !set.contains(s)).map(tsn);
                    prop_assert_eq!(bits.next_clear(tsn(from), tsn(to)), clear);
                }
            }
        }
    }
}
