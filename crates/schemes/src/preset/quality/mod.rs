//! What CMT-QA and CMT-CL share: paths measured in estimation intervals, data distributed in periods by what the paths
//! were found to be worth, windows cut by the cause of a loss. What a path is worth, and why it lost something, a
//! [`QualityModel`] says.

mod config;
mod distribute;
mod driver;
mod model;
mod quality_path;
#[cfg(test)]
mod tests;
mod windows;

pub(super) use config::QualityKeys;
pub(super) use driver::{QualityAware, put};
pub(super) use model::{After, Measured, QualityModel, Reduction};
