//! The end of the first slow start.
//!
//! A queueing delay that lasts for a whole round trip indicates a full bottleneck, as in HyStart (RFC 9406). Jitter can
//! look the same. If each packet is delayed and the packets keep their order, round trips stay long without a queue. A
//! probation period distinguishes the two cases. The window grows by a quarter, as in Conservative Slow Start (RFC 9406
//! §4.2). If the bottleneck is full, the round trip then grows with the window, but the delivery rate does not grow. In
//! this case slow start ends. If this is not the case, slow start continues.
//!
//! `ASSUMED`: [`GROWTH`], [`FULL`] and the limits of the delay that starts a probation.

use strandcast_proto::time::{Duration, Instant};

/// Growth of the window during probation, as a factor.
const GROWTH: f64 = 1.25;
/// Least growth of the round trip through a full bottleneck, as a factor. If the delivery rate also grows by this
/// factor, the bottleneck is not full.
const FULL: f64 = 1.125;
/// Least number of chunks in flight. With fewer chunks, a delay does not count.
const MIN_CHUNKS: u64 = 8;

/// The first slow start, observed one round trip at a time.
#[derive(Debug)]
pub(super) struct Start {
    since: Instant,
    /// Least queueing delay since `since`, in seconds. `sum` and `samples` give the mean.
    least: f64,
    sum: f64,
    samples: u32,
    probation: Option<Probation>,
}

/// The test that follows a long queueing delay.
#[derive(Copy, Clone, Debug)]
struct Probation {
    /// Mean round-trip time in seconds when the delay was detected.
    trip: f64,
    /// Delivery rate in bytes per second when the delay was detected.
    rate: f64,
    /// Window in bytes up to which the window grows.
    to: u64,
    /// True if the window has reached this size. The next round trip then decides.
    reached: bool,
}

/// State of the path at an acknowledgement.
#[derive(Copy, Clone, Debug)]
pub(super) struct Seen {
    /// Queueing delay and least round trip, seconds.
    pub queue: f64,
    pub least: f64,
    pub srtt: Duration,
    /// Delivery rate, bytes per second.
    pub rate: f64,
    /// The window in bytes, and the number of chunks in flight.
    pub cwnd: u64,
    pub chunks: u64,
}

/// Consequence of an acknowledgement for slow start.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Verdict {
    /// The window grows as before.
    None,
    /// The window grows up to this size in bytes.
    UpTo(u64),
    /// Slow start continues.
    On,
    /// Slow start has ended.
    Ended,
}

impl Start {
    pub fn new(since: Instant) -> Self {
        Start::with(since, None)
    }

    fn with(since: Instant, probation: Option<Probation>) -> Self {
        Start { since, least: f64::INFINITY, sum: 0.0, samples: 0, probation }
    }

    /// Takes an acknowledgement.
    pub fn on_acked(&mut self, now: Instant, seen: &Seen) -> Verdict {
        self.least = self.least.min(seen.queue);
        (self.sum, self.samples) = (self.sum + seen.queue, self.samples + 1);
        if now.saturating_since(self.since) < seen.srtt {
            return Verdict::None;
        }
        let trip = seen.least + self.sum / f64::from(self.samples);
        let (verdict, probation) = match self.probation {
            None if self.least > (seen.least / 4.0).max(0.01) && seen.chunks >= MIN_CHUNKS => {
                let to = (seen.cwnd as f64 * GROWTH) as u64;
                (Verdict::UpTo(to), Some(Probation { trip, rate: seen.rate, to, reached: false }))
            }
            None => (Verdict::None, None),
            Some(p) if !p.reached => (Verdict::None, Some(Probation { reached: seen.cwnd >= p.to, ..p })),
            Some(p) if trip < FULL * p.trip || seen.rate >= FULL * p.rate => (Verdict::On, None),
            Some(_) => (Verdict::Ended, None),
        };
        *self = Start::with(now, probation);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the verdict on a path of 100 ms. It has a queue of 40 ms at a window of 100 kB and at 1 MB/s. `larger`
    /// is its state with a larger window.
    fn after(larger: Seen) -> Verdict {
        let ms = Instant::from_millis;
        let seen = Seen {
            queue: 0.04,
            least: 0.1,
            srtt: Duration::from_millis(140),
            rate: 1e6,
            cwnd: 100_000,
            chunks: 80,
        };
        let mut start = Start::new(ms(0));
        assert_eq!(start.on_acked(ms(100), &seen), Verdict::None, "not for a round trip yet");
        assert_eq!(start.on_acked(ms(200), &seen), Verdict::UpTo(125_000));
        assert_eq!(
            start.on_acked(ms(350), &Seen { cwnd: 110_000, ..seen }),
            Verdict::None,
            "not that large yet"
        );
        assert_eq!(
            start.on_acked(ms(500), &Seen { cwnd: 125_000, ..seen }),
            Verdict::None,
            "it shows a trip later"
        );
        start.on_acked(ms(700), &larger)
    }

    const LARGER: Seen = Seen {
        queue: 0.075,
        least: 0.1,
        srtt: Duration::from_millis(140),
        rate: 1e6,
        cwnd: 126_000,
        chunks: 90,
    };

    #[test]
    fn a_round_trip_that_grows_with_the_window_ends_it() {
        assert_eq!(after(LARGER), Verdict::Ended);
    }

    #[test]
    fn delays_that_do_not_grow_and_rates_that_do_are_no_queue() {
        assert_eq!(after(Seen { queue: 0.05, ..LARGER }), Verdict::On);
        assert_eq!(after(Seen { rate: 1.2e6, ..LARGER }), Verdict::On);
    }

    #[test]
    fn a_queue_that_comes_and_goes_is_a_burst_of_ours() {
        let ms = Instant::from_millis;
        let mut start = Start::new(ms(0));
        assert_eq!(start.on_acked(ms(100), &Seen { queue: 0.01, ..LARGER }), Verdict::None);
        assert_eq!(start.on_acked(ms(200), &LARGER), Verdict::None);
        let mut few = Start::new(ms(0));
        assert_eq!(few.on_acked(ms(200), &Seen { chunks: 7, ..LARGER }), Verdict::None, "too few in flight");
    }
}
