//! The uplinks of a client, and the routes of each uplink to the peer.

use std::net::{IpAddr, SocketAddr};

use crate::interface::{Interface, PathError, PathSpec, Routes, on_link};
use crate::socket::BindSpec;

/// The local interface and the remote addresses of a client's path. If the interface is a pattern, there is one path
/// for each matching interface that has a route. An interface is identified by its index. So the path keeps its
/// interface when the interface is renamed. If the interface has disappeared, the interface with the same hardware
/// replaces it, or else an interface with the same name.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// Display name.
    pub name: String,
    /// Interface, address and MTU.
    pub spec: PathSpec,
    /// The addresses of the peer, both IPv4 and IPv6. The path uses the first address that answers. Addresses in the
    /// uplink's own subnet are tried first. The other addresses follow in this order.
    pub remotes: Vec<SocketAddr>,
}

/// One route of an uplink to the peer: the local binding and the remote address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub bind: BindSpec,
    pub remote: SocketAddr,
}

impl Uplink {
    /// An uplink named after its interface or address.
    pub fn new(spec: PathSpec, remotes: &[SocketAddr]) -> Self {
        let address = spec.address.map(|a| a.to_string());
        let name = spec.interface.clone().or(address).unwrap_or_else(|| "default".into());
        Uplink { name, spec, remotes: remotes.to_vec() }
    }

    /// Returns the interfaces that this uplink uses. The interfaces are the interface with the uplink's name, or all
    /// interfaces that match its pattern and have a route.
    pub fn takes<'a>(&self, interfaces: &'a [Interface], routes: &mut Routes) -> Vec<&'a Interface> {
        let fit = interfaces.iter().filter(|i| self.spec.follows_interfaces() && self.spec.names(i));
        fit.filter(|i| !self.spec.is_pattern() || !self.on(i).candidates(interfaces, routes).is_empty())
            .collect()
    }

    /// The uplink over one interface.
    pub(super) fn on(&self, interface: &Interface) -> Uplink {
        let spec = PathSpec { interface: Some(interface.name.clone()), ..self.spec.clone() };
        Uplink { name: interface.name.clone(), spec, remotes: self.remotes.clone() }
    }

    /// The reason why no route of the uplink can be used now. An interface that is down is reported before any other
    /// reason. For a pattern, the reason of the first matching interface is returned.
    pub fn hindrance(&self, interfaces: &[Interface], routes: &mut Routes) -> Option<PathError> {
        if self.spec.is_pattern() {
            if !self.takes(interfaces, routes).is_empty() {
                return None;
            }
            let mut fit = interfaces.iter().filter(|i| i.may_lead_out() && self.spec.names(i));
            let why = fit.find_map(|i| self.on(i).hindrance(interfaces, routes));
            return Some(why.unwrap_or_else(|| PathError::NoInterface(self.name.clone())));
        }
        let mut first = None;
        for remote in &self.remotes {
            match self.route(interfaces, routes, *remote) {
                Ok(_) => return None,
                Err(down @ PathError::Down(_)) => return Some(down),
                Err(error) => first = first.or(Some(error)),
            }
        }
        match first {
            Some(PathError::NoRoute(name, to)) => Some(no_route(name, to, interfaces, routes)),
            other => other,
        }
    }

    /// The routes that the interfaces allow now, the best ones first.
    pub(super) fn candidates(&self, interfaces: &[Interface], routes: &mut Routes) -> Vec<Candidate> {
        let ways = self.remotes.iter().filter_map(|remote| self.route(interfaces, routes, *remote).ok());
        let mut all: Vec<Candidate> = ways.collect();
        all.sort_by_key(|way| !in_one_subnet(interfaces, &way.bind, &way.remote));
        all
    }

    fn route(
        &self,
        interfaces: &[Interface],
        routes: &mut Routes,
        remote: SocketAddr,
    ) -> Result<Candidate, PathError> {
        let mut bind = self.spec.bind_spec(interfaces, remote)?;
        let remote = on_link(remote, bind.scope);
        let owner = bind.interface.as_ref().filter(|_| self.spec.address.is_none());
        if let Some(owner) = owner.and_then(|name| interfaces.iter().find(|i| i.name == *name)) {
            // The system decides which one of several addresses belongs to the route.
            let none = || PathError::NoRoute(owner.name.clone(), remote.ip());
            bind.address = Some(routes.source(owner, remote).ok_or_else(none)?);
        }
        Ok(Candidate { bind, remote })
    }
}

/// Reports that there is no route. If a table that no rule uses has a route, the error names this table.
fn no_route(name: String, to: IpAddr, interfaces: &[Interface], routes: &mut Routes) -> PathError {
    let interface = interfaces.iter().find(|i| i.name == name);
    match interface.and_then(|i| routes.unused_table(i, to)) {
        Some(table) => PathError::UnusedTable(name, to, table),
        None => PathError::NoRoute(name, to),
    }
}

fn in_one_subnet(interfaces: &[Interface], bind: &BindSpec, remote: &SocketAddr) -> bool {
    let bits = |ip: IpAddr| match ip {
        IpAddr::V4(v4) => (32, u128::from(u32::from(v4))),
        IpAddr::V6(v6) => (128, u128::from(v6)),
    };
    let own = interfaces.iter().flat_map(|i| &i.addresses).find(|a| Some(a.ip) == bind.address);
    own.is_some_and(|own| {
        let ((width, a), (other, b)) = (bits(own.ip), bits(remote.ip()));
        let host = width - u32::from(own.prefix_len).min(width);
        width == other && (host == 128 || a >> host == b >> host)
    })
}
