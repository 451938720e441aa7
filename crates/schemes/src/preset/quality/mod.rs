//! What CMT-QA and CMT-CL share: paths measured in estimation intervals, data distributed in periods by what the paths
//! were found to be worth, windows cut by the cause of a loss. What a path is worth, and why it lost something, a
//! [`Judge`] says.

mod config;
mod distribute;
mod judge;
mod lane;
mod mind;
#[cfg(test)]
mod tests;
mod windows;

pub(super) use config::QualityKeys;
pub(super) use judge::{After, Judge, Measured, Reduction};
pub(super) use mind::{QualityAware, put};
