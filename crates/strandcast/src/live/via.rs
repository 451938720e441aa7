//! Interfaces of UDP inputs and outputs.

use std::net::{IpAddr, Ipv4Addr};

use strandcast_net::interface::{Interface, interfaces};

use super::url::UdpUrl;
use crate::text::why;

/// The interface that a URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::live) struct Via {
    pub(in crate::live) name: String,
    pub(in crate::live) index: u32,
    /// IPv4 address of the interface: the address in the URL, or the first one.
    pub(in crate::live) v4: Option<Ipv4Addr>,
}

impl Via {
    /// Returns the interface of `if=`, or the interface that has the address `host`. Returns `None` if neither is
    /// given. Routes then decide.
    ///
    /// # Errors
    /// Text that there is no such interface.
    pub(in crate::live) fn of(url: &UdpUrl, host: Option<IpAddr>) -> Result<Option<Via>, String> {
        let host = host.filter(|host| !host.is_unspecified());
        if url.interface.is_none() && host.is_none() {
            return Ok(None);
        }
        let all = interfaces().map_err(|e| format!("cannot list interfaces: {}", why(&e)))?;
        Via::among(&all, url.interface.as_deref(), host).map(Some)
    }

    fn among(all: &[Interface], name: Option<&str>, host: Option<IpAddr>) -> Result<Via, String> {
        let found = match (name, host) {
            (Some(name), _) => all.iter().find(|interface| interface.name == name).ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|interface| interface.name.as_str()).collect();
                let choose = if names.is_empty() { "" } else { ": choose from " };
                format!("no interface called {name} has an address{choose}{}", names.join(", "))
            })?,
            (None, Some(host)) => all
                .iter()
                .find(|interface| interface.owns(host))
                .ok_or_else(|| format!("no interface has the address {host}"))?,
            (None, None) => return Err("no interface".to_owned()),
        };
        let v4 = |ip: IpAddr| if let IpAddr::V4(ip) = ip { Some(ip) } else { None };
        let own = host.filter(|host| found.owns(*host)).and_then(v4);
        let v4 = own.or_else(|| found.addresses.iter().find_map(|a| v4(a.ip)));
        Ok(Via { name: found.name.clone(), index: found.index.unwrap_or(0), v4 })
    }
}

#[cfg(test)]
mod tests {
    use strandcast_net::interface::{Hardware, InterfaceAddress};

    use super::*;

    fn interface(name: &str, index: u32, addresses: &[&str]) -> Interface {
        let address = |ip: &&str| InterfaceAddress { ip: ip.parse().expect("an address"), prefix_len: 24 };
        let addresses = addresses.iter().map(address).collect();
        Interface {
            name: name.to_owned(),
            index: Some(index),
            up: true,
            loopback: false,
            addresses,
            hardware: Hardware::default(),
        }
    }

    #[test]
    fn an_interface_is_found_by_its_name_or_by_its_address() {
        let all = [
            interface("eth0", 2, &["2001:db8::2", "192.0.2.2", "192.0.2.3"]),
            interface("eth1", 3, &["fe80::3"]),
        ];
        let of = |name: Option<&str>, host: &str| Via::among(&all, name, host.parse().ok());
        let via = |name: &str, index, v4: &str| Via { name: name.to_owned(), index, v4: v4.parse().ok() };
        assert_eq!(of(Some("eth0"), ""), Ok(via("eth0", 2, "192.0.2.2")));
        assert_eq!(of(None, "192.0.2.3"), Ok(via("eth0", 2, "192.0.2.3")));
        assert_eq!(of(None, "fe80::3"), Ok(via("eth1", 3, "")));
        let lo = Interface { loopback: true, ..interface("lo", 1, &["127.0.0.1"]) };
        assert_eq!(Via::among(&[lo], None, "127.0.0.2".parse().ok()), Ok(via("lo", 1, "127.0.0.2")));
        assert_eq!(of(None, "9.9.9.9"), Err("no interface has the address 9.9.9.9".to_owned()));
        let unknown = of(Some("eth9"), "").expect_err("there is none");
        assert_eq!(unknown, "no interface called eth9 has an address: choose from eth0, eth1");
        let none = Via::among(&[], Some("eth9"), None).expect_err("there is none");
        assert_eq!(none, "no interface called eth9 has an address");
    }
}
