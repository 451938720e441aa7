//! A set of bytes, stored as disjoint ranges.

/// Ranges `start..end` in ascending order. The ranges are disjoint and do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Returns whether the set is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ranges in ascending order.
    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Returns the end of the last range.
    pub(super) fn highest(&self) -> Option<u64> {
        self.0.last().map(|r| r.1)
    }

    /// Returns the range that contains `byte`.
    pub(super) fn containing(&self, byte: u64) -> Option<(u64, u64)> {
        let i = self.0.partition_point(|r| r.1 <= byte);
        self.0.get(i).copied().filter(|r| r.0 <= byte)
    }

    /// Adds `start..end` to the set. Calls the function `fresh` with each part that was not in the set before. Returns
    /// the number of bytes that were added.
    pub(super) fn insert(&mut self, start: u64, end: u64, mut fresh: impl FnMut(u64, u64)) -> u64 {
        if start >= end {
            return 0;
        }
        // Ranges that overlap or touch are merged: those in first..last.
        let first = self.0.partition_point(|r| r.1 < start);
        let mut last = first;
        let (mut from, mut added) = (start, 0);
        let mut merged = (start, end);
        while let Some(&(low, high)) = self.0.get(last).filter(|r| r.0 <= end) {
            if from < low {
                fresh(from, low);
                added += low - from;
            }
            from = from.max(high);
            merged = (merged.0.min(low), merged.1.max(high));
            last += 1;
        }
        if from < end {
            fresh(from, end);
            added += end - from;
        }
        if last == first {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..last);
        }
        added
    }

    /// Removes all bytes below `bound`.
    pub(super) fn remove_below(&mut self, bound: u64) {
        let gone = self.0.partition_point(|r| r.1 <= bound);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(bound);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The reference for comparison is a set of single bytes.
        #[test]
        fn is_the_set_of_its_bytes(ops in prop::collection::vec((0u64..60, 0u64..12, any::<bool>()), 0..40)) {
            let (mut ranges, mut bytes) = (Ranges::default(), BTreeSet::new());
            for (start, len, insert) in ops {
                if insert {
                    let mut fresh = BTreeSet::new();
                    let added = ranges.insert(start, start + len, |a, b| fresh.extend(a..b));
                    let expected: BTreeSet<u64> = (start..start + len).filter(|b| !bytes.contains(b)).collect();
                    prop_assert_eq!(added, expected.len() as u64);
                    prop_assert_eq!(&fresh, &expected);
                    bytes.extend(expected);
                } else {
                    ranges.remove_below(start);
                    bytes = bytes.split_off(&start);
                }
                let listed: BTreeSet<u64> = ranges.as_slice().iter().flat_map(|r| r.0..r.1).collect();
                prop_assert_eq!(&listed, &bytes);
                prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0), "{:?}", ranges);
                prop_assert_eq!(ranges.highest(), bytes.last().map(|b| b + 1));
                for byte in 0..80 {
                    prop_assert_eq!(ranges.containing(byte).is_some(), bytes.contains(&byte));
                }
            }
        }
    }
}
