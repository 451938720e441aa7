//! `strandcast demo`: sender, receiver and three emulated links in one process.

mod run;
mod stage;
mod verdict;

pub(crate) use run::run;
