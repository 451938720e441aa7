//! Delivery times (draft-sharabayko-srt, *Timestamp-Based Packet Delivery*, *Drift Management*).

use core::time::Duration;

use strandcast_proto::time::Instant;

/// Number of samples for one estimate of the clock drift.
const SAMPLES: u32 = 500;
/// Maximum correction per estimate in microseconds.
const STEP: i64 = 5000;
/// Maximum time by which a timestamp may be ahead of the peer's estimated clock.
const AHEAD: Duration = Duration::from_secs(5);

/// State of delivery times: the peer's clock, and the latency.
#[derive(Debug)]
pub(super) struct Timing {
    /// Local time in microseconds that equals the peer's time 0. The peer's time 0 may be negative.
    base: i64,
    latency: Duration,
    /// Round-trip time of the first sample, in microseconds.
    first_rtt: Option<i64>,
    sum: i64,
    samples: u32,
}

impl Timing {
    /// Creates the clock of a peer whose handshake had this timestamp.
    pub fn new(now: Instant, timestamp: u32, latency: Duration) -> Timing {
        Timing { base: micros(now) - i64::from(timestamp), latency, first_rtt: None, sum: 0, samples: 0 }
    }

    pub fn latency(&self) -> Duration {
        self.latency
    }

    /// Returns the microseconds by which a timestamp is ahead of the peer's clock. A timestamp has 32 bits and wraps
    /// around.
    fn ahead(&self, now: Instant, timestamp: u32) -> i64 {
        let expected = micros(now) - self.base;
        i64::from(timestamp.wrapping_sub(expected as u32) as i32)
    }

    /// Returns the time at which a packet with this timestamp is delivered.
    pub fn delivery(&self, now: Instant, timestamp: u32) -> Instant {
        let ahead = self.ahead(now, timestamp).min(AHEAD.as_micros() as i64);
        let at = micros(now) + ahead + self.latency.as_micros() as i64;
        Instant::from_nanos(u64::try_from(at).unwrap_or(0).saturating_mul(1000))
    }

    /// Records the timestamp of a packet that is an immediate answer, and the round-trip time of this answer.
    pub fn sample(&mut self, now: Instant, timestamp: u32, rtt: Duration) {
        let rtt = rtt.as_micros() as i64;
        let longer = (rtt - *self.first_rtt.get_or_insert(rtt)) / 2;
        self.sum += -self.ahead(now, timestamp) - longer;
        self.samples += 1;
        if self.samples == SAMPLES {
            self.base += (self.sum / i64::from(SAMPLES)).clamp(-STEP, STEP);
            (self.sum, self.samples) = (0, 0);
        }
    }
}

fn micros(now: Instant) -> i64 {
    (now.as_nanos() / 1000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: Duration = Duration::from_millis(120);

    /// PktTsbpdTime = TsbpdTimeBase + PKT_TIMESTAMP + TsbpdDelay, with TsbpdTimeBase = T_NOW − HSREQ_TIMESTAMP.
    #[test]
    fn delivery_is_timestamp_plus_base_plus_latency() {
        let timing = Timing::new(Instant::from_millis(1000), 300_000, LATENCY);
        // Base: 700 ms. Timestamp: 500 ms. Arrival does not matter.
        for arrival in [1200, 1250, 1400] {
            let at = timing.delivery(Instant::from_millis(arrival), 500_000);
            assert_eq!(at, Instant::from_millis(700 + 500 + 120), "arrival at {arrival} ms");
        }
    }

    #[test]
    fn a_peer_may_be_older_than_the_local_clock() {
        let timing = Timing::new(Instant::from_millis(5), 4_000_000_000, LATENCY);
        assert_eq!(timing.delivery(Instant::from_millis(5), 4_000_000_000), Instant::from_millis(125));
    }

    /// The draft: timestamps wrap around after 01:11:35 hours.
    #[test]
    fn timestamps_wrap() {
        let timing = Timing::new(Instant::ZERO, 0, LATENCY);
        for minutes in [71, 72, 143, 144, 1000] {
            let now = Instant::from_millis(minutes * 60_000);
            let sent = (now.as_nanos() / 1000 - 40_000) as u32;
            assert_eq!(timing.delivery(now, sent), now + Duration::from_millis(80), "{minutes} minutes");
        }
    }

    #[test]
    fn timestamps_far_ahead_do_not_stop_delivery() {
        let timing = Timing::new(Instant::ZERO, 0, LATENCY);
        let at = timing.delivery(Instant::from_millis(10), 1_800_000_000);
        assert_eq!(at, Instant::from_millis(10) + AHEAD + LATENCY);
    }

    /// The peer's clock is 100 ppm faster or slower, over an hour with 100 answers per second.
    #[test]
    fn drift_is_followed() {
        for ppm in [-100_i64, 100] {
            let mut timing = Timing::new(Instant::ZERO, 0, LATENCY);
            let mut worst = 0;
            for tick in 1..360_000_u64 {
                let now = Instant::from_millis(10 * tick);
                let local = 10_000 * tick as i64;
                let peer = (local + local * ppm / 1_000_000) as u32;
                timing.sample(now, peer, Duration::from_millis(1));
                let wrong = timing.delivery(now, peer).as_nanos() as i64 / 1000 - local - 120_000;
                worst = worst.max(wrong.abs());
            }
            assert!(worst < 2000, "{ppm} ppm: {worst} microseconds");
        }
    }

    /// A path that becomes 40 ms longer in both directions delays answers. The peer's clock has not changed.
    #[test]
    fn a_longer_path_is_no_drift() {
        let mut timing = Timing::new(Instant::ZERO, 0, LATENCY);
        timing.sample(Instant::from_millis(10), 10_000, Duration::from_millis(20));
        for tick in 2..10_000_u64 {
            let sent = (10_000 * tick) as u32;
            timing.sample(Instant::from_millis(10 * tick + 40), sent, Duration::from_millis(100));
        }
        let now = Instant::from_millis(200_000);
        assert_eq!(timing.delivery(now, 200_000_000), now + LATENCY);
    }
}
