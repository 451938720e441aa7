//! Single messages at a constant rate, and single messages at random times.

use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::law::exponential;
use super::pace::Pace;
use super::{Emission, Level, Source};

const BITS: f64 = 8.0;

/// Source of messages of constant size. Each message is sent when all its bits are due. The first message is sent as
/// soon as the rate is above 0. The n-th message after it is sent when the integral of the rate reaches n messages. At
/// a constant rate, the interval is 8·size/rate.
#[derive(Debug)]
pub struct Cbr {
    size: u32,
    pace: Pace,
    begun: bool,
}

impl Cbr {
    /// Creates a source of messages of `size` bytes (at least 1) at `rate_bps`. The source runs from `start` until
    /// before `stop`.
    pub fn new(size: u32, rate_bps: Box<dyn Level>, start: Instant, stop: Instant) -> Self {
        Cbr { size: size.max(1), pace: Pace::new(rate_bps, start, stop), begun: false }
    }
}

impl Source for Cbr {
    fn next(&mut self) -> Option<Emission> {
        let size = if core::mem::replace(&mut self.begun, true) { self.size } else { 0 };
        let at = self.pace.send(BITS * f64::from(size))?;
        Some(Emission { at, bytes: self.size, frame: None })
    }
}

/// Source of messages of constant size at exponential intervals (a Poisson process). The intensity of the process is
/// the rate, which may change, divided by the size of a message.
#[derive(Debug)]
pub struct Poisson {
    size: u32,
    pace: Pace,
    random: Random,
}

impl Poisson {
    /// Creates a source of messages of `size` bytes (at least 1) at the mean rate `rate_bps`. The source runs from
    /// `start` until before `stop`.
    pub fn new(size: u32, rate_bps: Box<dyn Level>, random: Random, start: Instant, stop: Instant) -> Self {
        Poisson { size: size.max(1), pace: Pace::new(rate_bps, start, stop), random }
    }
}

impl Source for Poisson {
    fn next(&mut self) -> Option<Emission> {
        let bits = BITS * f64::from(self.size) * exponential(&mut self.random);
        let at = self.pace.send(bits)?;
        Some(Emission { at, bytes: self.size, frame: None })
    }
}
