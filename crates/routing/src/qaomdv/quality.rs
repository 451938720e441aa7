//! Decisions that depend on bandwidths and delays of paths.

use crate::aomdv::Path;
use crate::message::Quality;

/// Relative improvement by which a path must be better to replace another path.
const MARGIN: f64 = 0.1;

/// Number of consecutive hops in a chain whose transmissions hinder each other.
const CONTENDING_HOPS: u8 = 4;

/// Returns the usable bandwidth of a path of `hops` hops. Each of its nodes has `bandwidth` left, and its hops share
/// the channel (Guo, Liu and Lian 2010, Algorithm 1).
pub fn usable_bandwidth(bandwidth: f64, hops: u8) -> f64 {
    bandwidth / f64::from(hops.clamp(1, CONTENDING_HOPS))
}

/// Returns the bandwidth of the narrowest node on a path of `hops` hops that has `usable` bandwidth. The bandwidth is
/// the inverse of [`usable_bandwidth`].
pub fn node_bandwidth(usable: f64, hops: u8) -> f64 {
    usable * f64::from(hops.clamp(1, CONTENDING_HOPS))
}

/// Returns whether `new` is wider or faster than all `paths`. The function also returns true if there are no paths, or
/// if a quality is unknown.
pub fn improves(paths: &[Path], new: &Path) -> bool {
    let Some(offered) = new.quality else { return true };
    let known = || paths.iter().filter_map(|path| path.quality);
    if known().count() < paths.len() || paths.is_empty() {
        return true;
    }
    known().all(|q| offered.bandwidth > q.bandwidth) || known().all(|q| offered.delay < q.delay)
}

/// Returns the path that `new` replaces in a full list. The replaced path is the narrowest path that is neither the
/// widest nor the fastest. `new` must be wider or faster than it by a tenth, and disjoint with the other paths.
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
