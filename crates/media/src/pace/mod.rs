//! Due times of a file's packets from its own clock, the PCR, with linear interpolation over the bytes between
//! references.

mod pacer;
#[cfg(test)]
mod tests;

pub use pacer::{PaceConfig, PaceError, Paced, PcrPacer};
