//! A scenario at work: its network is built, run and measured.

mod build;
mod catalog;
mod endpoints;
mod ledger;
mod links;
mod meters;
mod plan;
mod run;
mod tcp;
mod values;
mod video;

pub use build::{BuildError, Simulation};
pub use catalog::{Catalog, SchemePlan};
pub use meters::{Meters, Recorder};
pub use run::{Control, RunOptions};
