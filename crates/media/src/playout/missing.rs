//! Ranges of missing messages.

use std::collections::BTreeMap;

/// Maximum number of ranges; the oldest are dropped.
const MAX_RANGES: usize = 4096;

/// Sequence numbers of messages that had not arrived at their turn.
#[derive(Debug, Default)]
pub(super) struct Missing {
    /// Ranges, from the first number to the number after the last.
    ranges: BTreeMap<i64, i64>,
}

impl Missing {
    /// Adds `from..to`, which follows everything added before.
    pub(super) fn add(&mut self, from: i64, to: i64) {
        if from < to {
            self.ranges.insert(from, to);
            if self.ranges.len() > MAX_RANGES {
                self.ranges.pop_first();
            }
        }
    }

    /// Removes a sequence number. Returns false if it is not in the ranges.
    pub(super) fn remove(&mut self, sequence: i64) -> bool {
        let Some((&from, &to)) = self.ranges.range(..=sequence).next_back() else { return false };
        if sequence >= to {
            return false;
        }
        self.ranges.remove(&from);
        if from < sequence {
            self.ranges.insert(from, sequence);
        }
        if sequence + 1 < to {
            self.ranges.insert(sequence + 1, to);
        }
        true
    }
}
