//! The numbered equations of the paper. Rates are in bytes per second, and times are in seconds.

use std::collections::VecDeque;

use strandcast_keys::keys;
use strandcast_proto::time::{Duration, Instant};

/// α of eq. 1: the weight of a new sample.
const ALPHA: f64 = 1.0 / 8.0;
/// RTO.Beta of RFC 9260 §16.
const BETA: f64 = 1.0 / 4.0;
/// Ξ and Φ of eq. 4: the weight of the new value.
const HALF: f64 = 0.5;
/// Number of packets that eq. 3 adds for a round in congestion avoidance. Eq. 4 halves this number, so that the rate
/// grows by one packet per round.
pub(super) const STEP: f64 = 2.0;
/// Half of the time for which [`Most`] keeps values.
const MEMORY: Duration = Duration::from_secs(5);

keys! {
    /// Constants that the paper leaves open.
    #[derive(Copy)]
    pub struct RateConfig {
        /// loss rate from which on a path is congested
        threshold as "thresh": f64 [0.0, 1.0] = 0.02,
        /// weight of a round in the loss rate
        loss_gain: f64 [0.01, 1.0] = 0.25,
        /// rates over which a rate is smoothed
        history as "kappa": usize [1, 64, "rates"] = 8,
    }
}

/// Round-trip time and RTO that a receiver derives from rounds.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct RoundTrip {
    smoothed: Option<f64>,
    variation: f64,
    least: f64,
}

impl RoundTrip {
    /// Adds a sample of the round-trip time in seconds (eq. 1): the time from a feedback message to the first packet of
    /// the round that this message begins.
    pub fn sample(&mut self, sample: f64) {
        match self.smoothed {
            None => {
                self.smoothed = Some(sample);
                (self.variation, self.least) = (sample / 2.0, sample);
            }
            Some(before) => {
                self.variation += BETA * ((before - sample).abs() - self.variation);
                self.smoothed = Some(before + ALPHA * (sample - before));
                self.least = self.least.min(sample);
            }
        }
    }

    /// Round-trip time. `None` before the first sample.
    pub fn rtt(&self) -> Option<f64> {
        self.smoothed
    }

    /// Least sample: RTT_min of eq. 9.
    pub fn least(&self) -> Option<f64> {
        self.smoothed.map(|_| self.least)
    }

    /// RTO of eq. 2, without the bounds of RFC 9260.
    pub fn rto(&self) -> Option<f64> {
        self.smoothed.map(|s| s + 4.0 * self.variation)
    }
}

/// Result of a round.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Round {
    /// N: number of packets received in one round trip. If a path carries only probes, N is the virtual window.
    pub packets: f64,
    /// L: mean size of the packets in bytes.
    pub packet_bytes: f64,
    /// RTT, above 0.
    pub rtt: f64,
    /// Number of packets that eq. 3 adds without congestion. Eq. 4 halves this number. The number is two in congestion
    /// avoidance, and the number of received packets in slow start. It is zero if the virtual window has already grown.
    pub growth: f64,
    /// True if the loss rate reached the threshold, or if no packet arrived before a timeout.
    pub congested: bool,
}

impl Round {
    /// Received rate: N·L/RTT.
    pub fn received(&self) -> f64 {
        self.packets * self.packet_bytes / self.rtt
    }

    /// Eq. 4: computes the rate after this round from the rate before it.
    pub fn rate(&self, before: f64) -> f64 {
        let new = if self.congested {
            // L/(N·RTT): the increase by one packet of N.
            if self.packets > 0.0 { self.packet_bytes / (self.packets * self.rtt) } else { 0.0 }
        } else {
            (self.packets + self.growth) * self.packet_bytes / self.rtt
        };
        HALF * before + (1.0 - HALF) * new
    }
}

/// Υ_s of eq. 8: weight of the s-th of κ rates. The newest rate has s = 1.
pub fn weight(s: usize, kappa: usize) -> f64 {
    let half = kappa as f64 / 2.0;
    if s as f64 <= half { 1.0 } else { 1.0 - (s as f64 - half) / (half + 1.0) }
}

/// The last κ rates and their weighted mean (eqs 5-8).
#[derive(Clone, PartialEq, Debug)]
pub struct Smoothed {
    kappa: usize,
    /// Rates, newest first.
    rates: VecDeque<f64>,
}

impl Smoothed {
    /// Makes a smoother over at most `kappa` rates, at least one.
    pub fn new(kappa: usize) -> Self {
        let kappa = kappa.max(1);
        Smoothed { kappa, rates: VecDeque::with_capacity(kappa) }
    }

    /// Adds a rate.
    pub fn push(&mut self, rate: f64) {
        self.rates.truncate(self.kappa - 1);
        self.rates.push_front(rate);
    }

    /// Drops all rates.
    pub fn clear(&mut self) {
        self.rates.clear();
    }

    /// Rate_e of eq. 5. `None` before the first rate.
    pub fn value(&self) -> Option<f64> {
        let weighted = self.rates.iter().zip(1..).map(|(rate, s)| (weight(s, self.kappa), rate));
        let (sum, weights) = weighted.fold((0.0, 0.0), |(sum, all), (w, rate)| (sum + w * rate, all + w));
        (weights > 0.0).then(|| sum / weights)
    }
}

/// The largest value that was added in the last 5 to 10 seconds.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Most {
    since: Option<Instant>,
    now: f64,
    before: f64,
}

impl Most {
    /// Adds a value that was measured at `now`.
    pub fn push(&mut self, now: Instant, value: f64) {
        let since = *self.since.get_or_insert(now);
        let age = now.saturating_since(since);
        if age >= MEMORY {
            self.before = if age >= 2 * MEMORY { 0.0 } else { self.now };
            (self.now, self.since) = (0.0, Some(now));
        }
        self.now = self.now.max(value);
    }

    /// Returns the largest value.
    pub fn get(&self) -> f64 {
        self.now.max(self.before)
    }
}
