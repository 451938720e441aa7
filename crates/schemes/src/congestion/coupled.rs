//! State of other paths that coupled windows read.

use strandcast_proto::policy::{PathId, PathState, PathView, View};

/// A path that counts in the sums of coupled windows. It is active and has a round-trip time.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Coupled {
    /// Id of the path.
    pub path: PathId,
    /// Window of the path, bytes.
    pub cwnd: f64,
    /// Smoothed round-trip time, seconds, at least a microsecond.
    pub rtt: f64,
}

impl Coupled {
    fn new(path: &PathView) -> Option<Self> {
        let rtt = path.srtt.filter(|_| path.state == PathState::Active)?.as_secs_f64();
        Some(Coupled { path: path.id, cwnd: path.limit.cwnd as f64, rtt: rtt.max(1e-6) })
    }

    /// Returns all paths that count. The path with the lowest id comes first.
    pub fn all(view: &View<'_>) -> impl Iterator<Item = Coupled> + Clone {
        view.paths.iter().filter_map(Coupled::new)
    }

    /// Returns `path` if it counts.
    pub fn of(view: &View<'_>, path: PathId) -> Option<Self> {
        view.paths.get(path.index()).and_then(Coupled::new)
    }

    /// The rate x of most papers: window divided by round-trip time, in bytes per second.
    pub fn rate(&self) -> f64 {
        self.cwnd / self.rtt
    }
}

/// Returns whether `path` was closed. The caller must then drop the state of the path, because another path may take
/// its slot.
pub(super) fn closed(view: &View<'_>, path: PathId) -> bool {
    view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed)
}
