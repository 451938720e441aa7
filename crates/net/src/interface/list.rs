//! Lists the interfaces.

use std::io;
use std::net::{IpAddr, SocketAddr};

use if_addrs::{IfAddr, IfOperStatus};
#[cfg(target_os = "linux")]
use socket2::{Domain, Protocol, Socket, Type};

use super::address::{Interface, InterfaceAddress};
use super::hardware::hardware;
use crate::socket::BindSpec;

/// All interfaces with at least one address, in the system's order.
///
/// # Errors
/// The system's error.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut all: Vec<Interface> = Vec::new();
    let known = hardware();
    let of = |index: Option<u32>| known.iter().find(|(at, _)| Some(*at) == index).map(|(_, is)| is.clone());
    for entry in if_addrs::get_if_addrs()? {
        let address = match &entry.addr {
            IfAddr::V4(v4) => InterfaceAddress { ip: v4.ip.into(), prefix_len: v4.prefixlen },
            IfAddr::V6(v6) => InterfaceAddress { ip: v6.ip.into(), prefix_len: v6.prefixlen },
        };
        let loopback = entry.is_loopback();
        match all.iter_mut().find(|i| i.name == entry.name) {
            Some(known) => {
                known.addresses.push(address);
                known.loopback |= loopback;
            }
            None => all.push(Interface {
                up: entry.oper_status == IfOperStatus::Up,
                index: entry.index,
                loopback,
                addresses: vec![address],
                hardware: of(entry.index).unwrap_or_default(),
                name: entry.name,
            }),
        }
    }
    Ok(all)
}

/// Returns the IP-level MTU to `remote` from a socket with this binding, as the system reports it. The MTU comes from
/// the interface, from the route, or from a report of a router (RFC 1191, RFC 8201). No packet is sent.
pub fn route_mtu(bind: &BindSpec, remote: SocketAddr) -> Option<u16> {
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt;

        use super::address::on_link;
        let socket = Socket::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP)).ok()?;
        if let Some(interface) = &bind.interface {
            // Without permission to bind to the interface, the routing table decides, as it does for the path's socket.
            let _ = socket.bind_device(Some(interface.as_bytes()));
        }
        if let Some(address) = bind.address.filter(|a| a.is_ipv4() == remote.is_ipv4()) {
            socket.bind(&on_link(SocketAddr::new(address, 0), bind.scope).into()).ok()?;
        }
        socket.connect(&remote.into()).ok()?;
        let mtu = if remote.is_ipv4() { sockopt::ip_mtu(&socket) } else { sockopt::ipv6_mtu(&socket) };
        Some(u16::try_from(mtu.ok()?).unwrap_or(u16::MAX))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (bind, remote);
        None
    }
}

/// Returns whether an address belongs to this machine.
pub fn is_here(interfaces: &[Interface], host: IpAddr) -> bool {
    host.is_loopback() || interfaces.iter().any(|i| i.owns(host))
}
