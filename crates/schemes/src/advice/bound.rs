//! Greatest rate at which no data are late, by Hall's theorem for fluids. Data that are captured between two times must
//! leave after the first time, and at most one latency after the second time.

use strandcast_proto::time::Duration;

/// The length of a bin.
pub const BIN: Duration = Duration::from_millis(200);
/// Number of bins that are kept: five seconds.
pub const BINS: usize = 25;
/// Number of bins for which the rates must have been lower, so that a fall counts as lasting: 0.8 s. A shorter fall is
/// a stall, which the bound includes.
const LATELY: usize = 4;
/// Tolerance for measured rates that are too low by chance, as a factor.
const CHANCE: f64 = 1.05;

/// Bytes that one path could have carried, by bin.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Bytes from the beginning of all bins to the end of each bin. No element of the array is less than the element
    /// before it.
    until: [f64; BINS + 1],
    /// Difference between the delay of this path and the delay of the quickest path, in bins.
    pub behind: f64,
}

impl Default for Carried {
    fn default() -> Self {
        Carried { until: [0.0; BINS + 1], behind: 0.0 }
    }
}

impl Carried {
    /// Appends a bin of `bytes` and drops the oldest bin.
    pub fn push(&mut self, bytes: f64) {
        let oldest = self.until[1];
        self.until.copy_within(1.., 0);
        self.until.iter_mut().for_each(|until| *until -= oldest);
        self.until[BINS] = self.until[BINS - 1] + bytes;
    }

    /// Bytes of all bins.
    pub fn sum(&self) -> f64 {
        self.until[BINS]
    }

    /// Bytes from the bin position `from` to the bin position `to`. A fraction of a bin contributes that fraction of
    /// its bytes.
    fn between(&self, from: usize, to: f64) -> f64 {
        if to <= from as f64 {
            return 0.0;
        }
        let (whole, part) = (to as usize, to - libm::floor(to));
        let next = self.until[(whole + 1).min(BINS)];
        self.until[whole] + part * (next - self.until[whole]) - self.until[from]
    }
}

/// Bytes per second that `paths` can carry with no data late, computed from their last `bins` bins. The bound is the
/// least of
///
/// * the bytes that the paths carried from s to t, divided by t − s − `slack`, for all s < t;
/// * their average rate;
/// * 1.05 times the greatest number of bytes that the paths carried in a bin of the last 0.8 s.
///
/// `slack` is the latency in seconds, less the time that acknowledgements need. A path may be slower than the quickest
/// path by d. Only data that leave on it before t − d then arrive before t.
pub fn bound<'a>(paths: impl Iterator<Item = &'a Carried> + Clone, bins: usize, slack: f64) -> f64 {
    let bin = BIN.as_secs_f64();
    let (bins, slack) = (bins.clamp(1, BINS), slack / bin);
    let carried = |from: usize, to: usize, behind: bool| -> f64 {
        let until = |path: &Carried| if behind { to as f64 - path.behind } else { to as f64 };
        paths.clone().map(|path| path.between(from, until(path))).sum()
    };
    let first = BINS - bins;
    let mut least = carried(first, BINS, false) / bins as f64;
    let lately = BINS - bins.min(LATELY)..BINS;
    least = least.min(CHANCE * lately.map(|at| carried(at, at + 1, false)).fold(0.0, f64::max));
    for from in first..BINS {
        // Shorter windows need no bytes, or give the same condition as a window with one more bin.
        let shortest = from + libm::ceil(slack + 0.5) as usize;
        for to in shortest.max(from + 1)..=BINS {
            least = least.min(carried(from, to, true) / ((to - from) as f64 - slack));
        }
    }
    least / bin
}
