//! The display and statistics of a running stream.

mod buffers;
mod coding;
mod diagnostics;
mod event;
mod monitor;
mod numbers;
mod outages;
mod screen;
mod snapshot;
mod stats;
mod table;
mod totals;
mod wire;

pub(crate) use buffers::BuffersNow;
pub(crate) use coding::{CodingNow, Sides, sum};
pub(crate) use diagnostics::Diagnostics;
pub(crate) use event::StreamEvent;
pub(crate) use monitor::Monitor;
pub(crate) use numbers::{bits_per_s, bytes, count, duration, ms, outages, percent, shifts};
pub(crate) use outages::Outages;
pub(crate) use snapshot::{GivenUpNow, MediaNow, PathCounters, PathNow, Role, Sampler, Snapshot};
pub(crate) use stats::Stats;
pub(crate) use wire::WireNow;
