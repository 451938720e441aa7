//! Warnings about values that a scenario can have but probably should not have.

use core::fmt;

use strandcast_keys::text::printable;

use super::error::ScenarioError;
use super::units::Quantity;

/// A number that is probably a mistake: `FILE:LINE: KEY: why; how to correct it`. It is in a scenario file, in an
/// argument that changes the file, or in a trace to which the file refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Position as in [`ScenarioError`]. The message describes the improbable value and suggests another one.
    pub at: ScenarioError,
}

impl Warning {
    /// `FILE:LINE: KEY`. For an argument, the `--set` argument and the key.
    pub fn place(&self) -> String {
        self.at.place()
    }

    /// Reason of the warning, and how to correct it.
    pub fn message(&self) -> String {
        printable(&self.at.message).into_owned()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

/// Rate in bit/s. A lower rate without a unit was probably meant in Mbit/s.
pub(super) const MIN_RATE: f64 = 1e3;
/// Delay of a link in seconds. A longer delay was probably meant in ms. A geostationary satellite has 0.3 s.
pub(super) const LONG_DELAY: f64 = 2.0;
/// Number of packets. A higher limit of a queue was probably meant in bytes. 1 Gbit/s and 100 ms are 8333 packets of
/// 1500 bytes.
const LONG_QUEUE: f64 = 10_000.0;

/// Bounds in seconds. A longer time without a unit was probably meant in ms.
#[derive(Clone, Copy)]
pub(super) enum Longest {
    /// Delays of packets.
    Delay,
    /// Times of at most a minute.
    Minute,
    /// Times of at most ten minutes.
    TenMinutes,
    /// Times of at most an hour.
    Hour,
    /// The length of a run, and times within a run.
    Day,
}

impl Longest {
    const fn seconds(self) -> f64 {
        match self {
            Longest::Delay => LONG_DELAY,
            Longest::Minute => 60.0,
            Longest::TenMinutes => 600.0,
            Longest::Hour => 3600.0,
            Longest::Day => 86_400.0,
        }
    }
}

/// Returns a warning about `n`, a number without a unit. Returns `None` if the number is plausible.
pub(super) fn warn_if_unlikely(longest: Longest, quantity: Quantity, n: f64) -> Option<String> {
    let (means, rather) = match quantity {
        Quantity::Rate if n > 0.0 && n < MIN_RATE => (format!("{n} bit/s"), format!("{n} Mbit/s")),
        Quantity::Time if n > longest.seconds() => (format!("{n} s"), format!("{n} ms")),
        Quantity::Packets if n > LONG_QUEUE => (format!("{n} packets"), format!("{n} B")),
        _ => return None,
    };
    Some(format!(
        "{n} without a unit is \"{means}\"; if \"{rather}\" is meant, write that, else write \"{means}\""
    ))
}
