//! `strandcast check`: analysis of a scenario's network before a run.

mod coding;
mod cost;
mod facts;
mod losses;
mod mean;
mod pftk;
mod report;
mod run;
mod share;
#[cfg(test)]
mod tests;
mod warn;

pub use report::{Check, check};
pub(crate) use run::run;
pub use warn::Warning;
