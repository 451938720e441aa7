//! Changes of the time from sending to playing.

use core::time::Duration;

/// Reason why the stream is played later than the configured latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShiftCause {
    /// The minimum delay has increased, for example because a path with a short delay has failed.
    LongerDelay,
    /// The truncation is intended: a message carries only the lower 32 bits.
    Congestion,
}

impl core::fmt::Display for ShiftCause {
    /// Writes the text of user-facing lines.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ShiftCause::LongerDelay => "the path delay has increased",
            ShiftCause::Congestion => "every message arrived late",
        })
    }
}

/// A change of the clock by which a stream is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockChange {
    /// The sender's clock jumped back (or stood still) or ahead; playout does not move.
    Jumped {
        /// True if the clock jumped back, false if it jumped ahead.
        back: bool,
        /// Size of the jump.
        by: Duration,
    },
    /// Messages are played later than before: at once, or gradually if none of them is late.
    Shifted {
        /// The amount.
        by: Duration,
        /// The total shift, including this one.
        total: Duration,
        /// The cause.
        cause: ShiftCause,
    },
    /// The shift is gone: the latency is as configured.
    Returned,
}
