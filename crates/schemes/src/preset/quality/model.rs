//! Differences between the schemes of this family.

use core::fmt::Debug;

use strandcast_proto::policy::{Estimate, LinkSample, LossCause, View};
use strandcast_proto::time::{Duration, Instant};

use crate::estimate::TransmissionRate;
use crate::schedule::Quota;

/// State of a path when its worth or a loss is judged.
#[derive(Copy, Clone, Debug)]
pub(in crate::preset) struct Measured<'a> {
    /// The time.
    pub now: Instant,
    /// R_e and the interval that runs.
    pub rate: &'a TransmissionRate,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// w of eq. 9.
    pub weight: f64,
}

/// Change of a window by a loss found by fast retransmission.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(in crate::preset) struct Reduction {
    /// The bandwidth-delay product's bandwidth that ssthresh is at least worth, bytes per second.
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
    /// Ssthresh.
    Threshold,
}

/// Judges the worth of paths and the causes of losses.
pub(in crate::preset) trait QualityModel: Debug + Send {
    /// State of a path.
    type Path: Debug + Send;

    /// State of a new path.
    fn path(&self) -> Self::Path;

    /// `bytes` of DATA left on the path; a pause longer than `longest` is not caused by the path.
    fn sent(&self, _path: &mut Self::Path, _now: Instant, _bytes: u64, _longest: Duration) {}

    /// Takes a report of the path's link, at this end or (`far`) at the other one.
    fn link(&self, _path: &mut Self::Path, _sample: &LinkSample, _far: bool, _longest: Duration) {}

    /// An estimation interval of the path ended at `now`, with R_e in bytes per second.
    fn close(&self, path: &mut Self::Path, rate: f64, now: Instant);

    /// A distribution period begins: the path's worth is drawn up.
    fn period(&self, _path: &mut Self::Path, _measured: &Measured<'_>) {}

    /// The rate in bytes per second at which the path handles its window.
    fn handling_rate(&self, path: &Self::Path) -> Option<f64>;

    /// Value by which paths are sorted, highest first.
    fn rank(&self, path: &Self::Path) -> f64;

    /// Amount that the path may take in a period.
    fn quota(&self, path: &Self::Path) -> Quota;

    /// Cause of a loss that was found by missing packets.
    fn cause(&self, path: &Self::Path, measured: &Measured<'_>) -> LossCause;

    /// Change of the window by such a loss.
    fn reduction(&self, path: &Self::Path, rate: f64, cause: LossCause) -> Reduction;

    /// Writes the model's estimates of the path; its first extra is the one at `index`.
    fn estimate(&self, path: &Self::Path, index: usize, out: &mut Estimate);

    /// Says of all `paths` what people should know.
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
