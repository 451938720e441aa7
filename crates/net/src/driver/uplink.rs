//! The uplinks of a client, and the routes of each uplink to the peer.

use std::net::{IpAddr, SocketAddr};

use crate::interface::{Interface, PathSpec, on_link, source_address};
use crate::socket::BindSpec;

/// The local interface and the remote addresses of a client's path.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// Display name.
    pub name: String,
    /// Interface, address and MTU.
    pub spec: PathSpec,
    /// Addresses of the peer, of both families. The path uses the first one that answers; addresses in the
    /// uplink's own subnet are tried first, then the others in this order.
    pub remotes: Vec<SocketAddr>,
}

/// One route of an uplink to the peer: the binding and the destination.
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

    /// The routes that the interfaces allow now, the most promising first. An address without a route is
    /// included, because routes appear after addresses.
    pub(super) fn candidates(&self, interfaces: &[Interface]) -> Vec<Candidate> {
        let mut all: Vec<(bool, bool, Candidate)> = Vec::new();
        for remote in &self.remotes {
            let Ok(mut bind) = self.spec.bind_spec(interfaces, *remote) else { continue };
            let remote = on_link(*remote, bind.scope);
            let owner = bind.interface.as_ref().filter(|_| self.spec.address.is_none());
            let owner = owner.and_then(|name| interfaces.iter().find(|i| i.name == *name));
            let source = owner.map(|owner| source_address(owner, remote).filter(|ip| owner.owns(*ip)));
            // The system decides which of several addresses belongs to the route.
            bind.address = source.flatten().or(bind.address);
            let far = !in_one_subnet(interfaces, &bind, &remote);
            all.push((source == Some(None), far, Candidate { bind, remote }));
        }
        all.sort_by_key(|(no_route, far, _)| (*no_route, *far));
        all.into_iter().map(|(_, _, candidate)| candidate).collect()
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
