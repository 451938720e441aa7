//! Routes of this machine: whether packets from an address leave by an interface. The kernel's routing tables and rules
//! decide this.

use std::net::{IpAddr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use super::address::{Interface, on_link};

/// A route over an interface, as it is in the kernel's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Source address of the route's packets.
    pub source: IpAddr,
    /// Number of the route's table. The main table has the number 254. If the kernel does not report the table, the
    /// number is 0.
    pub table: u32,
    /// The next router. `None`: the destination is on the same link.
    pub gateway: Option<IpAddr>,
}

/// Table and router of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    table: u32,
    gateway: Option<IpAddr>,
}

/// Answer of the kernel about a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// A route.
    Route(Entry),
    /// No route.
    None,
    /// The system cannot answer the question.
    Unknown,
}

/// Queries of the kernel's routing tables. No packet is sent.
#[derive(Debug, Default)]
pub struct Routes {
    #[cfg(target_os = "linux")]
    kernel: Option<crate::netlink::Kernel>,
}

impl Routes {
    /// Returns the source address for `remote` over `interface`. Returns an address only if a rule leads to a table
    /// that has such a route.
    ///
    /// A socket that is bound to an interface can connect even without a route. If the interface has no route, Linux
    /// assumes for IPv4 that every destination is on the link. The tables are therefore queried directly. There is one
    /// query for each address as the source, because rules may depend on the source.
    pub(crate) fn source(&mut self, interface: &Interface, remote: SocketAddr) -> Option<IpAddr> {
        self.way(interface, remote).map(|way| way.source)
    }

    /// Returns the route to `remote` over `interface`, if a rule leads to a table that has such a route.
    #[doc(hidden)]
    pub fn way(&mut self, interface: &Interface, remote: SocketAddr) -> Option<Way> {
        let way = |source, Entry { table, gateway }| Way { source, table, gateway };
        let (chosen, bound) = by_socket(interface, remote);
        let chosen = chosen.filter(|ip| interface.owns(*ip));
        let others = interface.addresses_for(remote.ip()).filter(|ip| Some(*ip) != chosen);
        let sources: Vec<IpAddr> = chosen.into_iter().chain(others).collect();
        let first = *sources.first()?;
        let index = interface.index.unwrap_or_default();
        match self.ask(index, bound, None, remote) {
            Answer::Route(entry) => return Some(way(first, entry)),
            Answer::Unknown => return chosen.map(|ip| way(ip, Entry::default())),
            Answer::None => {}
        }
        sources.into_iter().find_map(|ip| match self.ask(index, bound, Some(ip), remote) {
            Answer::Route(entry) => Some(way(ip, entry)),
            _ => None,
        })
    }

    /// Returns whether a packet from `source` to `remote` would leave by `interface` if its socket were not bound to an
    /// interface. A strict rp_filter accepts answers only in this case. Returns `None` if the kernel does not answer
    /// the question.
    #[doc(hidden)]
    pub fn answers_by(&mut self, interface: &Interface, source: IpAddr, remote: SocketAddr) -> Option<bool> {
        match self.ask(interface.index?, false, Some(source), remote) {
            Answer::Route(_) => Some(true),
            Answer::None => Some(false),
            Answer::Unknown => None,
        }
    }

    /// Asks the system whether packets to `remote` leave by the interface with the index `index`. If `source` is
    /// `None`, the packets may have any source address. If `bound` is false, the question is for a socket that is not
    /// bound to the interface, so that the routing tables decide.
    fn ask(&mut self, index: u32, bound: bool, source: Option<IpAddr>, remote: SocketAddr) -> Answer {
        #[cfg(target_os = "linux")]
        {
            // A query for an unbound socket always includes a source address.
            if !bound && source.is_none() {
                return Answer::None;
            }
            linux::ask(&mut self.kernel, index, bound, source, remote)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (index, bound, source, remote);
            Answer::Unknown
        }
    }

    /// The first table that has a route to `remote` over `interface`, and to which no rule leads. The main table is not
    /// considered.
    pub(crate) fn unused_table(&mut self, interface: &Interface, remote: IpAddr) -> Option<u32> {
        #[cfg(target_os = "linux")]
        return linux::unused_table(&mut self.kernel, interface.index?, remote);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (interface, remote);
            None
        }
    }
}

/// Returns the source address of a socket that is bound to `interface` and connected. The second value is whether this
/// user may bind a socket to the interface.
fn by_socket(interface: &Interface, remote: SocketAddr) -> (Option<IpAddr>, bool) {
    let socket = || Socket::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP)).ok();
    let local = |socket: &Socket| {
        socket.connect(&remote.into()).ok()?;
        Some(socket.local_addr().ok()?.as_socket()?.ip())
    };
    let Some(by_interface) = socket() else { return (None, false) };
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if by_interface.bind_device(Some(interface.name.as_bytes())).is_ok() {
        return (local(&by_interface), true);
    }
    // Without permission to bind to interfaces, the routing table decides for the interface's address.
    drop(by_interface);
    let by_address = || {
        let address = interface.address_for(remote.ip())?;
        let by_address = socket()?;
        let at = on_link(SocketAddr::new(address, 0), interface.index.unwrap_or_default());
        by_address.bind(&at.into()).ok()?;
        local(&by_address)
    };
    (by_address(), false)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::net::{IpAddr, SocketAddr};

    use super::{Answer, Entry};
    use crate::netlink::message::{NLM_F_ACK, NLM_F_DUMP, attributes, u32_at};
    use crate::netlink::{Kernel, Refusal};

    const RTM_NEWROUTE: u16 = 24;
    const RTM_GETROUTE: u16 = 26;
    /// Requests the entry in the table, not a route that the kernel derives from it. If the table has no such entry,
    /// the kernel does not answer.
    const RTM_F_FIB_MATCH: u32 = 0x2000;
    const RTA_DST: u16 = 1;
    const RTA_SRC: u16 = 2;
    const RTA_OIF: u16 = 4;
    const RTA_GATEWAY: u16 = 5;
    const RTA_TABLE: u16 = 15;
    /// Length of `struct rtmsg` in bytes.
    const HEADER: usize = 12;
    const RTN_UNICAST: u8 = 1;
    const TABLE_MAIN: u32 = 254;
    const TABLE_LOCAL: u32 = 255;

    /// `struct rtmsg` of a query for one address.
    fn header(ip: IpAddr, source_bits: u8, flags: u32) -> [u8; HEADER] {
        let (family, bits) = if ip.is_ipv4() { (libc::AF_INET, 32) } else { (libc::AF_INET6, 128) };
        let mut header = [0; HEADER];
        header[0] = u8::try_from(family).expect("families are small");
        (header[1], header[2]) = (bits, source_bits);
        header[8..].copy_from_slice(&flags.to_ne_bytes());
        header
    }

    fn octets(ip: IpAddr) -> Vec<u8> {
        match ip {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        }
    }

    fn address(octets: &[u8]) -> Option<IpAddr> {
        let v4 = || Some(IpAddr::from(<[u8; 4]>::try_from(octets).ok()?));
        v4().or_else(|| Some(IpAddr::from(<[u8; 16]>::try_from(octets).ok()?)))
    }

    fn open(kernel: &mut Option<Kernel>) -> Option<Kernel> {
        kernel.take().or_else(|| Kernel::open(None).ok())
    }

    pub(super) fn ask(
        kernel: &mut Option<Kernel>,
        index: u32,
        bound: bool,
        source: Option<IpAddr>,
        remote: SocketAddr,
    ) -> Answer {
        let Some(mut asked) = open(kernel) else { return Answer::Unknown };
        let (to, from) = (octets(remote.ip()), source.map(octets));
        let bits = from.as_ref().map_or(0, |from| u8::try_from(from.len() * 8).unwrap_or(0));
        let header = header(remote.ip(), bits, RTM_F_FIB_MATCH);
        let index = index.to_ne_bytes();
        let mut all: Vec<(u16, &[u8])> = vec![(RTA_DST, &to)];
        all.extend(from.as_ref().map(|from| (RTA_SRC, &from[..])));
        all.extend(bound.then_some((RTA_OIF, &index[..])));
        let mut here = None;
        let answer = asked.query((RTM_GETROUTE, RTM_NEWROUTE), NLM_F_ACK, &header, &all, |payload| {
            let (unicast, rest) =
                (payload.get(7) == Some(&RTN_UNICAST), payload.get(HEADER..).unwrap_or(&[]));
            let value = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
            // A route over several interfaces has no interface in this attribute.
            if unicast && value(RTA_OIF).is_none_or(|of| of == index) {
                let table = value(RTA_TABLE).and_then(|v| u32_at(v, 0));
                let table = table.or(payload.get(4).map(|t| u32::from(*t))).unwrap_or_default();
                here = Some(Entry { table, gateway: value(RTA_GATEWAY).and_then(address) });
            }
        });
        match answer {
            Ok(()) => {
                *kernel = Some(asked);
                here.map_or(Answer::None, Answer::Route)
            }
            Err(Refusal::System(libc::ENETUNREACH | libc::EHOSTUNREACH)) => {
                *kernel = Some(asked);
                Answer::None
            }
            Err(Refusal::NotPermitted | Refusal::NotWireless) => {
                // A route that prohibits packets (`EACCES`) or drops them (`EINVAL`).
                *kernel = Some(asked);
                Answer::None
            }
            // The next query opens another socket, so that a late answer to this query cannot be mistaken for its own.
            Err(_) => Answer::Unknown,
        }
    }

    pub(super) fn unused_table(kernel: &mut Option<Kernel>, index: u32, remote: IpAddr) -> Option<u32> {
        let mut asked = open(kernel)?;
        let (header, to, mut found) = (header(remote, 0, 0), octets(remote), None);
        // A query for a dump has no destination.
        let header = [header[0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let dumped = asked.query((RTM_GETROUTE, RTM_NEWROUTE), NLM_F_DUMP, &header, &[], |payload| {
            let (Some(rtm), rest) = (payload.first_chunk::<HEADER>(), payload.get(HEADER..).unwrap_or(&[]))
            else {
                return;
            };
            let value = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
            let table = value(RTA_TABLE).and_then(|v| u32_at(v, 0)).unwrap_or(u32::from(rtm[4]));
            let over = value(RTA_OIF).and_then(|v| u32_at(v, 0)) == Some(index);
            let covers = covers(value(RTA_DST).unwrap_or(&[]), rtm[1], &to);
            if over && covers && rtm[7] == RTN_UNICAST && ![TABLE_MAIN, TABLE_LOCAL].contains(&table) {
                found = found.or(Some(table));
            }
        });
        dumped.ok()?;
        *kernel = Some(asked);
        found
    }

    /// Returns whether the address `to` is in the network with this prefix.
    fn covers(prefix: &[u8], bits: u8, to: &[u8]) -> bool {
        let (whole, rest) = (usize::from(bits / 8), bits % 8);
        let padded = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or(0);
        let mask = if rest == 0 { 0 } else { 0xff << (8 - rest) };
        (0..whole).all(|at| padded(prefix, at) == padded(to, at))
            && (padded(prefix, whole) ^ padded(to, whole)) & mask == 0
    }

    #[cfg(test)]
    #[test]
    fn a_network_has_the_addresses_that_begin_as_it_does() {
        let of = |prefix: &[u8], bits| covers(prefix, bits, &[10, 9, 200, 1]);
        assert!(of(&[], 0) && of(&[10], 8) && of(&[10, 9, 128], 17) && of(&[10, 9, 200, 1], 32));
        assert!(!of(&[11], 8) && !of(&[10, 9, 0], 17) && !of(&[10, 9, 200, 0], 32));
    }
}
