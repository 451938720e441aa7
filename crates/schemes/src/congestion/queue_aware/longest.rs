//! Largest value of a recent time.

use strandcast_proto::time::{Duration, Instant};

/// Half of the greatest time for which the longest queueing delay is kept. A delay is kept for one to two of these
/// intervals.
const MEMORY: Duration = Duration::from_secs(30);

/// Largest value of the last 30 to 60 seconds.
#[derive(Debug, Default)]
pub(super) struct Longest {
    since: Instant,
    now: f64,
    before: f64,
}

impl Longest {
    pub fn push(&mut self, now: Instant, value: f64) {
        if now.saturating_since(self.since) > MEMORY {
            (self.since, self.before, self.now) = (now, self.now, 0.0);
        }
        self.now = self.now.max(value);
    }

    pub fn get(&self) -> f64 {
        self.now.max(self.before)
    }
}
