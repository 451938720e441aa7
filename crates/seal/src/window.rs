//! The replay window of a path (RFC 4303 section 3.4.3).

/// Number of packet numbers that a window covers: the highest one, and the numbers directly below it.
pub(crate) const WINDOW: u32 = 4096;

/// Number of words of the bitmap. The bitmap has one word more than the bits need, so that the window never begins and
/// ends in one word (RFC 6479).
const WORDS: usize = WINDOW as usize / 64 + 1;

/// Record of the accepted packet numbers. A number that is older than the window counts as accepted.
pub(crate) struct Window {
    /// Highest accepted number plus one. The value is 0 if no number was accepted yet.
    end: u32,
    /// Bitmap of accepted numbers. For number `n`, bit `n % 64` of word `n / 64 % WORDS` is set.
    taken: [u64; WORDS],
}

impl Window {
    /// Returns an empty window.
    pub(crate) fn new() -> Self {
        Window { end: 0, taken: [0; WORDS] }
    }

    /// Returns whether `number` was not accepted yet and is not older than the window. Numbers must be below 2³².
    pub(crate) fn is_new(&self, number: u32) -> bool {
        if number >= self.end {
            return true;
        }
        let (word, bit) = place(number);
        self.end - number <= WINDOW && self.taken.get(word).is_some_and(|word| word & bit == 0)
    }

    /// Records that a new number was accepted.
    pub(crate) fn take(&mut self, number: u32) {
        if number >= self.end {
            // The words between hold numbers of an earlier round.
            let (last, first) = (number / 64, self.end.div_ceil(64));
            for word in first.max(last.saturating_sub(WORDS as u32 - 1))..=last {
                self.taken[word as usize % WORDS] = 0;
            }
            self.end = number.saturating_add(1);
        }
        let (word, bit) = place(number);
        self.taken[word] |= bit;
    }
}

fn place(number: u32) -> (usize, u64) {
    (number as usize / 64 % WORDS, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Accepts `number` if it is new. Returns whether it was new.
    fn take(window: &mut Window, number: u32) -> bool {
        let new = window.is_new(number);
        if new {
            window.take(number);
        }
        new
    }

    #[test]
    fn a_window_remembers_4096_numbers() {
        for highest in [5000, 8191, 8192, 8193, 4_194_303] {
            let mut window = Window::new();
            assert!(take(&mut window, highest));
            assert!(!take(&mut window, highest));
            assert!(!take(&mut window, highest - 4096), "4096 below {highest} is too old");
            assert!(take(&mut window, highest - 4095));
            assert!(!take(&mut window, highest - 4095));
        }
    }

    #[test]
    fn the_oldest_number_of_a_window_is_remembered_wherever_the_window_ends() {
        for number in 0..200 {
            for on in 4000..=4095 {
                let mut window = Window::new();
                assert!(take(&mut window, number) && take(&mut window, number + on));
                assert!(!take(&mut window, number), "{number} after {}", number + on);
            }
        }
    }

    #[test]
    fn a_new_window_takes_any_number_once() {
        for first in [0, 1, 63, 64, 4095, 4096, 4_194_303] {
            let mut window = Window::new();
            assert!(take(&mut window, first));
            assert!(!take(&mut window, first));
        }
    }

    /// Returns steps between consecutive numbers, as a network causes them: a little forward or back, far forward, or
    /// around the window's end.
    fn steps() -> impl Strategy<Value = Vec<i64>> {
        let step = prop_oneof![5 => 0i64..5, 5 => -70i64..70, 2 => -4200i64..4200, 1 => 4000i64..4300, 1 => 0i64..20_000];
        proptest::collection::vec(step, 1..400)
    }

    proptest! {
        #[test]
        fn a_window_takes_what_a_set_of_all_numbers_takes(first in 0u32..10_000, steps in steps()) {
            let (mut window, mut all) = (Window::new(), BTreeSet::new());
            let mut at = i64::from(first);
            for step in steps {
                at = (at + step).clamp(0, (1 << 22) - 1);
                let number = at as u32;
                let recent = all.last().is_none_or(|&highest: &u32| number + 4096 > highest);
                let new = recent && all.insert(number);
                prop_assert_eq!(take(&mut window, number), new, "{}", number);
            }
        }
    }
}
