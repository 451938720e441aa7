//! `strandcast simulate`: runs of a scenario.

mod choose;
mod output;
mod progress;
mod run;
pub(crate) mod runner;
mod trace;

pub(crate) use output::COPY;
pub(crate) use run::{compared, run};
