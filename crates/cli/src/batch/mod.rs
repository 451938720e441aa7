//! Runs of a scenario, as many as wanted: what `strandcast simulate` and the Python package share.

mod choose;
mod error;
mod hooks;
mod runner;
mod trace;

pub use choose::{Unclear, is_of_scheme, mark_compared, split};
pub use error::RunError;
pub use hooks::RunHooks;
pub use runner::{Batch, Finished, Job, LAST_SEED, SeriesTo, Waiting, jobs};
