//! Detection of rising round-trip times. Also the distance of a round-trip time from the value at which losses happen.

use strandcast_proto::time::{Duration, Instant};

use super::config::MpmtpConfig;

/// Weight of a sample in the smoothed round-trip time (RFC 6298 §2.3).
const SMOOTHING: f64 = 1.0 / 8.0;
/// Least difference in seconds between two round-trip times: the one at losses, and the one at which the rise was
/// detected.
const MIN_SPAN: f64 = 0.001;

/// Least value of the recent past. The length of this past varies between half an interval and a whole interval.
#[derive(Clone, Debug)]
struct Minimum {
    since: Option<Instant>,
    now: f64,
    before: f64,
}

impl Minimum {
    const NONE: Minimum = Minimum { since: None, now: f64::INFINITY, before: f64::INFINITY };

    fn push(&mut self, now: Instant, window: Duration, value: f64) {
        let since = *self.since.get_or_insert(now);
        if now.saturating_since(since) > window / 2 {
            *self = Minimum { since: Some(now), now: f64::INFINITY, before: self.now };
        }
        self.now = self.now.min(value);
    }

    fn get(&self) -> f64 {
        self.now.min(self.before)
    }
}

/// Round-trip times of a path in seconds. The least sample of a round is used, because bursts and delayed
/// acknowledgements increase single samples.
#[derive(Clone, Debug)]
pub struct Saturation {
    /// Least round-trip time of the running round.
    least: f64,
    samples: u32,
    base: Minimum,
    /// Least round-trip time of the last finished round: RTT_cur.
    current: f64,
    smoothed: Option<f64>,
    /// Number of consecutive rounds above the base.
    rises: u32,
    /// RTT_min of the paper: least round-trip time of the round in which the rise was detected.
    rise: Option<f64>,
    /// RTT_max: round-trip time at which losses happen.
    limit: Option<f64>,
}

impl Default for Saturation {
    fn default() -> Self {
        Saturation {
            least: f64::INFINITY,
            samples: 0,
            base: Minimum::NONE,
            current: 0.0,
            smoothed: None,
            rises: 0,
            rise: None,
            limit: None,
        }
    }
}

impl Saturation {
    /// Takes a round-trip time.
    pub fn on_sample(&mut self, rtt: f64) {
        self.least = self.least.min(rtt);
        self.samples += 1;
        self.smoothed = Some(self.smoothed.map_or(rtt, |s| s + SMOOTHING * (rtt - s)));
    }

    /// Ends a round trip. `grew` is true if the window could grow in it. A round with too few samples continues.
    pub fn on_round(&mut self, now: Instant, grew: bool, config: &MpmtpConfig) {
        if self.samples < config.rise_samples {
            return;
        }
        self.current = self.least;
        (self.least, self.samples) = (f64::INFINITY, 0);
        self.base.push(now, config.base_window, self.current);
        let base = self.base.get();
        let rise = (config.rise * base).max(config.rise_least.as_secs_f64());
        self.rises = if grew && self.current > base + rise { self.rises + 1 } else { 0 };
        if config.linear && self.rise.is_none() && self.rises >= config.rise_rounds {
            self.rise = Some(self.current);
        }
    }

    /// Records a loss. Round-trip times were then at their maximum. The count of rises begins again.
    pub fn on_loss(&mut self, config: &MpmtpConfig) {
        if let Some(rtt) = self.smoothed {
            self.limit = Some(self.limit.map_or(rtt, |l| l + config.limit_gain * (rtt - l)));
        }
        self.restart();
    }

    /// Begins the count of rises again.
    pub fn restart(&mut self) {
        (self.least, self.samples, self.rises, self.rise) = (f64::INFINITY, 0, 0, None);
    }

    /// RTT_min of the paper in seconds, while growth is linear.
    pub fn rise(&self) -> Option<f64> {
        self.rise
    }

    /// Position of the round-trip time on a scale from 0 to 1. 0 is the value when the rise was detected, and 1 is the
    /// value when losses happen. `None` while growth is not linear.
    pub fn position(&self) -> Option<f64> {
        let rise = self.rise?;
        let known = self.limit.filter(|limit| *limit > rise + MIN_SPAN);
        let limit = known.unwrap_or_else(|| (2.0 * self.base.get()).max(1.5 * rise));
        Some(((self.current - rise) / (limit - rise)).clamp(0.0, 1.0))
    }
}
