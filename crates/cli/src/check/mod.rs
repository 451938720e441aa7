//! `strandcast check`: what a scenario's network is like, before it is run.

mod cost;
mod facts;
mod mean;
mod report;
mod run;
mod share;
mod warn;

pub(crate) use run::run;
