//! Additional room on the other paths after a path has fallen silent. The room is for the data that were in flight on
//! the silent path (`estimate::Silence`). A stream that is smaller than the paths never filled the windows of the other
//! paths. These windows would therefore admit the additional data only over several round trips.
//!
//! Half of the data is divided among the paths whose queue is short. A path takes its part only while its first slow
//! start continues. Later its capacity is known, and more data would cause a queue there. The limit of a path rises by
//! its part for two round trips. The part is sent over a time of [`SPREAD`]. A loss by congestion ends the rise at
//! once. The window itself does not change. The paths have room for only half of the data. Room for all data led to
//! queues in which other messages became late.

use strandcast_proto::policy::{PathView, View};
use strandcast_proto::time::{Duration, Instant};

use super::QueueAware;
use crate::estimate::Verdict;

/// Time over which the lost data are sent again. The data of a fifth of a second are then not sent as a burst.
const SPREAD: Duration = Duration::from_millis(50);
/// Queueing delay in seconds above which a path takes no part. Shorter delays may be jitter.
const SHORT: f64 = 0.05;

/// Number of bytes that a path may have in flight beyond its window for a while.
#[derive(Debug)]
pub(super) struct Reserve {
    /// Limit of the reserve in bytes: the former window plus the path's part of the lost data.
    pub limit: u64,
    /// The path's part of the lost data in bytes.
    part: u64,
    /// Time at which the reserve ends.
    pub until: Instant,
}

impl Reserve {
    /// Makes a reserve for `path` without any part. The window of the path is `cwnd` bytes.
    pub fn new(now: Instant, path: &PathView, cwnd: u64) -> Self {
        Reserve { limit: cwnd, part: 0, until: now + 2 * path.srtt.unwrap_or_default() }
    }

    pub fn grow(&mut self, bytes: u64) {
        self.limit += bytes;
        self.part += bytes;
    }

    /// Rate of the reserve alone, in bytes per second.
    pub fn pace(&self) -> f64 {
        self.part as f64 / SPREAD.as_secs_f64()
    }
}

/// Returns whether `path` may take data that another path lost.
fn takes(path: &PathView) -> bool {
    Verdict::of(path) == Verdict::Live && path.est.queue.is_some_and(|queue| queue <= SHORT)
}

/// Number of paths that share the data that a silent path lost.
fn sharers(view: &View<'_>) -> u64 {
    view.usable_paths().filter(|p| takes(p)).count() as u64
}

impl QueueAware {
    /// Records that `bytes` in flight on a silent path were lost. The other paths may send as many of these bytes as
    /// they can.
    pub(super) fn on_silent(&mut self, view: &View<'_>, bytes: u64) {
        let part = bytes.div_ceil(2 * sharers(view).max(1));
        for (slot, seen) in self.paths.iter_mut().zip(view.paths) {
            if let Some(slot) = slot
                && slot.start.is_some()
                && takes(seen)
            {
                slot.stand_in(view.now, seen, part);
            }
        }
    }
}
