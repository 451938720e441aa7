//! Addresses at the two ends of a path.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::sealed::SealId;
use crate::policy::LinkId;

/// Maximum number of paths that an association has at a time.
pub const MAX_PATHS: usize = 16;

/// Maximum number of bytes sent to an unproven address for each byte that arrived from there.
pub(crate) const MOST_AMPLIFIED: usize = 3;

/// Addresses of a path's packets at both ends. A 4-tuple includes the driver's link (interface), because two modems may
/// assign the same local address.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FourTuple {
    /// Link of the driver: a socket or an interface.
    pub link: LinkId,
    /// Local address and UDP port.
    pub local: SocketAddr,
    /// The peer's address and UDP port.
    pub remote: SocketAddr,
    /// Sealed session to which packets on this 4-tuple belong.
    pub sealed: SealId,
}

impl FourTuple {
    /// Creates a 4-tuple for packets without a seal.
    pub fn new(link: LinkId, local: SocketAddr, remote: SocketAddr) -> Self {
        FourTuple { link, local, remote, sealed: SealId::CLEAR }
    }

    /// Returns the number of bytes of the IP and UDP headers of each datagram.
    pub(crate) fn headers(&self) -> usize {
        if self.remote.is_ipv6() { 48 } else { 28 }
    }

    /// Returns a 4-tuple of two ports of 127.0.0.1 on link 0, for tests.
    pub fn loopback(local: u16, remote: u16) -> Self {
        let at = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        FourTuple::new(LinkId(0), at(local), at(remote))
    }
}
