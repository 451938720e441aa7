//! Due times of a file's packets from its own clock, the PCR, with linear interpolation over the bytes between
//! references.

mod governor;
mod pacer;
#[cfg(test)]
mod tests;

pub(crate) use governor::Governor;
pub use pacer::{PaceClock, PaceConfig, PaceError, Paced, PcrPacer};
