//! Paths that new data may take while other paths are suspected of being silent.

use strandcast_proto::policy::{PathSet, PathView, View};

use crate::estimate::Verdict;

/// Queueing delay in seconds. A live path with a longer delay is not free. Shorter delays may be jitter.
const FREE: f64 = 0.05;

/// Returns the usable paths with the verdict [`Verdict::Live`]. If no live path is free, deaf and returning paths are
/// added. If there is no path of these kinds, all usable paths are returned.
pub(super) fn unsuspected<'a>(view: &View<'a>) -> impl Iterator<Item = &'a PathView> + use<'a> {
    let set = chosen(view, view.usable());
    view.paths.iter().filter(move |p| set.contains(p.id))
}

fn chosen(view: &View<'_>, usable: PathSet) -> PathSet {
    let (mut live, mut needed) = (PathSet::default(), PathSet::default());
    for path in view.paths.iter().filter(|p| usable.contains(p.id)) {
        match Verdict::of(path) {
            Verdict::Live => live.insert(path.id),
            Verdict::Deaf | Verdict::Returning => needed.insert(path.id),
            _ => {}
        }
    }
    if live == usable || (live.is_empty() && needed.is_empty()) {
        return usable;
    }
    if view.paths.iter().any(|p| live.contains(p.id) && is_free(p)) {
        return live;
    }
    live.iter().chain(needed.iter()).collect()
}

/// Returns whether the path takes more data and has at most a short queue.
fn is_free(path: &PathView) -> bool {
    path.has_room() && path.est.queue.unwrap_or(0.0) <= FREE
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::Picture;

    use super::*;

    #[test]
    fn deaf_and_returning_paths_take_new_data_in_need_alone() {
        let some = |picture: &Picture| unsuspected(&picture.view()).map(|p| p.id.0).collect::<Vec<_>>();
        for (verdict, in_need) in
            [(Verdict::Deaf, vec![0, 1]), (Verdict::Returning, vec![0, 1]), (Verdict::Stalled, vec![0])]
        {
            let mut picture = Picture::new(2);
            picture.paths[0].limit.cwnd = 10 * picture.paths[0].mtu;
            verdict.write(&mut picture.paths[1].est);
            assert_eq!(some(&picture), [0], "{verdict:?}");
            picture.paths[0].est.queue = Some(2.0 * FREE);
            assert_eq!(some(&picture), in_need, "{verdict:?}");
        }
    }
}
