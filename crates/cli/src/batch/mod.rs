//! Runs of a scenario, as many as wanted: what `strandcast simulate` and the Python package share.

mod choose;
mod runner;
mod trace;

pub use choose::{Unclear, is_of_scheme, mark_compared, split};
pub use runner::{Batch, Finished, Job, LAST_SEED, RunError, SeriesTo, Waiting, jobs};
