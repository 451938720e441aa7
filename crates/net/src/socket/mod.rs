//! One UDP socket per path (RFC 6951). The socket is bound to the path's address and network interface, so that no
//! policy routing is needed. The socket sends and receives in batches (GSO, GRO), without fragmentation. Errors of the
//! kernel are sorted by the action that the transport can take.

mod bind;
mod io;
#[cfg(test)]
mod tests;

pub use bind::{BindSpec, Bound, PathSocket, SocketError};
pub use io::{Received, SendOutcome, Transmit, is_fatal};
