//! Numbers with units, for interfaces between modules.

use core::fmt;
use core::time::Duration;

/// A data rate in bits per second.
#[derive(Copy, Clone, PartialEq, PartialOrd, Debug, Default)]
pub struct Rate(f64);

impl Rate {
    /// Returns the rate of `bps` bits per second. Negative numbers and NaN count as zero.
    #[inline]
    pub fn from_bps(bps: f64) -> Self {
        Rate(bps.max(0.0))
    }

    /// Returns the rate of `bytes` bytes per second.
    #[inline]
    pub fn from_bytes_per_s(bytes: f64) -> Self {
        Rate::from_bps(bytes * 8.0)
    }

    /// Returns the rate at which `bytes` bytes are carried in `time`; `None` if `time` is zero.
    #[inline]
    pub fn of(bytes: u64, time: Duration) -> Option<Self> {
        (!time.is_zero()).then(|| Rate::from_bytes_per_s(bytes as f64 / time.as_secs_f64()))
    }

    /// Returns the rate in bits per second.
    #[inline]
    pub fn bps(self) -> f64 {
        self.0
    }

    /// Returns the rate in bytes per second.
    #[inline]
    pub fn bytes_per_s(self) -> f64 {
        self.0 / 8.0
    }

    /// Returns the time that `bytes` bytes take at this rate; `None` at rate zero.
    #[inline]
    pub fn time_for(self, bytes: u64) -> Option<Duration> {
        let s = bytes as f64 * 8.0 / self.0;
        (s.is_finite() && s < 1e9).then(|| Duration::from_nanos((s * 1e9) as u64))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            r if r >= 1e9 => write!(f, "{:.2} Gbit/s", r / 1e9),
            r if r >= 1e6 => write!(f, "{:.2} Mbit/s", r / 1e6),
            r => write!(f, "{:.0} kbit/s", r / 1e3),
        }
    }
}
