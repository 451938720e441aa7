//! Two states that alternate over time.

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

/// The process of the states Good and Bad, each of which lasts an exponentially distributed time. The state depends
/// only on the time, and not on earlier queries. Queries at ascending times are fast.
#[derive(Clone, Debug)]
pub(super) struct Sojourns {
    mean_good: f64,
    mean_bad: f64,
    /// State of the random stream before the first draw.
    first: Random,
    random: Random,
    bad: bool,
    since: Instant,
    until: Instant,
}

impl Sojourns {
    /// Returns a process whose state at [`Instant::ZERO`] is drawn from the stationary distribution. The remainder of
    /// an exponential time is also exponential. The process is therefore stationary from the start.
    pub fn new(mean_good: Duration, mean_bad: Duration, random: Random) -> Self {
        let mut sojourns = Sojourns {
            mean_good: mean_good.as_secs_f64(),
            mean_bad: mean_bad.as_secs_f64(),
            first: random.clone(),
            random,
            bad: false,
            since: Instant::ZERO,
            until: Instant::ZERO,
        };
        sojourns.begin();
        sojourns
    }

    /// Returns whether the process is in the state Bad at `now`.
    pub fn bad(&mut self, now: Instant) -> bool {
        if now < self.since {
            self.random = self.first.clone();
            self.begin();
        }
        while self.until <= now {
            self.bad = !self.bad;
            self.last();
        }
        self.bad
    }

    fn begin(&mut self) {
        self.bad = self.random.chance(self.mean_bad / (self.mean_good + self.mean_bad));
        self.until = Instant::ZERO;
        self.last();
    }

    /// Draws the duration of the next state, which begins when the last one ends.
    fn last(&mut self) {
        let mean = if self.bad { self.mean_bad } else { self.mean_good };
        let seconds = -libm::log(1.0 - self.random.unit()) * mean;
        self.since = self.until;
        // At least 1 ns, so that time advances.
        self.until += Duration::from_nanos((seconds * 1e9) as u64).max(Duration::from_nanos(1));
    }
}
