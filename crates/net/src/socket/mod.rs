//! One UDP socket a path (RFC 6951): bound to the address and the network interface the path uses, so that no
//! policy routing is needed, with batches (GSO, GRO), no fragmentation, and the kernel's errors sorted by what
//! the transport can do about them.

mod bind;
mod io;
#[cfg(test)]
mod tests;

pub use bind::{BindSpec, Bound, PathSocket, SocketError};
pub use io::{Received, SendOutcome, Transmit};
