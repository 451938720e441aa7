//! Bulk transfer, measured on both sides.

mod bulk;
mod client;
mod control;
mod result;
mod run;
mod server;
#[cfg(test)]
mod tests;
mod usage;

pub(crate) use control::{MAX_MESSAGE, MIN_MESSAGE};
pub use run::perf_client;
pub(crate) use run::run;
