//! Links of this machine: interfaces, routes, filters and subnets. No packet is sent.

use std::net::{IpAddr, SocketAddr};

use strandcast_net::driver::Uplink;
use strandcast_net::interface::{
    Interface, InterfaceAddress, PathError, PathSpec, Routes, interfaces, is_here, route_mtu, rp_filter,
};
use strandcast_net::socket::BindSpec;

use super::report::{Link, Route};
use crate::error::Error;

/// Value of rp_filter for strict mode.
const STRICT: u32 = 1;

/// A link, with the data that a sender needs to use it.
pub(super) struct Way {
    pub(super) link: Link,
    /// Binding of the link's sockets, and addresses of the receiver that can be reached over the link.
    pub(super) bind: Option<BindSpec>,
    pub(super) remotes: Vec<SocketAddr>,
}

/// Examines interfaces that may lead to one of `remotes`. Examines the interfaces of `paths`, or all interfaces if
/// `paths` is empty.
///
/// # Errors
/// Returns [`Error::Network`] if the system does not list its interfaces.
pub(super) fn links(paths: &[PathSpec], remotes: &[SocketAddr]) -> Result<Vec<Way>, Error> {
    let here =
        interfaces().map_err(|e| Error::Network(format!("cannot list the network interfaces: {e}")))?;
    let mut routes = Routes::default();
    if let Some(inside) = remotes.iter().find(|remote| is_here(&here, remote.ip())) {
        return Ok(vec![loopback(*inside)]);
    }
    let any = [PathSpec::any()];
    let wanted = if paths.is_empty() { &any[..] } else { paths };
    let meant = |i: &&Interface| {
        let names = |spec: &PathSpec| match spec.address {
            Some(ip) => i.owns(ip),
            None => spec.names(i),
        };
        wanted.iter().any(names)
    };
    let out: Vec<&Interface> = here.iter().filter(|i| i.may_lead_out()).filter(meant).collect();
    let ways = out.iter().map(|interface| {
        let mut way = look(interface, &here, &mut routes, remotes);
        way.link.twins = twins(interface, &out);
        way
    });
    let mut all: Vec<Way> = ways.collect();
    let absent = paths
        .iter()
        .filter(|spec| !out.iter().any(|i| spec.names(i) || spec.address.is_some_and(|ip| i.owns(ip))));
    all.extend(absent.map(|spec| missing(spec, &here, &mut routes, remotes)));
    Ok(all)
}

/// Returns the link to a receiver on this machine.
fn loopback(remote: SocketAddr) -> Way {
    let bind = BindSpec { address: Some(remote.ip()), ..BindSpec::default() };
    let route = Route { table: 255, gateway: None, source: remote.ip() };
    let link = Link {
        name: "loopback".into(),
        addresses: vec![remote.ip()],
        route: Some(route),
        mtu: route_mtu(&bind, remote),
        ..Link::default()
    };
    Way { link, bind: Some(bind), remotes: vec![remote] }
}

/// Returns the entry for a configured path that matches no interface.
fn missing(spec: &PathSpec, here: &[Interface], routes: &mut Routes, remotes: &[SocketAddr]) -> Way {
    let why = Uplink::new(spec.clone(), remotes).hindrance(here, routes);
    let mut link = Link { name: spec.to_string(), ..Link::default() };
    hinder(&mut link, why.unwrap_or_else(|| PathError::NoInterface(spec.to_string())));
    Way { link, bind: None, remotes: Vec::new() }
}

fn look(interface: &Interface, here: &[Interface], routes: &mut Routes, remotes: &[SocketAddr]) -> Way {
    let spec = PathSpec::interface(&interface.name);
    let mut link = Link {
        name: interface.name.clone(),
        addresses: interface.addresses.iter().map(|a| a.ip).collect(),
        rp_filter: rp_filter(&interface.name),
        ..Link::default()
    };
    let found: Vec<_> =
        remotes.iter().filter_map(|to| routes.way(interface, *to).map(|way| (*to, way))).collect();
    let Some((remote, way)) = found.first() else {
        if let Some(why) = Uplink::new(spec, remotes).hindrance(here, routes) {
            hinder(&mut link, why);
        }
        return Way { link, bind: None, remotes: Vec::new() };
    };
    link.route = Some(Route { table: way.table, gateway: way.gateway, source: way.source });
    // rp_filter applies only to IPv4.
    link.drops_answers = remote.is_ipv4()
        && link.rp_filter == Some(STRICT)
        && routes.answers_by(interface, way.source, *remote) == Some(false);
    let bind = spec.bind_spec(here, *remote).ok().map(|bind| BindSpec { address: Some(way.source), ..bind });
    link.mtu = bind.as_ref().and_then(|bind| route_mtu(bind, *remote));
    Way { link, bind, remotes: found.iter().map(|(to, _)| *to).collect() }
}

fn hinder(link: &mut Link, why: PathError) {
    let text = why.to_string();
    let mend = text.split_once(": ").map(|(_, mend)| mend.to_owned());
    (link.hindered_by, link.mend) = match why {
        PathError::UnusedTable(..) => (Some("route-in-other-table"), mend),
        PathError::NoRoute(..) => (Some("route-missing"), mend),
        PathError::NoInterface(_) | PathError::NotLocal(_) => (Some("interface-missing"), None),
        _ => (None, None),
    };
    link.hindrance = Some(text);
}

/// Returns the names of other interfaces that share a subnet with this interface.
fn twins(of: &Interface, all: &[&Interface]) -> Vec<String> {
    let others = all.iter().filter(|other| other.index != of.index);
    let shares = |other: &&&Interface| {
        let same = |a: &InterfaceAddress| other.addresses.iter().any(|b| subnet(a) == subnet(b));
        of.addresses.iter().any(|a| subnet(a).is_some() && same(a))
    };
    others.filter(shares).map(|other| other.name.clone()).collect()
}

/// Returns the network of an address: address width, number of prefix bits, and prefix. Returns `None` in two cases:
/// for a link-local address, which exists on every link, and for an address that is alone in its network.
fn subnet(address: &InterfaceAddress) -> Option<(u32, u32, u128)> {
    let (width, bits, local) = match address.ip {
        IpAddr::V4(v4) => (32_u32, u128::from(u32::from(v4)), v4.is_link_local()),
        IpAddr::V6(v6) => (128, u128::from(v6), v6.is_unicast_link_local()),
    };
    let prefix = u32::from(address.prefix_len);
    let host = width.checked_sub(prefix).filter(|host| !local && (1..128).contains(host))?;
    Some((width, prefix, bits >> host))
}

#[cfg(test)]
mod tests {
    use strandcast_net::interface::Hardware;

    use super::*;

    fn interface(index: u32, addresses: &[(&str, u8)]) -> Interface {
        let address = |(ip, prefix_len): &(&str, u8)| InterfaceAddress {
            ip: ip.parse().unwrap(),
            prefix_len: *prefix_len,
        };
        let addresses = addresses.iter().map(address).collect();
        Interface {
            name: format!("wwan{index}"),
            index: Some(index),
            up: true,
            loopback: false,
            addresses,
            hardware: Hardware::default(),
        }
    }

    #[test]
    fn twins_have_one_subnet() {
        let one = interface(1, &[("192.168.8.100", 24), ("fe80::1", 64)]);
        let two = interface(2, &[("192.168.8.101", 24)]);
        let three = interface(3, &[("192.168.9.100", 24), ("fe80::3", 64), ("10.0.0.1", 32)]);
        let four = interface(4, &[("2001:db8:1::7", 64), ("192.168.0.1", 16), ("10.0.0.1", 32)]);
        let all = [&one, &two, &three, &four];
        assert_eq!(twins(&one, &all), ["wwan2"]);
        assert_eq!(twins(&two, &all), ["wwan1"]);
        assert!(twins(&three, &all).is_empty() && twins(&four, &all).is_empty());
    }
}
