//! Discrete-event network simulator: an event engine, links with loss, and named networks of them. Time is an
//! argument and randomness comes from labelled seeds, so a run repeats bit for bit on any machine.
#![forbid(unsafe_code)]

pub mod flow;
pub mod host;
pub mod net;
pub mod result;
pub mod scenario;
pub mod simulation;
pub mod tcp;
pub mod traffic;

/// Counts the changes of results: two results of one scenario, scheme and seed are the same only if both come from the
/// same epoch. It rises when the fingerprint or the metrics of a golden run move (`tests/golden.rs` sees to it,
/// `tests/epochs.txt` keeps count), and when other runs give something else.
pub const RESULTS_EPOCH: u32 = 7;
