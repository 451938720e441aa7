//! Paths: 4-tuples with their round-trip times, timers, heartbeats and what is in flight on them.

mod discovery;
mod heartbeat;
mod rto;
mod sealed;
mod slot;

pub use sealed::{Envelope, SealId};
pub use slot::{FourTuple, MAX_PATHS, PathStats};

pub(crate) use discovery::{Discovery, MIN_PLPMTU};
pub(crate) use heartbeat::{Answer, Heartbeats};
pub(crate) use rto::{back_off, forget_back_off, sample, sample_held};
pub(crate) use slot::{MOST_AMPLIFIED, Path, new_view, packet_size};
