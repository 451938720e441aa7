//! The two ends of a path.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::sealed::SealId;
use crate::policy::LinkId;

/// Maximum number of paths of an association at a time.
pub const MAX_PATHS: usize = 16;

/// Maximum bytes sent to an unproven address per byte that arrived from it.
pub(crate) const MOST_AMPLIFIED: usize = 3;

/// Addresses of a path's packets at both ends. They include the driver's link (interface), because two modems may
/// assign the same local address.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FourTuple {
    /// Link of the driver: a socket or an interface.
    pub link: LinkId,
    /// Local address and UDP port.
    pub local: SocketAddr,
    /// The peer's address and UDP port.
    pub remote: SocketAddr,
    /// Sealed session of the 4-tuple's packets.
    pub sealed: SealId,
}

impl FourTuple {
    /// Makes a 4-tuple for packets in the clear.
    pub fn new(link: LinkId, local: SocketAddr, remote: SocketAddr) -> Self {
        FourTuple { link, local, remote, sealed: SealId::CLEAR }
    }

    /// Number of bytes of the IP and UDP headers of each datagram.
    pub(crate) fn headers(&self) -> usize {
        if self.remote.is_ipv6() { 48 } else { 28 }
    }

    /// Two ports of 127.0.0.1 on link 0, for tests.
    pub fn loopback(local: u16, remote: u16) -> Self {
        let at = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        FourTuple::new(LinkId(0), at(local), at(remote))
    }
}
