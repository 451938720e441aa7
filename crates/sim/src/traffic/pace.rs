//! Conversion of amounts of data into times.

use core::fmt::Debug;
use core::time::Duration;

use strandcast_netem::number::Varying;
use strandcast_proto::time::Instant;

const NANOS_PER_S: f64 = 1e9;

/// A number that may change over time. The number is constant between its changes.
pub trait Level: Debug + Send {
    /// Returns the value at `now`. The time `now` must not decrease from call to call. A number that is drawn for each
    /// packet is drawn at each call.
    fn at(&mut self, now: Instant) -> f64;

    /// Returns the first time after `now` at which the value may change; `None` if it never does.
    fn next_change(&self, now: Instant) -> Option<Instant>;
}

/// A constant value.
impl Level for f64 {
    fn at(&mut self, _: Instant) -> f64 {
        *self
    }

    fn next_change(&self, _: Instant) -> Option<Instant> {
        None
    }
}

impl Level for Varying {
    fn at(&mut self, now: Instant) -> f64 {
        self.at(now)
    }

    fn next_change(&self, now: Instant) -> Option<Instant> {
        self.next_change(now)
    }
}

/// Pace that advances from message to message at a rate. The pace keeps fractions of nanoseconds, so that intervals add
/// up without error.
#[derive(Debug)]
pub(super) struct Pace {
    rate_bps: Box<dyn Level>,
    at: Instant,
    /// Fraction of a nanosecond, below 1, to be added to `at`.
    part_ns: f64,
    stop: Instant,
}

impl Pace {
    /// Creates a pace that runs from `start` until before `stop`.
    pub(super) fn new(rate_bps: Box<dyn Level>, start: Instant, stop: Instant) -> Self {
        Pace { rate_bps, at: start, part_ns: 0.0, stop }
    }

    /// Returns the rate at the present time in bit/s.
    pub(super) fn rate_bps(&mut self) -> f64 {
        self.rate_bps.at(self.at)
    }

    /// Advances by `seconds`.
    pub(super) fn wait(&mut self, seconds: f64) {
        self.go_on(seconds * NANOS_PER_S);
    }

    /// Advances until the integral of the rate has grown by `bits`. Returns `None` if the source ends before this, for
    /// example at a rate of 0.
    pub(super) fn send(&mut self, mut bits: f64) -> Option<Instant> {
        while self.at < self.stop {
            let rate_bps = self.rate_bps.at(self.at);
            let change = self.rate_bps.next_change(self.at).filter(|&change| change > self.at);
            if rate_bps > 0.0 && rate_bps.is_finite() {
                let need_ns = bits * NANOS_PER_S / rate_bps;
                let left_ns = change.map(|change| (change - self.at).as_nanos() as f64 - self.part_ns);
                if left_ns.is_none_or(|left_ns| need_ns < left_ns) {
                    self.go_on(need_ns);
                    return (self.at < self.stop).then_some(self.at);
                }
                bits -= rate_bps * left_ns.unwrap_or(0.0) / NANOS_PER_S;
                bits = bits.max(0.0);
            }
            (self.at, self.part_ns) = (change?, 0.0);
        }
        None
    }

    fn go_on(&mut self, ns: f64) {
        let ns = self.part_ns + ns;
        let whole_ns = ns.floor();
        self.part_ns = ns - whole_ns;
        // Casts saturate, and so does time.
        self.at += Duration::from_nanos(whole_ns as u64);
    }
}
