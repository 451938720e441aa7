//! The loop that joins an [`Endpoint`](strandcast_proto::endpoint::Endpoint), its sockets, the clock and an application,
//! and handles for applications that live in tasks of their own.

mod control;
mod core;
mod handle;
mod links;
mod mailbox;
mod mailroom;
mod open;
mod snapshot;
mod task;
#[cfg(test)]
mod tests;

pub use control::Driver;
pub use handle::{Association, Listener, SendFailed};
pub use links::{Tap, Uplink, Way};
pub use open::{Client, OpenError, Server};
pub use snapshot::{PathSnapshot, Snapshot};
