//! When a file's packets are due: its own clock, the PCR, between whose values time runs evenly over the bytes.

mod pacer;
#[cfg(test)]
mod tests;

pub use pacer::{PaceConfig, PaceError, Paced, PcrPacer};
