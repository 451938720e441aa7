//! QAOMDV: AOMDV that estimates bandwidth and delay of its paths (Guo, Liu and Lian 2010, §5.2, §5.3).

mod config;
mod estimators;
mod quality;
#[cfg(test)]
mod tests;

pub use config::{Bandwidth, Criterion, Idle, Insert, QaomdvConfig, QaomdvSplit};
pub(crate) use estimators::Estimators;
pub(crate) use quality::{improves, node_bandwidth, replaceable, usable_bandwidth};
