//! Parts of senders and receivers for the command's demo and for measurements. They may change in any version.

pub use super::receiver::Player;
pub use super::receiver::listening::{ListenChange, listen_changes};
pub use super::sender::Pump;
pub use super::stats::{Diagnostics, PathCounters, Sampler, Sides, Subject, Watch, sum};
pub use super::words::REFUSED;
