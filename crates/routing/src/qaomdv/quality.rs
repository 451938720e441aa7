//! What bandwidths and delays decide.

use crate::aomdv::Path;
use crate::message::Quality;

/// By how much a path has to be better to take another's place.
const MARGIN: f64 = 0.1;

/// Transmissions that hinder each other on a chain of hops.
const CONTENDING_HOPS: u8 = 4;

/// What a path of `hops` can carry if its nodes have `bandwidth` left: its hops share the channel (Guo, Liu and Lian 2010,
/// Algorithm 1).
pub fn usable_bandwidth(bandwidth: f64, hops: u8) -> f64 {
    bandwidth / f64::from(hops.clamp(1, CONTENDING_HOPS))
}

/// Which path of a full list `new` replaces: the narrowest of those that are neither the widest nor the fastest, provided that
/// `new` is wider or faster by a tenth and disjoint with the others.
pub fn replaceable(paths: &[Path], new: &Path) -> Option<usize> {
    let quality = |path: &Path| path.quality;
    let offered = quality(new)?;
    let all: Vec<Quality> = paths.iter().filter_map(quality).collect();
    if all.len() < paths.len() {
        return None;
    }
    let widest = all.iter().map(|q| q.bandwidth).fold(0.0, f64::max);
    let fastest = all.iter().map(|q| q.delay).min()?;
    let better = |than: &Quality| {
        offered.bandwidth > than.bandwidth * (1.0 + MARGIN)
            || offered.delay.as_secs_f64() < than.delay.as_secs_f64() * (1.0 - MARGIN)
    };
    let disjoint =
        |without: usize| paths.iter().enumerate().all(|(at, path)| at == without || !path.overlaps(new));
    let ordinary = |at: &usize| all[*at].bandwidth < widest && all[*at].delay > fastest;
    let candidates = (0..paths.len()).filter(ordinary).filter(|at| better(&all[*at]) && disjoint(*at));
    candidates.min_by(|a, b| all[*a].bandwidth.total_cmp(&all[*b].bandwidth))
}
