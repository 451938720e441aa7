//! Development of the advised rate over time. The rate falls at once when the paths carry less, and rises slowly when
//! they carry more.

use strandcast_proto::time::{Duration, Instant};

/// Factor of the last advice. A rate below this value is reported at once.
const DOWN: f64 = 0.95;
/// Least increase that is reported, as a factor of the last advice.
const UP: f64 = 1.02;
/// Time for which the rate must have been higher before the advice rises.
const HOLDOFF: Duration = Duration::from_secs(2);
/// Greatest holdoff. The holdoff doubles each time that an increase must be taken back.
const MAX_HOLDOFF: Duration = Duration::from_secs(16);
/// Time after which the holdoff is halved if no increase was taken back.
const FORGIVEN: Duration = Duration::from_secs(30);
/// Increase per second, as a share of the carried rate.
const STEP: f64 = 0.05;

/// Rate that the application receives.
#[derive(Clone, Debug)]
pub struct Steady {
    said: Option<f64>,
    /// Time since which the paths have carried more than the advice, and time of the last increase.
    more: Option<(Instant, Instant)>,
    holdoff: Duration,
    /// True if the advice rose after its last decrease.
    added: bool,
    /// Time at which the holdoff last changed.
    changed: Instant,
}

impl Default for Steady {
    fn default() -> Self {
        Steady { said: None, more: None, holdoff: HOLDOFF, added: false, changed: Instant::ZERO }
    }
}

impl Steady {
    /// Takes the `rate` that the paths carry at `now`, and returns the advice.
    pub fn take(&mut self, now: Instant, rate: f64) -> f64 {
        let said = *self.said.get_or_insert(rate);
        if now.saturating_since(self.changed) >= FORGIVEN {
            (self.holdoff, self.changed) = (HOLDOFF.max(self.holdoff / 2), now);
        }
        if rate < DOWN * said {
            if self.added {
                (self.holdoff, self.changed) = (MAX_HOLDOFF.min(2 * self.holdoff), now);
            }
            (self.said, self.more, self.added) = (Some(rate), None, false);
        } else if rate > if self.more.is_some() { said } else { UP * said } {
            let (since, last) = *self.more.get_or_insert((now, now));
            if now.saturating_since(since) >= self.holdoff {
                let step = STEP * rate * now.saturating_since(last).as_secs_f64();
                (self.said, self.added) = (Some(rate.min(said + step)), true);
            }
            self.more = Some((since, now));
        } else {
            self.more = None;
        }
        self.said.unwrap_or(rate)
    }

    /// Last advice.
    pub fn said(&self) -> Option<f64> {
        self.said
    }
}
