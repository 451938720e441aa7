//! Common part of CMT-QA and CMT-CL: paths measured in estimation intervals, data distributed in periods by the
//! measured worth of the paths, windows cut by the cause of a loss. A [`QualityModel`] computes the worth of a path
//! and the cause of a loss.

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
