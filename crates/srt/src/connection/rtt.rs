//! Round-trip time (draft-sharabayko-srt, *Round-Trip Time Estimation*).

use core::time::Duration;

/// Round-trip time before the first sample, and its deviation.
const INITIAL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(50));
/// Minimum time after which an answer is overdue. Peers act at intervals of 10 ms.
const PATIENCE: Duration = Duration::from_millis(10);
/// Largest round-trip time that counts as a sample. Longer times come from a stalled machine or a hostile peer.
const LONGEST: Duration = Duration::from_secs(10);

/// Smoothed round-trip time, and its mean deviation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtt {
    smoothed: Duration,
    deviation: Duration,
    sampled: bool,
}

impl Rtt {
    pub fn new() -> Rtt {
        Rtt { smoothed: INITIAL.0, deviation: INITIAL.1, sampled: false }
    }

    /// Adds a sample of the round-trip time. The first sample replaces the initial value.
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.min(LONGEST);
        if self.sampled {
            self.deviation = (3 * self.deviation + self.smoothed.abs_diff(rtt)) / 4;
            self.smoothed = (7 * self.smoothed + rtt) / 8;
        } else {
            (self.smoothed, self.deviation, self.sampled) = (rtt, rtt / 2, true);
        }
    }

    pub fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// Returns the smoothed round-trip time; zero before the first sample.
    pub fn measured(&self) -> Duration {
        if self.sampled { self.smoothed } else { Duration::ZERO }
    }

    /// Returns the round-trip time and its deviation in microseconds.
    pub fn micros(&self) -> (u32, u32) {
        (self.smoothed.as_micros() as u32, self.deviation.as_micros() as u32)
    }

    /// Returns the time after which an answer is overdue.
    pub fn overdue(&self) -> Duration {
        (self.smoothed + 4 * self.deviation).max(PATIENCE)
    }

    /// Returns the interval of periodic reports of losses. The interval is half of [`Rtt::overdue`], but at least 20
    /// ms.
    pub fn nak_interval(&self) -> Duration {
        (self.overdue() / 2).max(Duration::from_millis(20))
    }

    /// Returns the time after which a report of losses is repeated. The time is the interval of the draft, but not less
    /// than the time that an answer needs. The sender ignores a report that crosses its retransmission in transit.
    pub fn nak_repeat(&self) -> Duration {
        self.nak_interval().max(self.smoothed)
    }

    /// Returns the time within which a report cannot be about the last transmission, because its answer would need
    /// longer.
    pub fn too_early(&self) -> Duration {
        self.smoothed.saturating_sub(self.deviation).max(self.smoothed / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RTT = 7/8 RTT + 1/8 rtt; RTTVar = 3/4 RTTVar + 1/4 |RTT − rtt|. The values are computed by hand for 80 ms, then
    /// 160 ms.
    #[test]
    fn samples_are_smoothed_as_in_the_draft() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::new();
        assert_eq!((rtt.micros(), rtt.measured()), ((100_000, 50_000), Duration::ZERO));
        rtt.sample(ms(80));
        assert_eq!(rtt.micros(), (80_000, 40_000));
        rtt.sample(ms(160));
        assert_eq!(rtt.micros(), (90_000, 50_000));
        assert_eq!((rtt.overdue(), rtt.nak_interval(), rtt.nak_repeat()), (ms(290), ms(145), ms(145)));
        (0..200).for_each(|_| rtt.sample(ms(1)));
        assert_eq!(rtt.nak_interval(), ms(20), "the floor");
        (0..200).for_each(|_| rtt.sample(ms(80)));
        assert_eq!((rtt.nak_interval().as_millis(), rtt.nak_repeat().as_millis()), (40, 79), "no jitter");
    }
}
