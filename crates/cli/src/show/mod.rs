//! What people and machines see while a stream runs.

mod buffers;
mod happening;
mod monitor;
mod numbers;
mod outages;
mod remarks;
mod screen;
mod snapshot;
mod stats;
mod table;

pub(crate) use buffers::BuffersNow;
pub(crate) use happening::Happening;
pub(crate) use monitor::Monitor;
pub(crate) use numbers::{bits_per_s, bytes, count, duration, ms, outages, percent, shifts};
pub(crate) use outages::Outages;
pub(crate) use remarks::Remarks;
pub(crate) use snapshot::{MediaNow, PathNow, Role, Sampler, Seen};
pub(crate) use stats::Stats;
