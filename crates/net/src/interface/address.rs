//! An interface and its addresses.

use std::net::{IpAddr, SocketAddr};

use super::hardware::Hardware;

/// A network interface that has addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface: `eth0`, `wlan0`.
    pub name: String,
    /// Index of the interface, if the system reports it.
    pub index: Option<u32>,
    /// True if the administrator has enabled the interface and it has a carrier.
    pub up: bool,
    /// True for the loopback interface.
    pub loopback: bool,
    /// Addresses of the interface, in the system's order.
    pub addresses: Vec<InterfaceAddress>,
    /// Identity of the interface's hardware.
    pub hardware: Hardware,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The address.
    pub ip: IpAddr,
    /// Bits of the network's prefix.
    pub prefix_len: u8,
}

impl Interface {
    /// Returns whether `ip` is one of the interface's addresses. The loopback interface has all addresses in
    /// 127.0.0.0/8.
    pub fn owns(&self, ip: IpAddr) -> bool {
        (self.loopback && ip.is_loopback()) || self.addresses.iter().any(|a| a.ip == ip)
    }

    /// Returns whether the interface may lead to other machines. It must be up and have an address that is not
    /// link-local. It must not be a bridge, because a bridge connects networks of this machine.
    #[doc(hidden)]
    pub fn may_lead_out(&self) -> bool {
        let bridge = std::path::Path::new("/sys/class/net").join(&self.name).join("bridge");
        self.up && self.addresses.iter().any(|a| !is_link_local(a.ip)) && !bridge.exists()
    }

    /// The source address for packets to `remote`. It has the address family of `remote`, and is link-local only if
    /// `remote` is link-local.
    pub(super) fn address_for(&self, remote: IpAddr) -> Option<IpAddr> {
        self.addresses_for(remote).next()
    }

    /// All source addresses for `remote`.
    pub(super) fn addresses_for(&self, remote: IpAddr) -> impl Iterator<Item = IpAddr> {
        let all = self.addresses.iter().map(|a| a.ip);
        all.filter(move |ip| ip.is_ipv4() == remote.is_ipv4() && is_link_local(*ip) == is_link_local(remote))
    }
}

pub(super) fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// The index of the interface that the zone of a link-local IPv6 address names.
pub(super) fn zone(address: SocketAddr) -> Option<u32> {
    match address {
        SocketAddr::V6(v6) => Some(v6.scope_id()).filter(|zone| *zone != 0 && is_link_local(address.ip())),
        SocketAddr::V4(_) => None,
    }
}

/// Adds the index of an interface to a link-local IPv6 address that has no zone. Addresses that are received from this
/// interface have a zone, so that the two forms can then be compared.
pub(crate) fn on_link(address: SocketAddr, index: u32) -> SocketAddr {
    match address {
        SocketAddr::V6(mut v6) if v6.scope_id() == 0 && is_link_local(address.ip()) => {
            v6.set_scope_id(index);
            v6.into()
        }
        other => other,
    }
}
