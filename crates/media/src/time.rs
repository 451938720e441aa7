//! Time as an argument.

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// A point in time: nanoseconds since an origin that the caller chooses.
///
/// The crate compares and subtracts only points of the same clock. The exception is [`playout`](crate::playout), which
/// relates the sender's clock to the receiver's. The crate does not use the time type of the transport, so that it
/// depends on no transport. The time types of both crates count nanoseconds in a `u64`, and
/// `MediaTime::from_nanos(instant.as_nanos())` converts between them.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MediaTime(u64);

impl MediaTime {
    /// The origin.
    pub const ZERO: MediaTime = MediaTime(0);
    /// Later than every other point.
    pub const MAX: MediaTime = MediaTime(u64::MAX);

    /// The point `ns` nanoseconds after the origin.
    pub const fn from_nanos(ns: u64) -> Self {
        MediaTime(ns)
    }

    /// The point `us` microseconds after the origin; saturates after 584 years.
    pub const fn from_micros(us: u64) -> Self {
        MediaTime(us.saturating_mul(1_000))
    }

    /// The point `ms` milliseconds after the origin; saturates after 584 years.
    pub const fn from_millis(ms: u64) -> Self {
        MediaTime(ms.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds since the origin.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Time since `earlier`; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: MediaTime) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// `d` in nanoseconds, saturating after 584 years.
pub(crate) fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for MediaTime {
    type Output = MediaTime;
    fn add(self, d: Duration) -> MediaTime {
        MediaTime(self.0.saturating_add(nanos(d)))
    }
}

impl Sub<MediaTime> for MediaTime {
    type Output = Duration;
    fn sub(self, earlier: MediaTime) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Debug for MediaTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
