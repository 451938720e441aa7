//! One direction of a link, sans-IO: packets go in, and come out in their time or not at all.

mod config;
mod one_way;
mod payload;
mod stats;
#[cfg(test)]
mod tests;

pub use config::{Delay, LinkConfig, LinkConfigError, Reorder};
pub use one_way::Link;
pub use payload::Payload;
pub use stats::{Count, LinkStats};
