//! Pacing of a sender: a rate, and a credit for bursts.

use core::time::Duration;

use strandcast_proto::time::Instant;

use crate::config::Bandwidth;

/// Time of which the bytes may leave as one burst. Timers that are late by at most this time do not reduce the
/// throughput.
const CREDIT: Duration = Duration::from_millis(20);
/// Number of bytes that may always leave as one burst.
const LEAST_CREDIT: u64 = 16 * 1500;
/// Number of bytes of the headers of IPv4, UDP and SRT.
const HEADERS: u64 = 44;
/// Interval over which the rate of the input is measured.
const MEASURE: Duration = Duration::from_secs(1);
/// Minimum of the rate limit in bytes per second. A pause of the input then does not stop the next packets.
const LOWEST: u64 = 62_500;

/// Pacer that limits the rate of a sender.
#[derive(Debug)]
pub(super) struct Pacer {
    bandwidth: Bandwidth,
    /// Rate limit in bytes per second.
    rate: u64,
    /// Time up to which the bytes that were sent use the rate.
    used_until: Instant,
    /// Beginning of the present measurement; `input` counts the bytes in it.
    since: Instant,
    input: u64,
}

impl Pacer {
    pub fn new(now: Instant, bandwidth: Bandwidth) -> Pacer {
        let rate = match bandwidth {
            Bandwidth::Fixed(rate) => rate.max(LOWEST),
            // No measurement yet: the draft's default.
            Bandwidth::Input { .. } => 125_000_000,
        };
        Pacer { bandwidth, rate, used_until: now, since: now, input: 0 }
    }

    /// Records a packet that the application submitted.
    pub fn feed(&mut self, now: Instant, payload: usize) {
        let Bandwidth::Input { overhead } = self.bandwidth else { return };
        let elapsed = now.saturating_since(self.since);
        if elapsed >= MEASURE {
            let per_second = u128::from(self.input) * 1000 / elapsed.as_millis().max(1);
            let limit = per_second * u128::from(100 + overhead) / 100;
            self.rate = u64::try_from(limit).unwrap_or(u64::MAX).max(LOWEST);
            (self.since, self.input) = (now, 0);
        }
        self.input += payload as u64 + HEADERS;
    }

    /// Returns the time at which the next packet may be sent.
    pub fn next(&self) -> Instant {
        let credit = CREDIT.max(self.time(LEAST_CREDIT));
        Instant::from_nanos(self.used_until.as_nanos().saturating_sub(credit.as_nanos() as u64))
    }

    /// Records a packet that is sent.
    pub fn sent(&mut self, now: Instant, payload: usize) {
        let time = self.time(payload as u64 + HEADERS);
        self.used_until = self.used_until.max(now) + time;
    }

    fn time(&self, bytes: u64) -> Duration {
        Duration::from_nanos((u128::from(bytes) * 1_000_000_000 / u128::from(self.rate)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends as many packets as the pacer permits at each of the given times in milliseconds. Returns the bytes with
    /// headers.
    fn sends(pacer: &mut Pacer, times: impl Iterator<Item = u64>) -> u64 {
        let mut bytes = 0;
        for now in times.map(Instant::from_millis) {
            while pacer.next() <= now {
                pacer.sent(now, 1456);
                bytes += 1500;
            }
        }
        bytes
    }

    /// 8 Mbit/s for 10 s are 10 MB, whether the timer fires every millisecond or every 15 ms.
    #[test]
    fn coarse_timers_do_not_lower_the_rate() {
        for step in [1, 5, 15] {
            let mut pacer = Pacer::new(Instant::ZERO, Bandwidth::Fixed(1_000_000));
            let bytes = sends(&mut pacer, (0..10_000).step_by(step));
            assert!((9_950_000..10_060_000).contains(&bytes), "{step} ms: {bytes}");
        }
    }

    #[test]
    fn a_pause_gives_no_more_than_the_credit() {
        let mut pacer = Pacer::new(Instant::ZERO, Bandwidth::Fixed(10_000_000));
        let bytes = sends(&mut pacer, [60_000].into_iter());
        // 20 ms at 10 MB/s.
        assert!((200_000..=203_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn the_rate_follows_the_input_with_overhead() {
        let mut pacer = Pacer::new(Instant::ZERO, Bandwidth::Input { overhead: 25 });
        // 1000 packets of 1500 bytes per second for two seconds.
        (0..=2000).for_each(|ms| pacer.feed(Instant::from_millis(ms), 1456));
        let bytes = sends(&mut pacer, 2000..12_000);
        assert!((18_700_000..18_850_000).contains(&bytes), "{bytes}");
    }
}
