//! Transmission rate of a path. The transmission rate is the number of bytes that arrived in an estimation interval,
//! divided by the time in which they were sent.
//!
//! | Xu et al. (2015) | here |
//! |---|---|
//! | eq. 6: R_e = sendsize / (T_l - T_e) | [`TransmissionRate::close`] |
//! | T_e, when the first chunk enters the path's buffer; T_l, when the last one leaves it | [`queued`](TransmissionRate::queued), [`sent`](TransmissionRate::sent) |
//!
//! `ASSUMED`: sendsize ("successful data amount") is the number of bytes acknowledged in the interval. If T_l - T_e is
//! shorter than half a round-trip time or 1 ms, the length of the interval replaces it. An interval in which nothing
//! was acknowledged halves the rate. A path that was idle or lost everything is thus neither dropped at once nor kept
//! for ever. Data that were sent before the interval count if they are acknowledged in it. If a path soon stops
//! sending, its rate is therefore too high (docs/deviations.md has the error).

use strandcast_proto::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_millis(1);

/// The transmission rate of one path.
#[derive(Clone, Debug)]
pub struct TransmissionRate {
    started: Instant,
    first_queued: Option<Instant>,
    last_sent: Option<Instant>,
    acked: u64,
    rate: f64,
}

impl TransmissionRate {
    /// Makes the state. The first interval begins at `now`.
    pub fn new(now: Instant) -> Self {
        TransmissionRate { started: now, first_queued: None, last_sent: None, acked: 0, rate: 0.0 }
    }

    /// Records that a chunk enters the path's buffer.
    pub fn queued(&mut self, now: Instant) {
        self.first_queued.get_or_insert(now);
    }

    /// Records that a chunk leaves the path's buffer.
    pub fn sent(&mut self, now: Instant) {
        self.queued(now);
        self.last_sent = Some(now);
    }

    /// Counts `bytes` of the path that were acknowledged.
    pub fn acked(&mut self, bytes: u64) {
        self.acked += bytes;
    }

    /// Ends the interval, computes its rate, and begins the next interval.
    pub fn close(&mut self, now: Instant, srtt: Option<Duration>) {
        if self.acked == 0 {
            self.rate /= 2.0;
        } else {
            let shortest = (srtt.unwrap_or_default() / 2).max(SHORTEST);
            let sending = match (self.first_queued, self.last_sent) {
                (Some(first), Some(last)) => last.saturating_since(first),
                _ => Duration::ZERO,
            };
            let whole = now.saturating_since(self.started);
            let time = if sending < shortest { whole.max(SHORTEST) } else { sending };
            self.rate = self.acked as f64 / time.as_secs_f64();
        }
        *self = TransmissionRate { rate: self.rate, ..TransmissionRate::new(now) };
    }

    /// R_e of the last interval in bytes per second. 0 before the first interval has ended.
    pub fn bytes_per_second(&self) -> f64 {
        self.rate
    }

    /// Rate since the current interval began. `None` until the interval has lasted for a round-trip time, and if the
    /// round-trip time is unknown.
    pub fn so_far(&self, now: Instant, srtt: Option<Duration>) -> Option<f64> {
        let elapsed = now.saturating_since(self.started);
        let enough = srtt.is_some_and(|srtt| elapsed >= srtt) && !elapsed.is_zero();
        enough.then(|| self.acked as f64 / elapsed.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Option<Duration> = Some(Duration::from_millis(100));

    fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn rate(queued: &[u64], sent: &[u64], acked: u64, close: u64) -> TransmissionRate {
        let mut rate = TransmissionRate::new(ms(0));
        queued.iter().for_each(|&at| rate.queued(ms(at)));
        sent.iter().for_each(|&at| rate.sent(ms(at)));
        rate.acked(acked);
        rate.close(ms(close), RTT);
        rate
    }

    /// The first chunk is queued at 0.1 s, the last one is sent at 0.9 s, and 80 000 bytes are acknowledged. The rate
    /// is 100 000 byte/s.
    #[test]
    fn eq_6_by_hand() {
        let rate = rate(&[100, 300], &[200, 900], 80_000, 1000);
        assert_eq!(rate.bytes_per_second(), 100_000.0);
    }

    #[test]
    fn chunks_that_are_not_said_to_be_queued_are_when_they_leave() {
        assert_eq!(rate(&[], &[200, 700], 5000, 1000).bytes_per_second(), 10_000.0);
    }

    #[test]
    fn a_sending_time_shorter_than_half_a_round_trip_is_the_interval() {
        assert_eq!(rate(&[10], &[59], 5000, 1000).bytes_per_second(), 5000.0);
        assert_eq!(rate(&[10], &[60], 5000, 1000).bytes_per_second(), 100_000.0);
        assert_eq!(rate(&[10], &[], 5000, 1000).bytes_per_second(), 5000.0);
        assert_eq!(rate(&[], &[], 5000, 500).bytes_per_second(), 10_000.0);
    }

    #[test]
    fn an_interval_without_data_halves_the_rate() {
        let mut rate = rate(&[0], &[1000], 5000, 1000);
        for expected in [2500.0, 1250.0] {
            rate.sent(ms(1500));
            rate.close(ms(2000), RTT);
            assert_eq!(rate.bytes_per_second(), expected);
        }
    }

    #[test]
    fn each_interval_begins_anew() {
        let mut rate = rate(&[0], &[1000], 5000, 1000);
        rate.sent(ms(1200));
        rate.sent(ms(1700));
        rate.acked(1000);
        rate.acked(1000);
        rate.close(ms(2000), RTT);
        assert_eq!(rate.bytes_per_second(), 4000.0);
    }

    #[test]
    fn first_interval_and_intervals_of_no_length() {
        let mut rate = TransmissionRate::new(ms(10));
        assert_eq!(rate.bytes_per_second(), 0.0);
        rate.close(ms(10), None);
        assert_eq!(rate.bytes_per_second(), 0.0);
        rate.acked(3);
        rate.close(ms(10), None);
        assert_eq!(rate.bytes_per_second(), 3000.0, "as in a millisecond");
    }

    #[test]
    fn so_far_needs_a_round_trip() {
        let mut rate = rate(&[], &[], 0, 1000);
        rate.acked(600);
        assert_eq!(rate.so_far(ms(1099), RTT), None);
        assert_eq!(rate.so_far(ms(1100), RTT), Some(6000.0));
        assert_eq!(rate.so_far(ms(1200), RTT), Some(3000.0));
        assert_eq!(rate.so_far(ms(1200), None), None);
        assert_eq!(rate.so_far(ms(1000), Some(Duration::ZERO)), None);
    }
}
