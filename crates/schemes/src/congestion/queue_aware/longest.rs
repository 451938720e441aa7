//! Largest recent value.

use strandcast_proto::time::{Duration, Instant};

/// The longest queueing delay is remembered for one to two of these.
const MEMORY: Duration = Duration::from_secs(30);

/// The largest value of the last half to whole minute.
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
