//! Shows a running stream, and writes its statistics.

mod gone;
mod keys;
mod line;
mod many;
mod metrics;
mod monitor;
mod options;
mod schema;
mod screen;
mod stats;
mod table;

pub(crate) use gone::Gone;
pub(crate) use line::object;
pub(crate) use many::Many;
pub(crate) use metrics::{Metrics, exposition};
pub(crate) use monitor::Monitor;
pub(crate) use schema::schema;
pub(crate) use stats::Stats;
#[cfg(test)]
pub(crate) use strandcast::live::parts::Sides;
pub(crate) use strandcast::live::{CodingNow, WireNow};
pub(crate) use strandcast::text::{bits_per_s, bytes, count, ms, percent, shifts};
