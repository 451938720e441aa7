//! Addresses at which other machines reach this machine.

use std::net::{IpAddr, SocketAddr};

use strandcast_net::interface::{Interface, interfaces};
use strandcast_net::resolve::HostPort;

use crate::UDP_PORT;
use crate::error::Error;

/// Maximum number of addresses in a pairing string if the user names no hosts. With more addresses the QR code would be
/// hard to read.
const MOST: usize = 4;

/// Returns the receiver's hosts for a pairing string. These are the hosts that the user names. Without such hosts, they
/// are the listening addresses that other machines can reach. `listen` contains the addresses on which the receiver
/// listens. It is empty if the receiver has not run yet.
///
/// # Errors
/// Returns [`Error::Network`] if this machine has no such address.
pub fn reachable(named: &[HostPort], listen: &[SocketAddr]) -> Result<Vec<HostPort>, Error> {
    let port = listen.first().map_or(UDP_PORT, SocketAddr::port);
    if !named.is_empty() {
        // This machine may have several receivers.
        let with_port = |host: &HostPort| HostPort { port: host.port.or(Some(UDP_PORT)), ..host.clone() };
        return Ok(named.iter().map(with_port).collect());
    }
    let any = [SocketAddr::new(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED), port)];
    let listen = if listen.is_empty() { &any } else { listen };
    let here = interfaces().map_err(|e| Error::Network(format!("cannot list the interfaces: {e}")))?;
    let found = addresses(listen, &here);
    if found.is_empty() {
        let why = "no network interface has an address that others can reach";
        return Err(Error::Network(why.into()));
    }
    Ok(found.iter().map(|a| HostPort { host: a.ip().to_string(), port: Some(a.port()) }).collect())
}

/// Returns the addresses of `listen`, public ones first. The unspecified address is replaced by the addresses of all
/// interfaces.
fn addresses(listen: &[SocketAddr], here: &[Interface]) -> Vec<SocketAddr> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for at in listen {
        if !at.ip().is_unspecified() {
            found.push(*at);
            continue;
        }
        let outside = here.iter().filter(|i| i.up && !i.loopback).flat_map(|i| &i.addresses);
        // The unspecified IPv6 address also receives IPv4.
        let taken = outside.map(|a| a.ip).filter(|ip| at.is_ipv6() || ip.is_ipv4());
        found.extend(taken.filter(|ip| scope(ip) < LINK).map(|ip| SocketAddr::new(ip, at.port())));
    }
    let mut seen = Vec::new();
    found.retain(|at| {
        !seen.contains(at) && {
            seen.push(*at);
            true
        }
    });
    found.sort_by_key(|at| scope(&at.ip()));
    found.truncate(MOST);
    found
}

/// Returns a line for the user. The line contains the addresses at which senders reach this machine.
pub fn reachable_line(hosts: &[HostPort]) -> String {
    let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let private = |host: &HostPort| host.host.parse().is_ok_and(|ip: IpAddr| scope(&ip) > 0);
    let hint = match hosts.iter().all(private) {
        true => "; these are private addresses: --host NAME gives those that others reach",
        false => "",
    };
    format!("senders reach this machine at {}{hint}", names.join(", "))
}

/// Scope of addresses that are valid on only one link.
const LINK: u8 = 2;

/// Returns the scope of an address: 0 for the Internet, 1 for a private network, and [`LINK`] for one link or this
/// machine.
fn scope(ip: &IpAddr) -> u8 {
    match ip {
        IpAddr::V4(v4) if v4.is_loopback() || v4.is_link_local() => LINK,
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unicast_link_local() => LINK,
        IpAddr::V4(v4) => u8::from(v4.is_private()),
        IpAddr::V6(v6) => u8::from(v6.is_unique_local()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandcast_net::interface::{Hardware, InterfaceAddress};

    fn interface(name: &str, up: bool, addresses: &[&str]) -> Interface {
        let address = |ip: &&str| InterfaceAddress { ip: ip.parse().unwrap(), prefix_len: 24 };
        let addresses = addresses.iter().map(address).collect();
        Interface {
            name: name.into(),
            index: None,
            up,
            loopback: name == "lo",
            addresses,
            hardware: Hardware::default(),
        }
    }

    fn listed(listen: &[&str]) -> Vec<String> {
        let here = [
            interface("lo", true, &["127.0.0.1", "::1"]),
            interface("lan", true, &["192.168.1.5", "fe80::5", "fd00::5", "2001:db8::5"]),
            interface("off", false, &["198.51.100.9"]),
            interface("wan", true, &["203.0.113.7", "169.254.3.3"]),
        ];
        let listen: Vec<SocketAddr> = listen.iter().map(|at| at.parse().unwrap()).collect();
        addresses(&listen, &here).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_addresses_means_those_that_others_can_reach() {
        let all = ["[2001:db8::5]:7", "203.0.113.7:7", "192.168.1.5:7", "[fd00::5]:7"];
        assert_eq!(listed(&["[::]:7"]), all);
        assert_eq!(listed(&["0.0.0.0:7"]), ["203.0.113.7:7", "192.168.1.5:7"]);
        assert_eq!(listed(&["[::]:7", "0.0.0.0:7"]), all, "each once");
    }

    #[test]
    fn an_address_that_the_user_listens_on_is_taken_as_it_is() {
        assert_eq!(listed(&["127.0.0.1:7"]), ["127.0.0.1:7"]);
    }

    #[test]
    fn named_hosts_get_the_usual_port_whichever_receiver_ran_last() {
        let named: Vec<HostPort> = ["studio.example", "a:5"].iter().map(|h| h.parse().unwrap()).collect();
        let text = |listen: &[SocketAddr]| -> Vec<String> {
            reachable(&named, listen).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(text(&[]), ["studio.example:9899", "a:5"]);
        assert_eq!(text(&["[::]:7000".parse().unwrap()]), ["studio.example:9899", "a:5"]);
    }

    #[test]
    fn private_addresses_have_a_hint() {
        let line = |hosts: &[&str]| {
            reachable_line(&hosts.iter().map(|host| host.parse().unwrap()).collect::<Vec<HostPort>>())
        };
        let private = line(&["192.168.1.5:9899", "[fd00::5]:9899"]);
        assert!(
            private.starts_with("senders reach this machine at 192.168.1.5:9899, [fd00::5]:9899; these are")
        );
        assert!(private.contains("--host NAME"));
        for hosts in [&["192.168.1.5:1", "203.0.113.9:1"][..], &["studio.example:1"]] {
            assert!(!line(hosts).contains("private"), "{hosts:?}");
        }
    }
}
