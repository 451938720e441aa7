//! Rate of a token-bucket policer. The rate is found as in BBRv1 (`bbr_lt_bw_sampling` of Linux). Two intervals between
//! losses show a policer if their delivery rates are equal, and if each interval lost at least a fifth of its packets.

use strandcast_proto::time::Instant;

use super::model::Ack;
use super::rate::Sampler;

/// `bbr_lt_intvl_min_rtts`: least number of round trips of an interval. An interval has at most four times as many.
const ROUNDS: u64 = 4;
/// `bbr_lt_loss_thresh`: least ratio of lost to delivered bytes in an interval that may show a policer. The rate of an
/// interval with a lower ratio is not used.
const LOSS: f64 = 50.0 / 256.0;
/// `bbr_lt_bw_ratio`, and `bbr_lt_bw_diff` in bytes per second: greatest differences between two rates that count as
/// equal.
const NEAR: (f64, f64) = (0.125, 500.0);
/// `bbr_lt_bw_max_rtts`: number of round trips for which the rate is used.
const USED_ROUNDS: u64 = 48;
/// Least length of an interval, in seconds.
const MIN_SECONDS: f64 = 0.001;

/// Intervals between losses on a path.
#[derive(Clone, Debug, Default)]
pub struct Policer {
    samples: bool,
    rate: Option<f64>,
    used: bool,
    rounds: u64,
    since: Instant,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The policer's rate in bytes per second, if a policer was found.
    pub fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.used)
    }

    /// Takes an acknowledgement. `probing` is true while the model probes bandwidth in steady state. Returns true if
    /// the rate is no longer used.
    pub fn take(&mut self, ack: &Ack<'_>, sampler: &Sampler, round_began: bool, probing: bool) -> bool {
        let losses = ack.sample.newly_lost > 0;
        if self.used {
            self.rounds += u64::from(probing && round_began);
            let over = self.rounds >= USED_ROUNDS;
            if over {
                *self = Policer::default();
            }
            return over;
        }
        if !self.samples {
            if losses {
                self.samples = true;
                self.restart(ack.now, sampler);
            }
            return false;
        }
        self.rounds += u64::from(round_began);
        if ack.sample.limited || self.rounds > 4 * ROUNDS {
            *self = Policer::default();
        } else if self.rounds >= ROUNDS && losses {
            self.finish(ack.now, sampler);
        }
        false
    }

    fn restart(&mut self, now: Instant, sampler: &Sampler) {
        (self.since, self.rounds) = (now, 0);
        (self.delivered, self.lost) = (sampler.delivered(), sampler.lost());
    }

    fn finish(&mut self, now: Instant, sampler: &Sampler) {
        let (delivered, lost) = (sampler.delivered() - self.delivered, sampler.lost() - self.lost);
        let seconds = now.saturating_since(self.since).as_secs_f64();
        if delivered == 0 || (lost as f64) < LOSS * delivered as f64 || seconds < MIN_SECONDS {
            return;
        }
        let rate = delivered as f64 / seconds;
        let same = |before: f64| (rate - before).abs() <= (NEAR.0 * before).max(NEAR.1);
        if let Some(before) = self.rate.filter(|before| same(*before)) {
            (self.rate, self.used, self.rounds) = (Some((rate + before) / 2.0), true, 0);
        } else {
            self.rate = Some(rate);
            self.restart(now, sampler);
        }
    }
}
