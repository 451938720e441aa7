//! Shows a running stream, and writes its statistics.

mod many;
mod metrics;
mod monitor;
mod options;
mod screen;
mod stats;
mod table;

pub(crate) use many::Many;
pub(crate) use metrics::Metrics;
pub(crate) use monitor::Monitor;
pub(crate) use stats::Stats;
