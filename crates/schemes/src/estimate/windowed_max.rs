//! Highest of the recent values.

use std::collections::VecDeque;

use strandcast_proto::time::{Duration, Instant};

/// The maximum over a window of time that ends at present.
#[derive(Clone, Debug)]
pub struct WindowedMax {
    window: Duration,
    /// Values that may still become the highest. The highest value comes first. If values are equal, the oldest one
    /// comes first.
    values: VecDeque<(Instant, f64)>,
}

impl WindowedMax {
    /// Makes a maximum over the last `window`.
    pub fn new(window: Duration) -> Self {
        WindowedMax { window, values: VecDeque::new() }
    }

    /// Adds a value at `now`.
    pub fn push(&mut self, now: Instant, value: f64) {
        while self.values.back().is_some_and(|v| v.1 <= value) {
            self.values.pop_back();
        }
        self.values.push_back((now, value));
        while self.values.front().is_some_and(|v| now.saturating_since(v.0) > self.window) {
            self.values.pop_front();
        }
    }

    /// Returns the highest value that is not older than the window. If all values are older, returns the newest value.
    pub fn get(&self, now: Instant) -> Option<f64> {
        let young = |v: &&(Instant, f64)| now.saturating_since(v.0) <= self.window;
        self.values.iter().find(young).or_else(|| self.values.back()).map(|v| v.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_values_make_way_for_lower_ones() {
        let at = Instant::from_millis;
        let mut max = WindowedMax::new(Duration::from_secs(10));
        assert_eq!(max.get(at(0)), None);
        for (ms, value, highest) in
            [(0, 5.0, 5.0), (1000, 3.0, 5.0), (2000, 4.0, 5.0), (10_000, 1.0, 5.0), (10_001, 2.0, 4.0)]
        {
            max.push(at(ms), value);
            assert_eq!(max.get(at(ms)), Some(highest), "{ms} ms");
        }
        assert_eq!(max.get(at(12_001)), Some(2.0));
        assert_eq!(max.get(at(60_000)), Some(2.0), "nothing newer is known");
    }
}
