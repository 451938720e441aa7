//! Common part of CMT-QA and CMT-CL. The common part measures paths in estimation intervals. In distribution periods,
//! it distributes data by the measured quality of the paths. Reductions of windows depend on the cause of a loss. A
//! [`QualityModel`] computes the quality of a path and the cause of a loss.

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
