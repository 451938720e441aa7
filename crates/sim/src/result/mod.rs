//! Results: meters for flows and links, runs summed up, files.

mod histogram;
pub mod meter;
mod model;
mod names;

pub use histogram::Histogram;
pub use model::{Metric, RunResult, Subject, jain};
pub use names::{Across, DEFINITIONS, Definition, definition};
