//! The uplinks of a client: where each of its paths begins and may end.

use std::net::SocketAddr;

use crate::interface::{Interface, PathSpec};
use crate::socket::BindSpec;

/// The local interface and the remote addresses of a client's path.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// Display name.
    pub name: String,
    /// Interface, address and MTU.
    pub spec: PathSpec,
    /// Addresses of the peer. The first reachable one is used; one in the uplink's own subnet takes precedence.
    pub remotes: Vec<SocketAddr>,
}

impl Uplink {
    /// An uplink named after its interface or address.
    pub fn new(spec: PathSpec, remotes: &[SocketAddr]) -> Self {
        let address = spec.address.map(|a| a.to_string());
        let name = spec.interface.clone().or(address).unwrap_or_else(|| "default".into());
        Uplink { name, spec, remotes: remotes.to_vec() }
    }

    /// The address to bind and the address to send to.
    pub(super) fn target(&self, interfaces: &[Interface]) -> Option<(BindSpec, SocketAddr)> {
        let usable = |r: &SocketAddr| Some((self.spec.bind_spec(interfaces, r.ip()).ok()?, *r));
        let all: Vec<_> = self.remotes.iter().filter_map(usable).collect();
        let near = all.iter().find(|(bind, r)| in_one_subnet(interfaces, bind, r));
        near.or(all.first()).cloned()
    }
}

fn in_one_subnet(interfaces: &[Interface], bind: &BindSpec, remote: &SocketAddr) -> bool {
    use std::net::IpAddr;
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
