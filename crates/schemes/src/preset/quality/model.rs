//! Differences between the schemes of this family.

use core::fmt::Debug;

use strandcast_proto::policy::{Estimate, LinkSample, LossCause, View};
use strandcast_proto::time::{Duration, Instant};

use crate::estimate::TransmissionRate;
use crate::schedule::Quota;

/// State of a path when its quality or the cause of a loss is computed.
#[derive(Copy, Clone, Debug)]
pub(in crate::preset) struct Measured<'a> {
    /// Current time.
    pub now: Instant,
    /// R_e, and the current interval.
    pub rate: &'a TransmissionRate,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// w of eq. 9.
    pub weight: f64,
}

/// Change of a window after a loss that fast retransmission found.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(in crate::preset) struct Reduction {
    /// Bandwidth in bytes per second. ssthresh must be at least the product of this bandwidth and the round-trip time.
    pub rate: f64,
    /// The effect on the window.
    pub window: After,
}

/// The window after a loss.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::preset) enum After {
    /// The window stays.
    Kept,
    /// The window becomes at most ssthresh.
    AtMost,
    /// The window becomes ssthresh.
    Threshold,
}

/// Model of the quality of paths and of the causes of losses.
pub(in crate::preset) trait QualityModel: Debug + Send {
    /// State of a path.
    type Path: Debug + Send;

    /// State of a new path.
    fn path(&self) -> Self::Path;

    /// Records that `bytes` of DATA left on the path. If a pause is longer than `longest`, the path is not its cause.
    fn sent(&self, _path: &mut Self::Path, _now: Instant, _bytes: u64, _longest: Duration) {}

    /// Processes a report of the path's link. If `far` is true, it is the link at the peer's end, and otherwise the
    /// link at this end.
    fn link(&self, _path: &mut Self::Path, _sample: &LinkSample, _far: bool, _longest: Duration) {}

    /// Records that an estimation interval of the path ended at `now`. R_e is in bytes per second.
    fn close(&self, path: &mut Self::Path, rate: f64, now: Instant);

    /// Begins a distribution period: computes the quality of the path.
    fn period(&self, _path: &mut Self::Path, _measured: &Measured<'_>) {}

    /// Returns the rate in bytes per second at which the path handles its window.
    fn handling_rate(&self, path: &Self::Path) -> Option<f64>;

    /// Returns the value by which paths are sorted. The highest value comes first.
    fn rank(&self, path: &Self::Path) -> f64;

    /// Returns the amount that the path may take in a period.
    fn quota(&self, path: &Self::Path) -> Quota;

    /// Returns the cause of a loss that was detected by missing packets.
    fn cause(&self, path: &Self::Path, measured: &Measured<'_>) -> LossCause;

    /// Returns the change of the window after a loss that was detected by missing packets.
    fn reduction(&self, path: &Self::Path, rate: f64, cause: LossCause) -> Reduction;

    /// Writes the model's estimates of the path. `index` is the position of its first extra estimate.
    fn estimate(&self, path: &Self::Path, index: usize, out: &mut Estimate);

    /// Adds the diagnostics of all `paths`.
    fn diagnostics<'a>(
        &self,
        _view: &View<'_>,
        _paths: impl Iterator<Item = &'a Self::Path>,
        _out: &mut Vec<&'static str>,
    ) where
        Self::Path: 'a,
    {
    }
}
