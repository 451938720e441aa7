//! Detection of paths that share a bottleneck, by their queueing delays. Packets of different paths wait equally long
//! if they wait in the same queue.
//!
//! At each loss with a long queue, the queueing delay of the path is compared with the delays of the other paths. If
//! two delays differ by at most an eighth or 2 ms, the pair of paths gets one point. If the two delays differ by more,
//! the pair loses two points. If a pair has at least [`COUPLED`] points, RFC 6356 couples the increases of its two
//! windows. If paths have different bottlenecks, their delays are equal only by chance.

use smallvec::SmallVec;

use strandcast_proto::policy::{PathId, PathSet, PathState, View};
use strandcast_proto::time::{Duration, Instant};

use super::Coupled;

/// Least number of points with which a pair counts as sharing a bottleneck.
const COUPLED: u8 = 4;
/// Greatest number of points of a pair.
const MOST: u8 = 8;
/// Greatest age of a queueing delay that is compared with a current one.
const FRESH: Duration = Duration::from_millis(200);

/// Pairs of paths with a shared bottleneck.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Latest queueing delay of each path in seconds, and its time.
    queues: Vec<Option<(Instant, f64)>>,
    /// Pairs of paths with their points. The path with the lower id comes first.
    pairs: SmallVec<[(PathId, PathId, u8); 4]>,
}

impl Shared {
    /// Records the queueing delay of `path` in seconds.
    pub fn seen(&mut self, now: Instant, path: PathId, queue: f64) {
        if self.queues.len() <= path.index() {
            self.queues.resize(path.index() + 1, None);
        }
        self.queues[path.index()] = Some((now, queue));
    }

    /// Drops the state of a closed path.
    pub fn forget(&mut self, path: PathId) {
        if let Some(queue) = self.queues.get_mut(path.index()) {
            *queue = None;
        }
        self.pairs.retain(|p| p.0 != path && p.1 != path);
    }

    /// Records a loss of `path` with a long queue.
    pub fn on_congestion(&mut self, view: &View<'_>, path: PathId) {
        let Some((_, own)) = self.queues.get(path.index()).copied().flatten() else { return };
        for other in view.paths.iter().filter(|p| p.id != path && p.state == PathState::Active) {
            let queue = self.queues.get(other.id.index()).copied().flatten();
            let fresh = queue.filter(|q| view.now.saturating_since(q.0) <= FRESH);
            let Some((_, queue)) = fresh else { continue };
            let alike = (queue - own).abs() <= (own / 8.0).max(0.002);
            let pair = (path.min(other.id), path.max(other.id));
            match self.pairs.iter_mut().find(|p| (p.0, p.1) == pair) {
                Some((.., points)) if alike => *points = (*points + 1).min(MOST),
                Some((.., points)) => *points = points.saturating_sub(2),
                None if alike => self.pairs.push((pair.0, pair.1, 1)),
                None => {}
            }
        }
    }

    /// Returns the paths that share a bottleneck with `path`, including `path`.
    fn group(&self, path: PathId) -> PathSet {
        let mut group = PathSet::one(path);
        for (a, b, points) in &self.pairs {
            if *points >= COUPLED && (*a == path || *b == path) {
                group.insert(*a);
                group.insert(*b);
            }
        }
        group
    }

    /// Returns the number of bytes by which the window of `path` grows once a whole window is acknowledged. The number
    /// of bytes is one `segment`, or the increase of RFC 6356 §3 for the paths that share the bottleneck.
    pub fn increase(&self, view: &View<'_>, path: PathId, segment: f64) -> f64 {
        let group = self.group(path);
        if group.len() < 2 {
            return segment;
        }
        let (mut total, mut best, mut rate) = (0.0, 0.0, 0.0);
        for member in Coupled::all(view).filter(|m| group.contains(m.path)) {
            total += member.cwnd;
            best = f64::max(best, member.cwnd / (member.rtt * member.rtt));
            rate += member.cwnd / member.rtt;
        }
        let cwnd = view[path].limit.cwnd as f64;
        if rate <= 0.0 {
            return segment;
        }
        // The increase alpha · acked · mss / tot of RFC 6356, if a whole window has been acknowledged.
        segment.min(total * best / (rate * rate) * cwnd * segment / total)
    }
}
