//! Paths: 4-tuples, with their round-trip times, timers, heartbeats and data in flight.

mod candidate;
mod discovery;
mod heartbeat;
mod reordering;
mod rto;
mod sealed;
mod slot;
mod sounding;
mod tail;
mod tuple;

pub use sealed::{Envelope, SealId};
pub use slot::PathStats;
pub use tuple::{FourTuple, MAX_PATHS};

pub(crate) use candidate::{Candidate, PROBES};
pub(crate) use discovery::{Discovery, MIN_PLPMTU};
pub(crate) use heartbeat::{Answer, Heartbeats};
pub(crate) use rto::{back_off, forget_back_off, sample, sample_held};
pub(crate) use slot::{Path, new_view, packet_size};
pub(crate) use tail::Tail;
pub(crate) use tuple::MOST_AMPLIFIED;
