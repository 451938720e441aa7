//! The usual one-way delay of a path.

use super::SAMPLES;

/// The median of a path's recent one-way delays in microseconds.
#[derive(Debug, Default)]
pub(super) struct Usual {
    samples: [i64; SAMPLES],
    taken: usize,
    /// Samples that count, in ascending order.
    sorted: [i64; SAMPLES],
}

impl Usual {
    pub(super) fn push(&mut self, x: i64) {
        let (slot, known) = (self.taken % SAMPLES, self.taken.min(SAMPLES));
        // Position that becomes free. The position is the position of the oldest sample, or the one after the last
        // sample.
        let from = if known < SAMPLES { known } else { self.below(known, self.samples[slot]) };
        let to = self.below(known, x);
        if to <= from {
            self.sorted.copy_within(to..from, to + 1);
            self.sorted[to] = x;
        } else {
            self.sorted.copy_within(from + 1..to, from);
            self.sorted[to - 1] = x;
        }
        self.samples[slot] = x;
        self.taken += 1;
    }

    /// Number of the first `known` samples that are less than `x`.
    fn below(&self, known: usize, x: i64) -> usize {
        self.sorted[..known].partition_point(|s| *s < x)
    }

    pub(super) fn median(&self) -> Option<i64> {
        let known = self.taken.min(SAMPLES);
        (known > 0).then(|| self.sorted[known / 2])
    }
}
