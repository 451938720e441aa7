//! How a source divides datagrams among paths.

mod choice;
mod classifier;
mod scheduler;

pub use choice::{Choice, Criterion};
pub(crate) use scheduler::Scheduler;
