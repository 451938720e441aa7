//! Parts of a flow's data by number. The numbers are TSNs, bytes of a stream, or datagrams.

/// Numbers that are still missing, as half-open ranges in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing(Vec<(u64, u64)>);

impl Missing {
    /// Adds the missing range `start..end`. The missing range is above all earlier ranges.
    pub fn add(&mut self, start: u64, end: u64) {
        self.0.push((start, end));
    }

    /// Removes `start..end`, which has arrived.
    pub fn remove(&mut self, start: u64, end: u64) {
        let mut left = Vec::with_capacity(self.0.len());
        for &(from, to) in &self.0 {
            if to <= start || end <= from {
                left.push((from, to));
                continue;
            }
            left.extend((from < start).then_some((from, start)));
            left.extend((end < to).then_some((end, to)));
        }
        self.0 = left;
    }

    /// Number of missing elements.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    /// Returns true if nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Extends 32-bit serial numbers (RFC 1982) to 64 bits. The result is correct if each number differs by less than 2³¹
/// from the previous one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unwrap(u64);

impl Unwrap {
    /// Extended number of `short`.
    pub fn long(&mut self, short: u32) -> u64 {
        if self.0 == 0 {
            // This leaves room for numbers below the first one.
            self.0 = (1 << 32) | u64::from(short);
        }
        let ahead = short.wrapping_sub(self.0 as u32) as i32;
        let long = self.0.wrapping_add_signed(i64::from(ahead));
        self.0 = self.0.max(long);
        long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_not_missing_any_more() {
        let mut missing = Missing::default();
        missing.add(0, 10);
        missing.add(10, 20);
        missing.remove(5, 12);
        assert_eq!(missing, Missing(vec![(0, 5), (12, 20)]));
        missing.remove(30, 40);
        missing.remove(14, 15);
        assert_eq!(missing, Missing(vec![(0, 5), (12, 14), (15, 20)]));
        missing.remove(0, 20);
        assert!(missing.is_empty());
    }

    #[test]
    fn serial_numbers_go_on_where_they_wrap() {
        let mut unwrap = Unwrap::default();
        let first = unwrap.long(u32::MAX - 1);
        let others = [u32::MAX, 0, u32::MAX - 2, 5].map(|short| unwrap.long(short));
        assert_eq!(others, [first + 1, first + 2, first - 1, first + 7]);
    }
}
