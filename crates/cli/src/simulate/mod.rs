//! `strandcast simulate`: runs of a scenario.

mod output;
mod packets;
mod progress;
mod run;

pub(crate) use output::COPY;
pub(crate) use run::run;
