//! The receiving side of an association: arrived TSNs, and reassembly of messages.

mod arrivals;
mod arrived;
mod extend;
mod reassembly;
mod tsn_tracker;

pub(crate) use arrivals::Arrivals;
pub(crate) use arrived::{ArrivedHere, ArrivedRequest, micros};
pub(crate) use extend::{extend, narrow, origin};
pub use reassembly::{CHUNK_OVERHEAD, Fragment, Message, Reassembly, Violation};
pub use tsn_tracker::{Arrival, Inserted, TsnTracker};
