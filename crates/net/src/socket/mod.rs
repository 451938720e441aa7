//! One UDP socket per path (RFC 6951), bound to the path's address and network interface, so that no policy routing is
//! needed. Batched (GSO, GRO), without fragmentation, and with the kernel's errors classified by what the transport can
//! do about them.

mod bind;
mod io;
#[cfg(test)]
mod tests;

pub use bind::{BindSpec, Bound, PathSocket, SocketError};
pub use io::{Received, SendOutcome, Transmit, is_fatal};
