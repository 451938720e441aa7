//! Pairs of local and remote addresses, for a peer with another SCTP implementation.

use core::net::{IpAddr, SocketAddr};

use super::PathManager;
use crate::association::handshake::Capabilities;
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId, PathState};
use crate::time::Instant;

impl PathManager<'_> {
    /// Pairs each further path with one of the peer's further addresses. The path of the handshake keeps its addresses.
    /// Only a peer that is not a Strandcast peer needs these pairs. Addresses in the same subnet are paired first.
    /// Other addresses are paired in the order in which they are listed. Each path gets one pair.
    pub fn pair_addresses(&mut self, peer: &Capabilities, on: PathId) {
        if self.cx.paths.seen().peer_reports() || peer.addresses.is_empty() || self.cx.config.sealed() {
            return;
        }
        let port = self.cx.paths[on.index()].tuple.remote.port();
        let used = self.cx.paths[on.index()].tuple.remote.ip();
        let mut left: Vec<IpAddr> = peer.addresses.iter().copied().filter(|a| *a != used).collect();
        let mut paired = Vec::new();
        for same_subnet in [true, false] {
            for i in (0..self.cx.paths.len()).filter(|i| *i != on.index()) {
                if self.cx.paths.view(i).state != PathState::Unconfirmed || paired.contains(&i) {
                    continue;
                }
                let local = self.cx.paths[i].tuple.local.ip();
                let fits = |a: &IpAddr| {
                    a.is_ipv4() == local.is_ipv4() && (!same_subnet || subnet(*a) == subnet(local))
                };
                if let Some(at) = left.iter().position(fits) {
                    self.cx.paths[i].tuple.remote = SocketAddr::new(left.remove(at), port);
                    self.cx.distrust(PathId(i as u8));
                    paired.push(i);
                }
            }
        }
        self.cx.paths_moved = true;
    }

    /// Pairs the further paths of an accepting endpoint with addresses that the peer listed. This pairing applies to a
    /// peer that is not a Strandcast peer.
    pub fn pair_with(&mut self, now: Instant, peer: &Capabilities, locals: &[(LinkId, SocketAddr)]) {
        if self.cx.paths.seen().peer_reports() {
            return;
        }
        let first = self.cx.paths[0].tuple;
        let mut locals: Vec<_> = locals.iter().filter(|(_, l)| l.ip() != first.local.ip()).collect();
        for (n, address) in peer.addresses.iter().filter(|a| **a != first.remote.ip()).enumerate() {
            let same = locals.iter().position(|(_, l)| subnet(l.ip()) == subnet(*address));
            let Some(at) = same.or((n < locals.len()).then_some(0)) else { continue };
            let (link, local) = *locals.remove(at);
            let tuple = FourTuple::new(link, local, SocketAddr::new(*address, first.remote.port()));
            if self.cx.room_for_a_path().is_err() || local.is_ipv4() != address.is_ipv4() {
                continue;
            }
            let path = self.open_slot(now, tuple, None);
            self.cx.distrust(path);
            self.cx.paths[path.index()].heartbeats.want();
        }
    }
}

/// Returns the network of an address, assumed without configuration: /24 for IPv4, /64 for IPv6.
fn subnet(a: IpAddr) -> u128 {
    match a {
        IpAddr::V4(a) => u128::from(u32::from(a) >> 8),
        IpAddr::V6(a) => u128::from(a) >> 64,
    }
}
