//! Time as an argument of calls, in nanoseconds since an origin that the driver chooses.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
pub use core::time::Duration;

/// A point in time, in nanoseconds since the driver's origin, for example the start of the simulation or of the
/// process.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The origin of the driver's time.
    pub const ZERO: Instant = Instant(0);
    /// A time later than every event, for a deadline that is not set.
    pub const MAX: Instant = Instant(u64::MAX);

    /// Returns the instant `ns` nanoseconds after the origin.
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        Instant(ns)
    }

    /// Returns the instant `ms` milliseconds after the origin.
    #[inline]
    pub const fn from_millis(ms: u64) -> Self {
        Instant(ms * 1_000_000)
    }

    /// Returns the instant `s` seconds after the origin. Negative and non-finite values give the origin.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Self {
        Instant((s * 1e9) as u64)
    }

    /// Returns the nanoseconds since the origin.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the origin.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time since `earlier`; zero if `earlier` is later than this instant.
    #[inline]
    pub fn saturating_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Returns the duration `d` in nanoseconds. The result saturates after 584 years.
#[inline]
fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(nanos(d)))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, d: Duration) -> Instant {
        Instant(self.0.saturating_sub(nanos(d)))
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}s", self.as_secs_f64())
    }
}
