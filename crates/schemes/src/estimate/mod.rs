//! What schemes know of a path beyond the core's own measurements.

mod deviation;

pub use deviation::Deviation;
