//! Due times of the packets of a file, from the file's own clock (PCR). Between two references, due times are
//! interpolated linearly over the bytes.

mod governor;
mod pacer;
#[cfg(test)]
mod tests;

pub(crate) use governor::Governor;
pub use pacer::{PaceClock, PaceConfig, PaceError, Paced, PcrPacer};
