//! One direction of a link, sans-IO: each packet is delivered at its time or dropped.

mod config;
mod one_way;
mod opportunities;
mod payload;
mod stats;
#[cfg(test)]
mod tests;
mod transmitter;

pub use config::{LinkConfig, LinkConfigError, Queue, QueueLimit, Rate, Reorder};
pub use one_way::{EnqueueOutcome, Link};
pub use opportunities::Opportunities;
pub use payload::Payload;
pub use stats::{Count, LinkStats};
