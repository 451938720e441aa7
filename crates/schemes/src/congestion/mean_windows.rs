//! Mean windows, updated once per round trip of a path. Coupled windows compare paths by their mean windows if the
//! current windows vary too much.

use strandcast_proto::policy::{PathId, PathState, Signal, View};
use strandcast_proto::time::Instant;

use super::Coupled;

/// Weight of a round trip in the mean.
const GAIN: f64 = 1.0 / 8.0;

/// The mean window of each path. If no round trip of a path has finished, its current window counts.
#[derive(Clone, Debug)]
pub(super) struct MeanWindows {
    gain: f64,
    /// Means by path slot. `None` until data are acknowledged on the path.
    paths: Vec<Option<Mean>>,
}

#[derive(Clone, Debug)]
struct Mean {
    /// Mean window in bytes.
    window: f64,
    /// Beginning of the round trip.
    since: Instant,
}

impl Default for MeanWindows {
    fn default() -> Self {
        MeanWindows::new(GAIN)
    }
}

impl MeanWindows {
    /// Makes the means. `gain` is the weight of a round trip.
    pub fn new(gain: f64) -> Self {
        MeanWindows { gain, paths: Vec::new() }
    }

    /// Returns whether `signal` ended a round trip of its path.
    pub fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) -> bool {
        match signal {
            Signal::Acked(ack) => self.on_acked(view, ack.path),
            Signal::PathChanged(path) => {
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed)
                    && let Some(slot) = self.paths.get_mut(path.index())
                {
                    *slot = None;
                }
                false
            }
            _ => false,
        }
    }

    fn on_acked(&mut self, view: &View<'_>, path: PathId) -> bool {
        let Some(seen) = view.paths.get(path.index()) else { return false };
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        let window = seen.limit.cwnd as f64;
        let mean = self.paths[path.index()].get_or_insert(Mean { window, since: view.now });
        let ended = seen.srtt.is_some_and(|rtt| view.now.saturating_since(mean.since) >= rtt);
        if ended {
            mean.window += self.gain * (window - mean.window);
            mean.since = view.now;
        }
        ended
    }

    /// The mean window of a path, bytes.
    pub fn window(&self, path: &Coupled) -> f64 {
        let mean = self.paths.get(path.path.index()).and_then(Option::as_ref);
        mean.map_or(path.cwnd, |mean| mean.window)
    }

    /// Returns max x / Σ x over all paths that count. x is the mean window divided by the round-trip time. For a path
    /// that is alone, the result is 1.
    pub fn share(&self, view: &View<'_>, path: PathId) -> f64 {
        if Coupled::of(view, path).is_none() {
            return 1.0;
        }
        let (mut best, mut sum) = (0.0, 0.0);
        for one in Coupled::all(view) {
            let rate = self.window(&one) / one.rtt;
            best = f64::max(best, rate);
            sum += rate;
        }
        if sum > 0.0 { best / sum } else { 1.0 }
    }
}
