//! Differences between arrival and send times, over the last half minute and the last second.

use std::collections::VecDeque;

/// Bucket length in nanoseconds; one difference is kept per bucket.
pub(super) const BUCKET: i64 = 250_000_000;
/// Buckets in half a minute.
const LONG: i64 = 120;
/// Buckets in a second.
const SHORT: i64 = 4;

/// The minimum difference of the last 30 s.
#[derive(Debug, Default)]
pub(super) struct WindowMinimum {
    /// Pairs (bucket, difference), both increasing. The first pair has the minimum of all values in the window.
    least: VecDeque<(i64, i64)>,
}

impl WindowMinimum {
    pub(super) fn add(&mut self, now: i64, difference: i64) {
        let bucket = now / BUCKET;
        while self.least.back().is_some_and(|&(_, d)| d >= difference) {
            self.least.pop_back();
        }
        if self.least.back().is_none_or(|&(b, _)| b != bucket) {
            self.least.push_back((bucket, difference));
        }
        while self.least.front().is_some_and(|&(b, _)| b < bucket - LONG) {
            self.least.pop_front();
        }
    }

    pub(super) fn get(&self) -> Option<i64> {
        self.least.front().map(|&(_, d)| d)
    }
}

/// Differences in one bucket.
#[derive(Debug, Clone, Copy)]
struct Span {
    bucket: i64,
    least: i64,
    /// The maximum among messages in time.
    greatest: Option<i64>,
}

/// The differences of the last second, bucket by bucket.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The last bucket is still being filled.
    spans: VecDeque<Span>,
}

impl Recent {
    pub(super) fn add(&mut self, now: i64, difference: i64, in_time: bool) {
        let bucket = now / BUCKET;
        let greatest = in_time.then_some(difference);
        match self.spans.back_mut() {
            Some(last) if last.bucket == bucket => {
                last.least = last.least.min(difference);
                last.greatest = last.greatest.max(greatest);
            }
            _ => self.spans.push_back(Span { bucket, least: difference, greatest }),
        }
        while self.spans.front().is_some_and(|s| s.bucket < bucket - SHORT) {
            self.spans.pop_front();
        }
    }

    /// Returns the lowest offset that satisfies two conditions. The minimum of every bucket reaches it, and messages
    /// that were in time remain in time by at least `margin`.
    pub(super) fn reach(&self, latency: i64, margin: i64) -> Option<i64> {
        let full = self.spans.len().saturating_sub(1);
        let shortest = self.spans.iter().take(full).map(|s| s.least).max()?;
        let in_time = self.spans.iter().filter_map(|s| s.greatest).max();
        Some(in_time.map_or(shortest, |d| shortest.max(d.saturating_sub(latency).saturating_add(margin))))
    }
}
