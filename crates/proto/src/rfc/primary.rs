//! The scheduler that uses one path at a time, the primary path (RFC 9260 §6.4).

use crate::policy::{Assignment, Backlog, PathId, Policy, Scheduler, View};

/// Uses the primary path while it is active, and otherwise an active alternate path. The scheduler returns to the
/// primary path when this path is active again (RFC 9260 §6.4, §8.2).
#[derive(Copy, Clone, Debug, Default)]
pub struct PrimaryPath;

impl PrimaryPath {
    /// Returns the path that new data take at present. The alternate path is the next usable path after the primary.
    /// The choice of the alternate path therefore does not change while the states of paths stay.
    pub fn choose(view: &View<'_>) -> Option<PathId> {
        let usable = view.usable();
        if usable.contains(view.primary) {
            return Some(view.primary);
        }
        let after = |p: &PathId| *p >= view.primary;
        usable.iter().find(after).or_else(|| usable.iter().next())
    }
}

impl Policy for PrimaryPath {}

impl Scheduler for PrimaryPath {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let path = PrimaryPath::choose(view).filter(|p| view[*p].has_room())?;
        Some(fill(view, path, backlog))
    }
}

/// Assigns chunks of the next chunk's size to `path`, as many as its window has room for.
pub fn fill(view: &View<'_>, path: PathId, backlog: &Backlog) -> Assignment {
    let chunks = view[path].room().div_ceil(backlog.next_len.max(1));
    Assignment::on(path, u32::try_from(chunks).unwrap_or(u32::MAX))
}
