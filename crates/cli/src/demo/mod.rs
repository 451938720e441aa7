//! `strandcast demo`: sender, receiver and three emulated links in one process.

mod run;
mod setup;
mod verdict;

pub(crate) use run::run;
