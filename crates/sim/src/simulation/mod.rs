//! A scenario at work: its network is built, run and measured.

mod build;
mod catalog;
mod cross;
mod endpoints;
mod ledger;
mod meters;
mod plan;
mod run;
mod tcp;

pub use build::{BuildError, Simulation};
pub use catalog::{Catalog, SchemePlan};
pub use meters::{Meters, Recorder};
pub use run::{Control, RunOptions};
