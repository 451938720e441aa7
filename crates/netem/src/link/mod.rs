//! One direction of a link, without I/O. Each packet is delivered at its time or is dropped.

mod backlog;
mod codel;
mod config;
mod fq_codel;
mod managed;
mod one_way;
mod opportunities;
mod payload;
mod policer;
mod stats;
#[cfg(test)]
mod tests;
mod transmitter;

pub use codel::Codel;
pub use config::{Discipline, LinkConfig, LinkConfigError, Queue, QueueLimit, Rate, Reorder};
pub use fq_codel::FqCodel;
pub use one_way::{EnqueueOutcome, Link};
pub use opportunities::Opportunities;
pub use payload::Payload;
pub use policer::Policer;
pub use stats::{Count, LinkStats};
