//! Two rates that an encoder may choose: the rate that all paths together carry in time, and the rate of all paths
//! except the path with the largest rate.
//!
//! | what | where |
//! |---|---|
//! | the rate of each path, by trains of its own packets and the peer's clock | [`PathRate`] |
//! | the greatest rate of which nothing is late, by what the paths carried in the last five seconds | [`bound`] |
//! | down at once, up slowly | [`Steady`] |
//! | all of it, as the part that answers `Policy::advice` | [`Encoder`] |
//! | trains, where the stream itself has none | `schedule::Trains` |

mod bound;
mod config;
mod encoder;
mod path_rate;
mod steady;
#[cfg(test)]
mod tests;

pub use bound::{BIN, BINS, Carried, bound};
pub use config::AdviceKeys;
pub use encoder::Encoder;
pub use path_rate::{BACK_TO_BACK, MIN_TRAIN, PathRate};
pub use steady::Steady;
