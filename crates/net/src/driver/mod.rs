//! The loop that connects an [`Endpoint`](strandcast_proto::endpoint::Endpoint) to sockets, the clock and an
//! application. Applications that run in separate tasks use its handles.

mod control;
mod core;
mod handle;
mod interfaces;
mod links;
mod mailbox;
mod mux;
mod open;
mod reconcile;
mod slot;
mod snapshot;
mod sockets;
mod task;
#[cfg(test)]
mod tests;
mod uplink;
mod waits;

pub use control::Driver;
pub use core::SealObserver;
pub use handle::{AssociationHandle, Listener, SendFailed};
pub use open::{Client, ClientSeal, KeyLogSink, OpenError, SealHooks, Server, ServerSeal};
pub use slot::ListenEvent;
pub use snapshot::{LinkSnapshot, PathSnapshot, Snapshot};
pub use sockets::{PacketDirection, PacketTap};
pub use uplink::Uplink;
