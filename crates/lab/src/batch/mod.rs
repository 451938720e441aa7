//! Batches of runs of a scenario, shared by `strandcast simulate` and the Python package.

mod choose;
mod error;
mod runner;
mod trace;
mod until;

pub use choose::{AmbiguousFlow, is_of_scheme, mark_compared, split};
pub use error::RunError;
pub use runner::{Batch, Finished, Job, LAST_SEED, ProgressObserver, SeriesRoom, SeriesSink, jobs};
pub use trace::{PacketFile, Traces};
pub use until::{MOST_RUNS, Until};
