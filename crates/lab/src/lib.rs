//! The lab: scenario files, the simulations they describe, and their results. It turns what a file says into a network of
//! the simulator, runs it, and measures it; schemes are handed in.
#![forbid(unsafe_code)]

#[cfg(feature = "tables")]
pub mod batch;
pub mod check;
pub mod explain;
pub mod result;
pub mod scenario;
pub mod simulation;

/// Counts the changes of results: two results of one scenario, scheme and seed are the same only if both come from the
/// same epoch. It rises when the fingerprint or the metrics of a golden run move (`tests/golden.rs` sees to it,
/// `tests/epochs.txt` keeps count), and when other runs give something else.
pub const RESULTS_EPOCH: u32 = 10;
