//! Settings of schedulers for chunks on slow paths that block a buffer.
//!
//! The mechanism is part of the core (`policy::HeadOfLine`; Raiciu et al., NSDI 2012, section 4.2), and works with any
//! scheduler. A scheduler whose source describes such a mechanism sets it in
//! [`SchedulerPart::tune`](crate::part::SchedulerPart::tune) before it calls [`BlockingConfig::tune`]. A scheduler
//! whose keys include [`BlockingConfig`] (`and blocking: BlockingConfig`) has the keys of this module.

use strandcast_keys::{keys, words};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::HeadOfLineConfig;

words! {
    /// Rules by which data that block a buffer on a slow path are also sent on a faster one.
    pub enum Remedy {
        /// The scheduler's own; if its source has none, those of the transport.
        Own = "own",
        /// `policy::Rules::Sooner`.
        Sooner = "sooner",
        /// `policy::Rules::Linux`, those of multipath-tcp.org v0.95.
        Linux = "linux",
        /// They are not.
        Off = "off",
    }
}

keys! {
    /// Keys of schedulers with several paths. One of these paths may block data of the others.
    #[derive(Copy)]
    pub struct BlockingConfig {
        /// rules by which data that block a buffer on a slow path are also sent on a faster one: the scheduler's or
        /// else the transport's, if a copy is sooner, as in multipath-tcp.org v0.95, or never
        head_of_line: Remedy = Remedy::Own,
        /// the window of a path that holds up a buffer is cut
        penalty: bool = true,
    }
}

impl BlockingConfig {
    /// Applies the keys to `config`. If the scheduler has rules of its own, `config` already contains them.
    pub fn tune(&self, config: &mut TransportConfig) {
        match self.head_of_line {
            Remedy::Own => {}
            Remedy::Sooner => config.head_of_line = Some(HeadOfLineConfig::SOONER),
            Remedy::Linux => config.head_of_line = Some(HeadOfLineConfig::LINUX),
            Remedy::Off => config.head_of_line = None,
        }
        if let Some(rules) = &mut config.head_of_line {
            rules.penalty &= self.penalty;
        }
    }
}
