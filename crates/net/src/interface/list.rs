//! Enumeration of interfaces, and route look-ups.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use if_addrs::{IfAddr, IfOperStatus};
use socket2::{Domain, Protocol, Socket, Type};

use super::address::{Interface, InterfaceAddress, on_link, zone};
use super::spec::PathSpec;
use crate::socket::BindSpec;

/// All interfaces with at least one address, in the system's order.
///
/// # Errors
/// The system's error.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut all: Vec<Interface> = Vec::new();
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
                name: entry.name,
            }),
        }
    }
    Ok(all)
}

/// The IP-level MTU from a socket with this binding to `remote`, as reported by the system: the interface's,
/// the route's, or a value reported by routers (RFC 1191, RFC 8201). Nothing is sent.
pub fn route_mtu(bind: &BindSpec, remote: SocketAddr) -> Option<u16> {
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt;
        let socket = Socket::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP)).ok()?;
        if let Some(interface) = &bind.interface {
            // Without permission the routing table decides, as it does for the path's socket.
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

/// One path per interface that is up, not loopback, and has a route to `host`. If `host` is this machine, the only path
/// is internal.
///
/// Linux assumes that every destination is on-link when it looks up an IPv4 route through one interface, so
/// the main routing table is read as well. Interfaces whose routes are in other tables are not listed and
/// must be named.
pub fn usable_paths(interfaces: &[Interface], remote: SocketAddr) -> Vec<PathSpec> {
    let host = remote.ip();
    if is_here(interfaces, host) {
        return vec![PathSpec { address: Some(host), ..PathSpec::default() }];
    }
    let table = std::fs::read_to_string("/proc/net/route").ok();
    let outside = interfaces.iter().filter(|i| i.up && !i.loopback);
    let paths = outside.filter_map(|i| {
        if let (IpAddr::V4(v4), Some(table)) = (host, &table)
            && !in_table(table, &i.name, v4)
        {
            return None;
        }
        let there = zone(remote).is_none_or(|zone| i.index == Some(zone));
        let _ = source_address(i, remote).filter(|_| there)?;
        // The address may change, and is looked up again.
        Some(PathSpec { interface: Some(i.name.clone()), ..PathSpec::default() })
    });
    paths.collect()
}

/// The kernel's source address for `remote` over `interface`, if it has a route. Nothing is sent: connecting
/// a UDP socket only looks up the route.
pub(crate) fn source_address(interface: &Interface, remote: SocketAddr) -> Option<IpAddr> {
    let socket = || Socket::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP)).ok();
    let by_interface = socket()?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if by_interface.bind_device(Some(interface.name.as_bytes())).is_ok() {
        by_interface.connect(&remote.into()).ok()?;
        return Some(by_interface.local_addr().ok()?.as_socket()?.ip());
    }
    // Without permission to bind to interfaces, the routing table decides for the interface's address.
    drop(by_interface);
    let address = interface.address_for(remote.ip())?;
    let by_address = socket()?;
    let local = on_link(SocketAddr::new(address, 0), interface.index.unwrap_or_default());
    by_address.bind(&local.into()).ok()?;
    by_address.connect(&remote.into()).ok()?;
    Some(address)
}

/// Returns whether the main table (the text of Linux's `/proc/net/route`: interface, destination and, in the
/// eighth column, mask as hexadecimal numbers in the machine's byte order) has a usable route to `host` by
/// `interface`.
pub(super) fn in_table(table: &str, interface: &str, host: Ipv4Addr) -> bool {
    const UP: u32 = 1;
    const REJECT: u32 = 0x200;
    let host = u32::from_ne_bytes(host.octets());
    let hex = |text: Option<&&str>| u32::from_str_radix(text?, 16).ok();
    table.lines().skip(1).any(|line| {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(name), Some(destination), Some(flags), Some(mask)) =
            (columns.first(), hex(columns.get(1)), hex(columns.get(3)), hex(columns.get(7)))
        else {
            return false;
        };
        *name == interface && flags & (UP | REJECT) == UP && host & mask == destination
    })
}
