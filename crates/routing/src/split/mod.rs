//! Distribution of a source's datagrams over several paths.

mod choice;
mod classifier;
mod scheduler;

pub use choice::{Choice, Criterion};
pub(crate) use scheduler::Scheduler;
