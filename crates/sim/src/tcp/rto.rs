//! The retransmission timeout, RTO (RFC 6298).

use core::time::Duration;

use strandcast_proto::time::Instant;

use super::Config;

/// Round-trip times of a subflow, and the RTO that follows from them.
#[derive(Clone, Debug)]
pub(super) struct Rto {
    pub(super) srtt: Option<Duration>,
    pub(super) rttvar: Duration,
    pub(super) latest: Option<Duration>,
    pub(super) least: Option<Duration>,
    pub(super) samples: u64,
    /// RTO without back-off.
    base: Duration,
    max: Duration,
    /// Number of times that the RTO was doubled.
    backoff: u32,
}

impl Rto {
    pub(super) fn new(config: &Config) -> Self {
        Rto {
            srtt: None,
            rttvar: Duration::ZERO,
            latest: None,
            least: None,
            samples: 0,
            base: config.rto_initial,
            max: config.rto_max,
            backoff: 0,
        }
    }

    /// Returns the current RTO.
    pub(super) fn value(&self) -> Duration {
        self.base.saturating_mul(1 << self.backoff).min(self.max)
    }

    /// Backs off after the timer expired (RFC 6298, rule 5.5).
    pub(super) fn back_off(&mut self) {
        if self.value() < self.max {
            self.backoff = (self.backoff + 1).min(30);
        }
    }

    /// Handles a handshake that needed a retransmission: the RTO for data begins at 3 s or more (RFC 6298, rule 5.7).
    pub(super) fn restart_after_syn_loss(&mut self) {
        self.backoff = 0;
        if self.srtt.is_none() {
            self.base = self.base.max(Duration::from_secs(3));
        }
    }

    /// Applies the round-trip time of a segment sent at `sent`, measured by a clock with ticks of `granularity` (RFC
    /// 6298 §2, §4).
    pub(super) fn sample(&mut self, now: Instant, sent: Instant, config: &Config) {
        let tick = config.granularity.as_nanos().max(1) as u64;
        let ticks = now.as_nanos() / tick - sent.as_nanos().min(now.as_nanos()) / tick;
        let rtt = Duration::from_nanos(ticks.max(1) * tick);
        match self.srtt {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
                self.rttvar = (3 * self.rttvar + srtt.abs_diff(rtt)) / 4;
                self.srtt = Some((7 * srtt + rtt) / 8);
            }
        }
        self.latest = Some(rtt);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        self.backoff = 0;
        let variance = (4 * self.rttvar).max(config.granularity);
        let srtt = self.srtt.unwrap_or(rtt);
        self.base = if config.rto_min_above_srtt {
            srtt + variance.max(config.rto_min)
        } else {
            (srtt + variance).max(config.rto_min)
        };
        self.base = self.base.min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Profile;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn config(rto_min_ms: u64) -> Config {
        Config { rto_min: MS(rto_min_ms), ..Config::from(Profile::Rfc) }
    }

    fn after(samples: &[u64], config: &Config) -> Rto {
        let mut rto = Rto::new(config);
        for &ms in samples {
            rto.sample(Instant::from_millis(10_000 + ms), Instant::from_millis(10_000), config);
        }
        rto
    }

    /// Values computed by RFC 6298 §2 for round-trip times of 100, 100 and 200 ms.
    #[test]
    fn follows_the_equations_of_rfc_6298() {
        let config = config(1);
        assert_eq!(Rto::new(&config).value(), MS(1000));
        let rto = after(&[100], &config);
        assert_eq!((rto.srtt, rto.rttvar, rto.value()), (Some(MS(100)), MS(50), MS(300)));
        let rto = after(&[100, 100], &config);
        assert_eq!(
            (rto.srtt, rto.rttvar, rto.value()),
            (Some(MS(100)), Duration::from_micros(37_500), MS(250))
        );
        let rto = after(&[100, 100, 200], &config);
        assert_eq!(rto.srtt, Some(Duration::from_micros(112_500)));
        assert_eq!(rto.rttvar, Duration::from_micros(53_125));
        assert_eq!(rto.value(), MS(325));
    }

    #[test]
    fn is_bounded_below_and_above_and_doubles() {
        let mut rto = after(&[100, 100, 200], &config(1000));
        let mut values = Vec::new();
        for _ in 0..8 {
            values.push(rto.value().as_secs());
            rto.back_off();
        }
        assert_eq!(values, [1, 2, 4, 8, 16, 32, 60, 60]);
        // A new sample ends the back-off (§5, last paragraph).
        rto.sample(Instant::from_millis(100), Instant::ZERO, &config(1000));
        assert_eq!(rto.value(), MS(1000));
    }

    /// RFC 6298 §2.4 bounds the whole timeout. Linux bounds the variance.
    #[test]
    fn the_lower_bound_may_lie_above_the_srtt() {
        let config = Config { rto_min_above_srtt: true, ..config(200) };
        assert_eq!(after(&[100; 100], &config).value(), MS(300));
    }

    /// RFC 6298 §4: a coarse clock rounds the samples, and G bounds the variance.
    #[test]
    fn samples_are_whole_ticks() {
        let config = Config { granularity: MS(10), ..config(1) };
        let rto = after(&[104; 200], &config);
        assert_eq!(rto.srtt, Some(MS(100)));
        assert_eq!(rto.value(), MS(110));
        let rto = after(&[1; 200], &config);
        assert_eq!(rto.srtt, Some(MS(10)));
    }
}
