//! Record of the numbers of messages that were already delivered.

/// Number of past message numbers that are recorded.
const SPAN: u32 = 1 << 16;
const WORD: u32 = u64::BITS;

/// Record of the last [`SPAN`] message numbers, modulo 2³².
pub(super) struct Given {
    /// One bit per number, indexed by the number modulo [`SPAN`].
    words: Box<[u64]>,
    /// Highest recorded number plus one.
    next: u32,
}

impl Given {
    pub fn new() -> Self {
        Given { words: vec![0; (SPAN / WORD) as usize].into(), next: 0 }
    }

    fn bit(number: u32) -> (usize, u64) {
        let place = number % SPAN;
        ((place / WORD) as usize, 1 << (place % WORD))
    }

    /// Records a message number. Returns `false` if the number was recorded before, or is so old that it may have been
    /// recorded.
    pub fn enter(&mut self, number: u32) -> bool {
        let ahead = number.wrapping_sub(self.next);
        let (word, bit) = Self::bit(number);
        if ahead > u32::MAX / 2 {
            let behind = self.next.wrapping_sub(number);
            let fresh = behind <= SPAN && self.words[word] & bit == 0;
            if fresh {
                self.words[word] |= bit;
            }
            return fresh;
        }
        self.forget(ahead);
        self.words[word] |= bit;
        self.next = number.wrapping_add(1);
        true
    }

    /// Clears the bits of the next number and of the `count` numbers before that number.
    fn forget(&mut self, count: u32) {
        if count >= SPAN {
            return self.words.fill(0);
        }
        let mut at = 0;
        while at <= count {
            let number = self.next.wrapping_add(at);
            let (word, bit) = Self::bit(number);
            if bit == 1 && at + WORD <= count {
                self.words[word] = 0;
                at += WORD;
            } else {
                self.words[word] &= !bit;
                at += 1;
            }
        }
    }

    /// Returns the used heap in bytes.
    pub fn heap(&self) -> usize {
        size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::seeds::Seeds;

    #[test]
    fn each_number_is_given_once() {
        let mut given = Given::new();
        for number in [0, 1, 5, 3] {
            assert!(given.enter(number));
            assert!(!given.enter(number));
        }
        assert!(given.enter(2) && given.enter(4) && !given.enter(0));
        assert!(given.enter(SPAN), "the first that pushes another out");
        assert!(!given.enter(0), "too old to know");
        assert!(!given.enter(1), "known");
        assert!(given.enter(u32::MAX / 2));
        assert!(!given.enter(SPAN) && given.enter(u32::MAX / 2 - 1));
    }

    /// Compares the record with a set, over jumps of any length and across 2³².
    #[test]
    fn it_remembers_the_last_65536() {
        let mut random = Seeds::new(5, 0).stream("given");
        for start in [0, 1000, u32::MAX - 100_000] {
            let mut given = Given::new();
            given.next = start;
            let mut next = i64::from(start);
            let mut set = BTreeSet::new();
            for _ in 0..20_000 {
                let far = [3, 70, 300, 70_000][random.below(4) as usize];
                let number = next - far + random.below(far as u64 + if far < 1000 { 40 } else { 1 }) as i64;
                if number < i64::from(start) {
                    continue;
                }
                let expected = number + i64::from(SPAN) >= next && set.insert(number);
                next = next.max(number + 1);
                assert_eq!(given.enter(number as u32), expected, "{number} at {next}");
            }
        }
    }
}
