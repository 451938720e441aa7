//! Distribution of a source's datagrams over paths.

mod choice;
mod classifier;
mod scheduler;

pub use choice::{Choice, Criterion};
pub(crate) use scheduler::Scheduler;
