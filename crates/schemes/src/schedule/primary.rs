//! The primary path carries the data. While it fails, an alternate path does (RFC 9260 §6.4). This is
//! `rfc::PrimaryPath` of the core.

use strandcast_keys::keys;
use strandcast_proto::policy::Scheduler;
use strandcast_proto::rfc::PrimaryPath;

use crate::part::{Paths, SchedulerPart};

keys! {
    /// [`PrimaryPath`] has no keys.
    pub struct PrimaryConfig {}
}

impl SchedulerPart for PrimaryConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(PrimaryPath)
    }

    fn paths(&self) -> Paths {
        Paths::Primary
    }
}
