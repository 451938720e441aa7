//! Analysis of a scenario's network before a run.

mod coding;
mod cost;
mod facts;
mod losses;
mod mean;
mod pftk;
mod report;
mod share;
#[cfg(test)]
mod tests;
mod warn;

pub use report::{Check, check, warnings};
pub use warn::Warning;
