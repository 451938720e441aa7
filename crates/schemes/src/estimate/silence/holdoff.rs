//! J: the time for which an arrival may be overdue. Each needless suspicion makes J longer. J becomes shorter with
//! time.

use strandcast_proto::time::{Duration, Instant};

use super::{MAX_HOLDOFF, MIN_HOLDOFF, STEP, STEP_TIME};

/// J, by its excess over the least value.
#[derive(Debug)]
pub(super) struct Holdoff {
    /// Excess over the least J.
    extra: Duration,
    /// Time of the last change of J.
    since: Instant,
}

impl Holdoff {
    pub fn new(now: Instant) -> Self {
        Holdoff { extra: Duration::ZERO, since: now }
    }

    pub fn get(&self) -> Duration {
        MIN_HOLDOFF + self.extra
    }

    pub fn needless(&mut self, now: Instant) {
        (self.extra, self.since) = ((self.extra + STEP).min(MAX_HOLDOFF - MIN_HOLDOFF), now);
    }

    pub fn passes(&mut self, now: Instant) {
        if !self.extra.is_zero() && now.saturating_since(self.since) >= STEP_TIME {
            (self.extra, self.since) = (self.extra.saturating_sub(STEP), now);
        }
    }
}
