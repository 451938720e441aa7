//! One UDP socket per path (RFC 6951). It is bound to the path's address and network interface, so that no policy
//! routing is needed. It sends and receives in batches (GSO, GRO), without fragmentation. The kernel's errors are
//! sorted by what the transport can do about them.

mod bind;
mod io;
#[cfg(test)]
mod tests;

pub use bind::{BindSpec, Bound, PathSocket, SocketError};
pub use io::{Received, SendOutcome, Transmit, is_fatal};
