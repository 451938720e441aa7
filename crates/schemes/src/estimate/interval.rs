//! Time for which a path is observed before its estimates are renewed: u of Xu et al., 2015, section IV. This time
//! depends on the time between losses.
//!
//! The paper gives only two facts about the interval. Loss events trigger it, and a confidence interval updates it
//! statistically, as in CMT-QA. Everything else is `ASSUMED`:
//! * A loss event is the first loss found on the path. Further losses within a smoothed round-trip time belong to the
//!   same event.
//! * x are the last k times between events ([`keep`](IntervalConfig::keep)), m is their mean and s their standard
//!   deviation. h is t s/√k with Student's t for k - 1 degrees of freedom. u is the newest x, but at least m - h and at
//!   most m + h. If there are fewer than 3 such times, u is their mean.
//! * u is at least two round-trip times and [`least`](IntervalConfig::least), and at most
//!   [`most`](IntervalConfig::most). Before the second event, u is [`initial`](IntervalConfig::initial).
//! * An interval ends at a loss event, or when u is over. It does not end before a round-trip time and `least` have
//!   passed since its beginning.

use std::collections::VecDeque;

use strandcast_proto::time::{Duration, Instant};

use super::student;

/// Constants that the paper leaves open.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct IntervalConfig {
    /// Length of the interval before the first measurement.
    pub initial: Duration,
    /// Least length of an interval.
    pub least: Duration,
    /// Greatest length of an interval.
    pub most: Duration,
    /// Number of times between losses that are kept. At least 1.
    pub keep: usize,
    /// Level of the confidence interval, in `(0, 1)`.
    pub confidence: f64,
}

impl Default for IntervalConfig {
    fn default() -> Self {
        IntervalConfig {
            initial: Duration::from_secs(1),
            least: Duration::from_millis(100),
            most: Duration::from_secs(30),
            keep: 20,
            confidence: 0.95,
        }
    }
}

/// The estimation interval of one path.
#[derive(Clone, Debug)]
pub struct EstimationInterval {
    config: IntervalConfig,
    /// Times between loss events in seconds. The oldest one comes first.
    distances: VecDeque<f64>,
    last_event: Option<Instant>,
    /// u before its bounds apply.
    spacing: Option<Duration>,
    started: Instant,
    length: Duration,
}

impl EstimationInterval {
    /// Makes the state. The first interval begins at `now`.
    pub fn new(config: IntervalConfig, now: Instant) -> Self {
        let mut interval = EstimationInterval {
            config,
            distances: VecDeque::with_capacity(config.keep),
            last_event: None,
            spacing: None,
            started: now,
            length: config.initial,
        };
        interval.bound(None);
        interval
    }

    /// Records that a loss was found at `now`. Returns true if the interval must be closed now.
    pub fn loss_event(&mut self, now: Instant, srtt: Option<Duration>) -> bool {
        let round_trip = srtt.unwrap_or_default();
        if self.last_event.is_some_and(|last| now.saturating_since(last) < round_trip) {
            return false;
        }
        if let Some(last) = self.last_event.replace(now) {
            self.learn((now - last).as_secs_f64());
            self.bound(srtt);
        }
        now.saturating_since(self.started) >= round_trip.max(self.config.least)
    }

    /// Ends the interval, and begins the next one.
    pub fn close(&mut self, now: Instant, srtt: Option<Duration>) {
        self.started = now;
        self.bound(srtt);
    }

    /// Time at which the interval ends if no loss occurs.
    pub fn ends(&self) -> Instant {
        self.started + self.length
    }

    /// u: length of the interval.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// Returns u as computed from the losses, without bounds. Returns `None` before the second loss event.
    pub fn spacing(&self) -> Option<Duration> {
        self.spacing
    }

    /// Beginning of the interval.
    pub fn started(&self) -> Instant {
        self.started
    }

    fn learn(&mut self, distance: f64) {
        if self.distances.len() >= self.config.keep.max(1) {
            self.distances.pop_front();
        }
        self.distances.push_back(distance);
        self.spacing = Some(Duration::from_secs_f64(self.statistic(distance)));
    }

    /// Returns the newest time between losses, limited to the confidence interval of the mean.
    fn statistic(&self, newest: f64) -> f64 {
        let k = self.distances.len();
        let mean = self.distances.iter().sum::<f64>() / k as f64;
        if k < 3 {
            return mean;
        }
        let squares: f64 = self.distances.iter().map(|x| (x - mean) * (x - mean)).sum();
        let deviation = libm::sqrt(squares / (k - 1) as f64);
        let t = student::two_sided(self.config.confidence, k as u32 - 1);
        let half = t * deviation / libm::sqrt(k as f64);
        newest.max(mean - half).min(mean + half)
    }

    fn bound(&mut self, srtt: Option<Duration>) {
        let IntervalConfig { initial, least, most, .. } = self.config;
        let least = least.max(2 * srtt.unwrap_or_default());
        self.length = self.spacing.unwrap_or(initial).max(least).min(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Option<Duration> = Some(Duration::from_millis(50));

    fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn fed(events: &[u64]) -> EstimationInterval {
        let mut interval = EstimationInterval::new(IntervalConfig::default(), Instant::ZERO);
        for &at in events {
            if interval.loss_event(ms(at), RTT) {
                interval.close(ms(at), RTT);
            }
        }
        interval
    }

    fn assert_length(interval: &EstimationInterval, seconds: f64) {
        let found = interval.length().as_secs_f64();
        assert!((found - seconds).abs() < 1e-4, "{found} s, not {seconds}");
    }

    #[test]
    fn one_second_until_two_losses_are_known() {
        for events in [&[][..], &[300][..]] {
            assert_length(&fed(events), 1.0);
            assert_eq!(fed(events).spacing(), None);
        }
        assert_eq!(fed(&[]).ends(), ms(1000));
        assert_eq!(fed(&[300]).ends(), ms(1300));
    }

    #[test]
    fn the_mean_of_fewer_than_three() {
        assert_length(&fed(&[0, 400]), 0.4);
        assert_length(&fed(&[0, 400, 1200]), 0.6);
    }

    /// Times 0.4, 0.8, 0.6: m = 0.6, s = 0.2, h = 4.3027 · 0.2/√3 = 0.49683. The newest time, 0.6, is within m ± h. If
    /// the last time is 5.0, m = 2.06667, s = 2.54820, h = 6.3302. The newest time, 5.0, is still within m ± h.
    #[test]
    fn the_newest_within_the_confidence_interval() {
        assert_length(&fed(&[0, 400, 1200, 1800]), 0.6);
        assert_length(&fed(&[0, 400, 1200, 6200]), 5.0);
    }

    /// Nine times between losses of 0.4 s and one of 2.4 s have the mean m = 0.6 s and the deviation
    /// s = √(3.6/9) = 0.632456 s. Half of the confidence interval is h = 2.26216 · 0.2 = 0.452431 s, so that 2.4 s
    /// becomes m + h = 1.052431 s. One time of 0.1 s and nine of 0.4 s have m = 0.37, s = 0.0948683, h = 0.0678647. The
    /// result is 0.302135.
    #[test]
    fn a_distance_beyond_the_confidence_interval_counts_as_its_edge() {
        let mut events: Vec<u64> = (0..10).map(|n| n * 400).collect();
        events.push(3600 + 2400);
        assert_length(&fed(&events), 1.052_431);
        events[10] = 3600 + 100;
        assert_length(&fed(&events), 0.302_135);
    }

    #[test]
    fn only_the_last_twenty_count() {
        let mut events = vec![0, 10_000];
        events.extend((1..=20).map(|n| 10_000 + n * 300));
        assert_length(&fed(&events), 0.3);
        let mut config = IntervalConfig { keep: 0, ..IntervalConfig::default() };
        let mut interval = EstimationInterval::new(config, Instant::ZERO);
        for at in [0, 500, 800] {
            interval.loss_event(ms(at), RTT);
        }
        assert_length(&interval, 0.3);
        config.keep = 1;
        assert_eq!(EstimationInterval::new(config, ms(7)).started(), ms(7));
    }

    /// The second and third losses are within 50 ms of the first loss.
    #[test]
    fn losses_of_one_round_trip_are_one_event() {
        let mut interval = fed(&[200]);
        assert!(!interval.loss_event(ms(210), RTT));
        assert!(!interval.loss_event(ms(249), RTT));
        assert_eq!(interval.spacing(), None);
        interval.loss_event(ms(900), RTT);
        assert_eq!(interval.spacing(), Some(Duration::from_millis(700)));
    }

    #[test]
    fn closes_with_a_loss_but_not_at_once() {
        let mut interval = fed(&[]);
        interval.close(ms(1000), RTT);
        assert!(!interval.loss_event(ms(1099), RTT), "100 ms at least");
        assert!(interval.loss_event(ms(1300), RTT));
        interval.close(ms(1300), RTT);
        let slow = Some(Duration::from_millis(400));
        assert!(!interval.loss_event(ms(1699), slow), "a round trip at least");
        assert!(interval.loss_event(ms(2100), slow));
    }

    #[test]
    fn held_between_two_round_trips_and_half_a_minute() {
        let slow = Some(Duration::from_secs(2));
        let mut interval = fed(&[0, 400]);
        interval.close(ms(500), slow);
        assert_length(&interval, 4.0);
        assert_eq!(interval.ends(), ms(4500));
        assert_eq!(interval.spacing(), Some(Duration::from_millis(400)));
        interval.close(ms(4500), RTT);
        assert_length(&interval, 0.4);
        assert_length(&fed(&[0, 60, 120, 180, 240]), 0.1);
        assert_length(&fed(&[0, 100_000]), 30.0);
        interval.close(ms(5000), Some(Duration::from_secs(100)));
        assert_length(&interval, 30.0);
    }

    #[test]
    fn losses_at_one_instant_without_a_round_trip_time_do_no_harm() {
        let mut interval = EstimationInterval::new(IntervalConfig::default(), Instant::ZERO);
        for _ in 0..50 {
            interval.loss_event(ms(3), None);
        }
        assert_eq!(interval.spacing(), Some(Duration::ZERO));
        assert_length(&interval, 0.1);
    }
}
