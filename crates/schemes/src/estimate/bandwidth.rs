//! Bandwidth of a path, computed from the times at which packets leave. The computation uses moving averages of lengths
//! and gaps, and a Kalman filter.
//!
//! | Xu et al. (2015), Algorithm 1 | here |
//! |---|---|
//! | length_sample, interval_sample, moving averages, BW_sample | [`Bandwidth::departed`] |
//! | time update, measurement update | [`Kalman::update`] |
//!
//! Constants (Table II): a = b = 0.99, Q = 0.01, R = 1. Only the ratio Q/R matters.
//!
//! The algorithm measures the rate at which the sender itself sends, including retransmissions. If it uses the times at
//! which the sender passes packets to the network, the estimate follows the window. If it uses the times at which the
//! access link sends packets, the estimate could show the link's rate within a burst. This requires values of a and b
//! that are far below the paper's values. With the paper's values, the average covers a hundred packets, including
//! bursts and the pauses between them.
//!
//! `ASSUMED`: the averages start at 0. If a = b, their bias cancels in the ratio. If a and b differ, the first samples
//! are too large by the factor (1 - aᵏ)/(1 - bᵏ). The first packet has no gap, and only starts the clock. The estimate
//! starts at the first sample, and its error variance starts at R. Packets that leave at the same time are added, and
//! give no sample until time has passed. The length of a gap is limited to `longest`, because a pause of the
//! application shows nothing about the path.

use strandcast_keys::keys;
use strandcast_proto::time::{Duration, Instant};

keys! {
    /// Algorithm 1's constants.
    #[derive(Copy)]
    pub struct BandwidthConfig {
        /// weight of the past in the average packet length (Algorithm 1)
        a: f64 [0.0, 0.9999] = 0.99,
        /// weight of the past in the average gap between packets (Algorithm 1)
        b: f64 [0.0, 0.9999] = 0.99,
        /// variance of the bandwidth's own changes (Algorithm 1)
        q: f64 [1e-6, 1e6] = 0.01,
        /// variance of a bandwidth sample's error (Algorithm 1)
        r: f64 [1e-6, 1e6] = 1.0,
    }
}

/// Bandwidth of one path.
#[derive(Clone, Debug)]
pub struct Bandwidth {
    config: BandwidthConfig,
    last: Option<Instant>,
    /// Average length, bytes.
    length: f64,
    /// Average gap in seconds.
    gap: f64,
    filter: Option<Kalman>,
}

impl Bandwidth {
    /// Makes an estimator without samples.
    pub fn new(config: BandwidthConfig) -> Self {
        Bandwidth { config, last: None, length: 0.0, gap: 0.0, filter: None }
    }

    /// Records that a packet with `bytes` of DATA left at `now`. A gap that is longer than `longest` counts as
    /// `longest`.
    pub fn departed(&mut self, now: Instant, bytes: u64, longest: Duration) {
        let Some(last) = self.last.replace(now) else { return };
        let BandwidthConfig { a, b, q, r } = self.config;
        self.length = a * self.length + (1.0 - a) * bytes as f64;
        self.gap = b * self.gap + (1.0 - b) * (now - last).min(longest).as_secs_f64();
        if self.gap <= 0.0 {
            return;
        }
        let sample = self.length / self.gap;
        match &mut self.filter {
            Some(filter) => filter.update(sample, q, r),
            None => self.filter = Some(Kalman { estimate: sample, variance: r }),
        }
    }

    /// BW_e in bytes per second. `None` before the first sample.
    pub fn bytes_per_second(&self) -> Option<f64> {
        self.filter.as_ref().map(|f| f.estimate)
    }
}

/// Kalman filter of a random walk that is observed with noise.
#[derive(Clone, Debug)]
struct Kalman {
    estimate: f64,
    /// ev: variance of the estimate's error.
    variance: f64,
}

impl Kalman {
    fn update(&mut self, sample: f64, q: f64, r: f64) {
        let prior = self.variance + q;
        let gain = prior / (prior + r);
        self.estimate += gain * (sample - self.estimate);
        self.variance = (1.0 - gain) * prior;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_millis(200);

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found}, not {expected}");
    }

    #[test]
    fn the_first_packet_only_starts_the_clock() {
        let mut bandwidth = Bandwidth::new(BandwidthConfig::default());
        assert_eq!(bandwidth.bytes_per_second(), None);
        bandwidth.departed(us(1000), 1468, LONGEST);
        assert_eq!(bandwidth.bytes_per_second(), None);
        bandwidth.departed(us(11_000), 1468, LONGEST);
        close(bandwidth.bytes_per_second().unwrap(), 146_800.0, 1e-12);
    }

    /// Two gaps of 10 ms are followed by one of 30 ms, with 1000 bytes each; a = b = 0.5, Q = 1, R = 1. The lengths are
    /// 500, 750, 875. The gaps are 5, 7.5, 18.75 ms. The samples are 100 000, 100 000, 46 666.667. First, ev
    /// is 1. Second, the prior is 2, K is 2/3, ev is 2/3, and the estimate is 100 000. Third, the prior is 5/3, K is
    /// 5/8, and the estimate is 100 000 - 5/8 · 53 333.333 = 66 666.667.
    #[test]
    fn algorithm_1_by_hand() {
        let config = BandwidthConfig { a: 0.5, b: 0.5, q: 1.0, r: 1.0 };
        let mut bandwidth = Bandwidth::new(config);
        for (at, estimate) in [(0, None), (10, Some(1e5)), (20, Some(1e5)), (50, Some(66_666.666_666_7))] {
            bandwidth.departed(Instant::from_millis(at), 1000, LONGEST);
            match estimate {
                None => assert_eq!(bandwidth.bytes_per_second(), None),
                Some(estimate) => close(bandwidth.bytes_per_second().unwrap(), estimate, 1e-10),
            }
        }
    }

    /// The gain settles if v = (v + Q)(1 - K). Then K² = (1 - K) Q/R, so that K = (-q + √(q² + 4q))/2 = 0.0951 for
    /// q = 0.01.
    #[test]
    fn the_gain_settles() {
        let mut filter = Kalman { estimate: 0.0, variance: 1.0 };
        for _ in 0..1000 {
            filter.update(0.0, 0.01, 1.0);
        }
        filter.update(1.0, 0.01, 1.0);
        close(filter.estimate, 0.095_124_9, 1e-5);
    }

    #[test]
    fn steady_departures_give_their_rate_from_the_first_sample_on() {
        let mut bandwidth = Bandwidth::new(BandwidthConfig::default());
        for n in 0..500 {
            bandwidth.departed(us(n * 2000), 1500, LONGEST);
            if n > 0 {
                close(bandwidth.bytes_per_second().unwrap(), 750_000.0, 1e-9);
            }
        }
    }

    /// Ten packets leave at the same time, every 100 ms. The rate is 150 kB/s in the long run, whatever the times
    /// within a group.
    #[test]
    fn bursts_at_one_instant_count_with_their_bytes() {
        let mut bandwidth = Bandwidth::new(BandwidthConfig::default());
        for n in 0..20_000u64 {
            bandwidth.departed(us(n / 10 * 100_000), 1500, LONGEST);
            assert!(bandwidth.bytes_per_second().is_none_or(f64::is_finite));
            assert_eq!(bandwidth.bytes_per_second().is_none(), n < 10, "no time passed in the first burst");
        }
        close(bandwidth.bytes_per_second().unwrap(), 150_000.0, 0.06);
    }

    #[test]
    fn a_pause_counts_as_the_longest_gap() {
        let feed = |pause: u64| {
            let mut bandwidth = Bandwidth::new(BandwidthConfig::default());
            for n in 0..100 {
                bandwidth.departed(us(n * 1000), 1500, LONGEST);
            }
            bandwidth.departed(us(99_000 + pause), 1500, LONGEST);
            bandwidth.bytes_per_second().unwrap()
        };
        assert_eq!(feed(200_000), feed(3_600_000_000));
        assert!(feed(100_000) > feed(200_000));
    }

    #[test]
    fn empty_packets_and_clocks_that_stand_still_do_no_harm() {
        let mut bandwidth = Bandwidth::new(BandwidthConfig::default());
        for at in [5000, 5000, 4000, 6000] {
            bandwidth.departed(us(at), 0, Duration::ZERO);
        }
        assert_eq!(bandwidth.bytes_per_second(), None);
        bandwidth.departed(us(7000), 0, LONGEST);
        assert_eq!(bandwidth.bytes_per_second(), Some(0.0));
    }
}
