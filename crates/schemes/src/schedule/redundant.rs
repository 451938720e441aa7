//! Every chunk on several paths at once: what one path loses or delays, another brings.

use strandcast_proto::policy::{Assignment, Backlog, PathView, Policy, Scheduler, View};
use strandcast_proto::time::Duration;

/// One chunk on all usable paths with room, lowest round-trip time first, on `copies` of them at most. A path without
/// room is left out, not waited for: the slowest path must not set the pace.
#[derive(Copy, Clone, Debug)]
pub struct Redundant {
    copies: usize,
}

impl Redundant {
    /// At most `copies` paths a chunk, at least one.
    pub fn new(copies: usize) -> Self {
        Redundant { copies: copies.max(1) }
    }
}

impl Policy for Redundant {}

impl Scheduler for Redundant {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let mut paths: Vec<&PathView> = view.usable_paths().filter(|p| p.has_room()).collect();
        paths.sort_by_key(|p| (p.srtt.unwrap_or(Duration::MAX), p.id));
        let paths: smallvec::SmallVec<_> = paths.iter().take(self.copies).map(|p| p.id).collect();
        (!paths.is_empty()).then_some(Assignment { paths, chunks: 1 })
    }
}
