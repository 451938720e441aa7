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
#[cfg(test)]
pub(crate) use strandcast::live::parts::Sides;
pub(crate) use strandcast::live::{CodingNow, WireNow};
pub(crate) use strandcast::text::{bits_per_s, bytes, count, ms, percent, shifts};
