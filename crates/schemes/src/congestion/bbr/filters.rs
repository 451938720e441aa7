//! Filters that keep BBR's samples.

use std::collections::VecDeque;

/// Highest value of the last rounds (§5.5.9; also the bandwidth of BBRv1).
#[derive(Clone, Debug, Default)]
pub struct RoundMax {
    /// Values that may still become the maximum, each with its round. The highest value comes first. If values are
    /// equal, the oldest one comes first.
    values: VecDeque<(u64, f64)>,
}

impl RoundMax {
    /// Adds a value of `round`. The last `window` rounds count.
    pub fn push(&mut self, round: u64, value: f64, window: u64) {
        while self.values.back().is_some_and(|v| v.1 <= value) {
            self.values.pop_back();
        }
        if self.values.back().is_none_or(|v| v.0 != round) {
            self.values.push_back((round, value));
        }
        while self.values.front().is_some_and(|v| v.0 + window <= round && self.values.len() > 1) {
            self.values.pop_front();
        }
    }

    /// Returns the highest value.
    pub fn get(&self) -> f64 {
        self.values.front().map_or(0.0, |v| v.1)
    }
}

/// Highest value of this ProbeBW cycle and the previous one (§5.5.3, §5.5.6).
#[derive(Copy, Clone, Debug, Default)]
pub struct CycleMax {
    before: f64,
    now: f64,
}

impl CycleMax {
    /// Adds a value of the current cycle.
    pub fn push(&mut self, value: f64) {
        self.now = self.now.max(value);
    }

    /// AdvanceMaxBwFilter: ends a cycle. A cycle without a value does not count.
    pub fn advance(&mut self) {
        if self.now > 0.0 {
            (self.before, self.now) = (self.now, 0.0);
        }
    }

    /// Returns the highest value.
    pub fn get(&self) -> f64 {
        self.now.max(self.before)
    }
}

/// Packet-timed round trips (§5.5.1).
#[derive(Copy, Clone, Debug, Default)]
pub struct Rounds {
    next_delivered: u64,
    /// Number of rounds so far.
    pub count: u64,
    /// True if a round began with this acknowledgement.
    pub began: bool,
}

impl Rounds {
    /// StartRound: the round that begins ends when a packet that leaves from now on is delivered.
    pub fn start(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    /// UpdateRound for the delivery of a packet. `prior` is the number of bytes that had been delivered when the packet
    /// left. `delivered` is the number of bytes that have been delivered now.
    pub fn update(&mut self, prior: Option<u64>, delivered: u64) {
        self.began = prior.is_some_and(|prior| prior >= self.next_delivered);
        if self.began {
            self.start(delivered);
            self.count += 1;
        }
    }
}

/// Number of rounds without growth after which the pipe counts as full, and the least growth that counts (§5.3.1.2).
const FULL_ROUNDS: u32 = 3;
const GROWTH: f64 = 1.25;

/// The full-pipe estimator (§5.3.1.2).
#[derive(Copy, Clone, Debug, Default)]
pub struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    /// BBR.full_bw_now: true if the rate has stopped growing since the last reset.
    pub now: bool,
    /// BBR.full_bw_reached: true if the rate has stopped growing at any time.
    pub reached: bool,
}

impl FullPipe {
    /// ResetFullBW: growth is measured from `bandwidth` on.
    pub fn reset(&mut self, bandwidth: f64) {
        *self = FullPipe { bandwidth, rounds: 0, now: false, reached: self.reached };
    }

    /// CheckFullBWReached, at the end of a round that the application did not limit.
    pub fn check(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.bandwidth * GROWTH {
            self.reset(rate);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= FULL_ROUNDS;
        self.reached |= self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_of_so_many_rounds() {
        let mut max = RoundMax::default();
        for (round, value, highest) in
            [(0, 5.0, 5.0), (1, 3.0, 5.0), (2, 4.0, 5.0), (9, 1.0, 5.0), (10, 1.0, 4.0)]
        {
            max.push(round, value, 10);
            assert_eq!(max.get(), highest, "round {round}");
        }
    }

    #[test]
    fn a_cycle_without_samples_forgets_nothing() {
        let mut max = CycleMax::default();
        max.push(7.0);
        max.advance();
        max.advance();
        assert_eq!(max.get(), 7.0);
        max.push(3.0);
        assert_eq!(max.get(), 7.0);
        max.advance();
        assert_eq!(max.get(), 3.0);
    }

    #[test]
    fn three_rounds_below_a_quarter_more_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        for rate in [100.0, 200.0, 240.0, 249.0] {
            pipe.check(rate);
        }
        assert!(!pipe.now);
        pipe.check(250.0);
        assert!(!pipe.now, "a quarter more is growth");
        for _ in 0..3 {
            assert!(!pipe.now);
            pipe.check(300.0);
        }
        assert!(pipe.now && pipe.reached);
        pipe.reset(0.0);
        assert!(!pipe.now && pipe.reached, "it was reached once");
    }
}
