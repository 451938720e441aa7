//! A radio medium that stations share, and IEEE 802.11 DCF. Time is an argument of calls, and randomness comes from
//! labelled seeds. The caller keeps the alarms in its own event engine. The crate neither reads the contents of packets
//! nor routes packets.
#![forbid(unsafe_code)]

mod address;
mod cells;
mod config;
mod counters;
mod dcf;
mod frame;
mod graph;
mod medium;
mod mobility;
mod neighbours;
mod output;
mod place;
pub mod placement;
mod propagation;
mod queue;
mod radio;
mod receivers;
mod rules;
mod station;
mod timers;

pub use address::{Destination, StationId};
pub use config::{
    ConfigError, DcfConfig, Eifs, Interference, MediumConfig, MobilityConfig, Profile, Propagation,
    RadioConfig, Rate, Retries, Timeout,
};
pub use counters::Counters;
pub use frame::{FrameKind, FrameOutcome};
pub use graph::Graph;
pub use neighbours::check_density;
pub use output::{Alarm, DropCause, FrameRecord, RadioEvent, RadioOutput, Reception};
pub use place::Position;
pub use propagation::{mean_power, shadowing};
pub use queue::Priority;
pub use radio::Radio;
