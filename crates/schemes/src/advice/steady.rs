//! An encoder follows at once when less goes, and slowly when more does.

use strandcast_proto::time::{Duration, Instant};

/// Less than this part of what was said before is said at once.
const DOWN: f64 = 0.95;
/// More than this part of it is worth saying.
const UP: f64 = 1.02;
/// It has been more for so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Of what goes, what is added a second.
const STEP: f64 = 0.05;

/// A rate as it is said.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    said: Option<f64>,
    /// Since when more goes, and when something was added last.
    more: Option<(Instant, Instant)>,
}

impl Steady {
    /// What goes at `now` is `rate`; what to say.
    pub fn take(&mut self, now: Instant, rate: f64) -> f64 {
        let said = *self.said.get_or_insert(rate);
        if rate < DOWN * said {
            (self.said, self.more) = (Some(rate), None);
        } else if rate > UP * said {
            let (since, last) = *self.more.get_or_insert((now, now));
            if now.saturating_since(since) >= PATIENCE {
                let step = STEP * rate * now.saturating_since(last).as_secs_f64();
                self.said = Some(rate.min(said + step));
            }
            self.more = Some((since, now));
        } else {
            self.more = None;
        }
        self.said.unwrap_or(rate)
    }

    /// What was said last.
    pub fn said(&self) -> Option<f64> {
        self.said
    }
}
