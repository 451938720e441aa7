//! The fastest path comes first, as in MPTCP's default scheduler.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Assignment, Backlog, Policy, Scheduler, View};
use strandcast_proto::time::Duration;

use super::blocking::BlockingConfig;
use crate::part::SchedulerPart;

keys! {
    /// Keys of [`LowestRtt`].
    pub struct LowestRttConfig {
        and blocking: BlockingConfig,
    }
}

impl SchedulerPart for LowestRttConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(LowestRtt)
    }

    fn tune(&self, config: &mut TransportConfig) {
        self.blocking.tune(config);
    }
}

/// Scheduler that takes a usable path with room. The path is the one with the lowest smoothed round-trip time. Paths
/// without a sample rank last. If paths are equal, the one with the lowest id is taken. The choice is made again for
/// each packet, so that data return to the fast path as soon as it has room.
#[derive(Copy, Clone, Debug, Default)]
pub struct LowestRtt;

impl Policy for LowestRtt {}

impl Scheduler for LowestRtt {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let with_room = view.usable_paths().filter(|p| p.has_room());
        let path = with_room.min_by_key(|p| (p.srtt.unwrap_or(Duration::MAX), p.id))?;
        Some(Assignment::on(path.id, 1))
    }
}
