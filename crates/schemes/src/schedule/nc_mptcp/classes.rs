//! Classes of paths: paths that carry coded packets, and paths that carry originals.
//!
//! The path with the lowest EDT carries originals. A path carries coded packets if its EDT is more than twice as high,
//! or if its loss share is more than two points higher. If there is no such path, the path with the highest EDT carries
//! them. Paths are compared at an interval that is a multiple of the longest round-trip time. A path changes its class
//! once several consecutive comparisons agree. The first comparison is made after one interval. Until then, all paths
//! carry originals.

use strandcast_proto::policy::{PathId, PathState, View};
use strandcast_proto::time::Instant;

use super::{Expectation, expected};

/// Ratio of a path's EDT to the lowest EDT. If the ratio is higher, the path carries coded packets.
const SLOWER: f64 = 2.0;
/// Difference between a path's loss rate and that of the path with the lowest EDT. If the difference is larger, the
/// path carries coded packets.
const LOSSIER: f64 = 0.02;

/// Class of each path.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// Number of round trips between two comparisons.
    every: u32,
    /// Number of consecutive comparisons that must agree.
    hold: u32,
    /// Classes by path slot.
    paths: Vec<Class>,
    /// Time of the next comparison.
    due: Option<Instant>,
}

/// Class of a path.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
struct Class {
    coded: bool,
    /// Number of consecutive comparisons whose result differs from the class.
    otherwise: u32,
}

impl Classes {
    pub fn new(every: u32, hold: u32) -> Self {
        Classes { every, hold, paths: Vec::new(), due: None }
    }

    /// Returns whether the usable `path` carries originals. A path carries originals if its class carries originals. If
    /// all usable paths belong to the other class, the path with the lowest EDT carries originals.
    pub fn regular(&self, view: &View<'_>, path: PathId) -> bool {
        if !self.coded(path) {
            return true;
        }
        let usable = || view.usable_paths();
        let edt = |p: &&_| Expectation::of(p).edt;
        let best = usable().min_by(|a, b| edt(a).total_cmp(&edt(b)));
        usable().all(|p| self.coded(p.id)) && best.is_some_and(|best| best.id == path)
    }

    fn coded(&self, path: PathId) -> bool {
        self.paths.get(path.index()).is_some_and(|class| class.coded)
    }

    /// Compares all paths if the interval is over.
    pub fn look(&mut self, view: &View<'_>) {
        let Some(rtt) = view.usable_paths().filter_map(|p| p.srtt).max() else { return };
        let next = view.now + rtt * self.every;
        if *self.due.get_or_insert(next) > view.now {
            return;
        }
        self.due = Some(next);
        let paths = expected(view);
        let by_edt = |a: &&(PathId, Expectation), b: &&(PathId, Expectation)| {
            a.1.edt.total_cmp(&b.1.edt).then(a.0.cmp(&b.0))
        };
        let (Some(best), Some(worst)) = (paths.iter().min_by(by_edt), paths.iter().max_by(by_edt)) else {
            return;
        };
        let poor = |of: &Expectation| of.edt > SLOWER * best.1.edt || of.loss > best.1.loss + LOSSIER;
        let any = paths.iter().any(|(_, of)| poor(of));
        for (path, of) in &paths {
            let coded = poor(of) || (!any && paths.len() > 1 && *path == worst.0);
            self.says(*path, coded);
        }
    }

    /// Records the result of a comparison. `coded` is true if `path` should carry coded packets.
    fn says(&mut self, path: PathId, coded: bool) {
        if self.paths.len() <= path.index() {
            self.paths.resize(path.index() + 1, Class::default());
        }
        let class = &mut self.paths[path.index()];
        class.otherwise = if class.coded == coded { 0 } else { class.otherwise + 1 };
        if class.otherwise >= self.hold {
            *class = Class { coded, otherwise: 0 };
        }
    }

    /// Drops the state of a path that was closed.
    pub fn changed(&mut self, view: &View<'_>, path: PathId) {
        let closed = view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed);
        if let Some(class) = self.paths.get_mut(path.index()).filter(|_| closed) {
            *class = Class::default();
        }
    }
}
