//! Every chunk is sent on several paths at once. If one path loses or delays the chunk, another path delivers it.

use smallvec::SmallVec;

use strandcast_keys::keys;
use strandcast_proto::policy::{Assignment, Backlog, PathView, Policy, Scheduler, View};
use strandcast_proto::time::Duration;

use crate::part::SchedulerPart;

keys! {
    /// The keys of [`Redundant`].
    pub struct RedundantConfig {
        /// paths a chunk is sent on at most
        copies: usize [1, 16] = 16,
    }
}

impl SchedulerPart for RedundantConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Redundant::new(self.copies))
    }
}

/// Scheduler that sends each chunk on all usable paths, up to `copies` paths. Paths with room come first, then paths
/// with the lowest round-trip time. The scheduler does not wait for a path without room, because the slowest path must
/// not determine the rate. Such a path gets its copy later, unless the chunk has arrived by then.
#[derive(Copy, Clone, Debug)]
pub struct Redundant {
    copies: usize,
}

impl Redundant {
    /// Makes a scheduler that uses at least one path and at most `copies` paths per chunk.
    pub fn new(copies: usize) -> Self {
        Redundant { copies: copies.max(1) }
    }
}

impl Policy for Redundant {}

impl Scheduler for Redundant {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let mut paths: SmallVec<[&PathView; 8]> = view.usable_paths().collect();
        paths.sort_by_key(|p| (!p.has_room(), p.srtt.unwrap_or(Duration::MAX), p.id));
        paths.first().filter(|p| p.has_room())?;
        let paths = paths.iter().take(self.copies).map(|p| p.id).collect();
        Some(Assignment { paths, chunks: 1, ..Assignment::default() })
    }
}
