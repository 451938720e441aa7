//! State of one path. The growth of its window depends on two quantities: the distance from the window at the last
//! loss, and round-trip times.

use strandcast_proto::time::{Duration, Instant};

use super::config::{LinearEnds, MpmtpConfig};
use super::loss_intervals::LossIntervals;
use super::saturation::Saturation;

/// α_min: growth per round trip near w_max, segments.
const MIN_ALPHA: f64 = 1.0;

/// Value at `x` of a hyperbola that falls from `high` at 0 to `low` at 1. Equations 13 to 15 and 17 to 21 have this
/// form.
pub fn hyperbola(high: f64, low: f64, x: f64) -> f64 {
    high * low / (low + (high - low) * x)
}

/// The state of one path. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Subflow {
    /// The window at the last loss.
    w_max: Option<f64>,
    /// α of the convex profile.
    convex: f64,
    /// True if the window could grow since the last round trip ended.
    grew: bool,
    /// α and L of the last increase.
    pub alpha: f64,
    pub linear: f64,
    /// δ and B, which are computed again in each round trip. `None` if δ was never computed.
    pub delta: Option<f64>,
    pub balance: f64,
    mean: MeanAlpha,
    pub saturation: Saturation,
    pub intervals: LossIntervals,
}

impl Default for Subflow {
    fn default() -> Self {
        Subflow {
            w_max: None,
            convex: MIN_ALPHA,
            grew: false,
            alpha: MIN_ALPHA,
            linear: 1.0,
            delta: None,
            balance: 1.0,
            mean: MeanAlpha::default(),
            saturation: Saturation::default(),
            intervals: LossIntervals::default(),
        }
    }
}

impl Subflow {
    /// Returns the number of segments by which a window of `w` grows when `acked` segments were acknowledged. `passed`
    /// is the time since the previous acknowledgement.
    pub fn grow(&mut self, w: f64, acked: f64, passed: Duration, config: &MpmtpConfig) -> f64 {
        self.grew = true;
        let position = self.saturation.position();
        let part = self.delta.unwrap_or(1.0) * self.balance;
        let (mut now, mut left) = (w, acked);
        while left > 0.0 {
            let some = left.min(1.0);
            self.linear = position.map_or(1.0, |x| hyperbola(1.0, 1.0 / now.max(1.0), x));
            self.alpha = (self.linear * self.profile(now, config)).min(now).max(MIN_ALPHA);
            now += some * (part * self.alpha / now).min(1.0);
            left -= some;
        }
        self.mean.add(self.alpha, passed);
        now - w
    }

    /// α without L. The profile is concave below the window of the last loss, and convex above it.
    fn profile(&self, w: f64, config: &MpmtpConfig) -> f64 {
        let Some(w_max) = self.w_max.filter(|w_max| w < *w_max) else { return self.convex };
        let most = MIN_ALPHA.max((1.0 - config.b) * w_max);
        let down = (w_max - w) / (config.b * w_max);
        MIN_ALPHA + (most - MIN_ALPHA) * down * down
    }

    /// Ends a round trip with a window of `w`.
    pub fn on_round(&mut self, now: Instant, w: f64, config: &MpmtpConfig) {
        let above = self.w_max.is_none_or(|w_max| w >= w_max);
        if self.grew && above && !self.is_linear(config) {
            self.convex = (self.convex + 1.0).min(w).max(MIN_ALPHA);
        }
        self.saturation.on_round(now, self.grew, config);
        self.grew = false;
    }

    /// Returns whether the profile is linear. α of the convex profile then does not change.
    fn is_linear(&self, config: &MpmtpConfig) -> bool {
        match config.linear_ends {
            LinearEnds::Rtt => self.saturation.position().is_some_and(|position| position > 0.0),
            LinearEnds::Loss => self.saturation.rise().is_some(),
        }
    }

    /// Records growth in slow start, without a call of [`Subflow::grow`]. Returns whether slow start is to end.
    pub fn in_slow_start(&mut self) -> bool {
        (self.grew, self.convex) = (true, MIN_ALPHA);
        self.saturation.rise().is_some()
    }

    /// Records a loss from a window of `w`. A second timeout in a row changes nothing.
    pub fn on_loss(&mut self, w: f64, config: &MpmtpConfig) {
        if self.intervals.on_event() || self.w_max.is_none() {
            self.saturation.on_loss(config);
            self.mean.end();
            self.w_max = Some(w);
        }
        self.restart();
    }

    /// Records that a window of `w` is reduced in favour of another path.
    pub fn on_penalty(&mut self, w: f64) {
        self.w_max = Some(w);
        self.restart();
    }

    /// Begins the profiles again.
    pub fn restart(&mut self) {
        self.saturation.restart();
        (self.convex, self.alpha, self.linear, self.grew) = (MIN_ALPHA, MIN_ALPHA, 1.0, false);
    }

    /// Ends the current mean. ᾱ becomes `alpha`.
    #[cfg(test)]
    pub fn finish_mean(&mut self, alpha: f64) {
        self.mean.last = Some(alpha);
    }

    /// ᾱ: the mean α over the time between the last two losses. Before there are two losses, ᾱ is a geometric mean. It
    /// is the mean of the least and the largest α of a window that is `w` on average.
    pub fn mean_alpha(&self, w: f64, config: &MpmtpConfig) -> f64 {
        let most = self.w_max.map_or(w, |w_max| (1.0 - config.b) * w_max);
        self.mean.last.unwrap_or_else(|| most.max(MIN_ALPHA).sqrt())
    }
}

/// Mean of α over the time between two losses.
#[derive(Clone, Debug, Default)]
struct MeanAlpha {
    sum: f64,
    seconds: f64,
    last: Option<f64>,
}

impl MeanAlpha {
    fn add(&mut self, alpha: f64, time: Duration) {
        self.sum += alpha * time.as_secs_f64();
        self.seconds += time.as_secs_f64();
    }

    fn end(&mut self) {
        if self.seconds > 0.0 {
            self.last = Some(self.sum / self.seconds);
        }
        (self.sum, self.seconds) = (0.0, 0.0);
    }
}
