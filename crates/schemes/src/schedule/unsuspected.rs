//! Paths that new data may take while others are suspected of silence.

use strandcast_proto::policy::{PathSet, PathView, View};

use crate::estimate::{QUEUE, Verdict};

/// A live path with a longer queue is not free, seconds: jitter is no queue.
const FREE: f64 = 0.05;

/// The usable paths on which the verdict is [`Verdict::Live`], and deaf ones while none of these is free; all usable ones if
/// none of them is either.
pub(super) fn unsuspected<'a>(view: &View<'a>) -> impl Iterator<Item = &'a PathView> + use<'a> {
    let usable = view.usable();
    let (mut live, mut deaf, mut free) = (PathSet::default(), PathSet::default(), false);
    for path in view.paths.iter().filter(|p| usable.contains(p.id)) {
        match Verdict::of(path) {
            Verdict::Live => {
                live.insert(path.id);
                free |= is_free(path);
            }
            Verdict::Deaf => deaf.insert(path.id),
            _ => {}
        }
    }
    let heard = if free { live } else { live.iter().chain(deaf.iter()).collect() };
    let set = if heard.is_empty() { usable } else { heard };
    view.paths.iter().filter(move |p| set.contains(p.id))
}

/// Whether the path takes more without a queue to speak of.
fn is_free(path: &PathView) -> bool {
    path.has_room() && path.est.extra(QUEUE).unwrap_or(0.0) <= FREE
}
