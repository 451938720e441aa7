//! What happens to the time from sending to playing.

use core::time::Duration;

/// Why the stream is played later than the latency asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShiftCause {
    /// The shortest way has become longer, as when a path with a short delay is gone.
    LongerWay,
    /// For 10 s, or for the latency if that is longer, everything came too late.
    Congestion,
}

impl core::fmt::Display for ShiftCause {
    /// As in lines for people.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ShiftCause::LongerWay => "the way has become longer",
            ShiftCause::Congestion => "everything came too late",
        })
    }
}

/// A change of the clock by which a stream is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockChange {
    /// The sender's clock jumped, back (or stood still) or ahead; playing is not moved by it.
    Jumped {
        /// Back, not ahead.
        back: bool,
        /// How far.
        by: Duration,
    },
    /// Messages are played later than before: at once, or slowly if none of them is late.
    Shifted {
        /// By so much.
        by: Duration,
        /// All that playing is shifted by now, this included.
        total: Duration,
        /// Why.
        cause: ShiftCause,
    },
    /// What playing was shifted by has come back: the latency is as asked for.
    Returned,
}
