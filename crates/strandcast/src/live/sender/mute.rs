//! Paths that never carried anything.

use std::collections::BTreeSet;
use std::time::Duration;

use strandcast_net::driver::{Snapshot, Uplink};
use strandcast_net::interface::interfaces;
use strandcast_proto::time::Instant;

/// Silence of a path before it is reported.
const MUTE_AFTER: Duration = Duration::from_secs(5);

/// Observes uplinks until each has received something.
#[derive(Debug)]
pub(super) struct MutePaths {
    /// Uplinks that have received nothing and are not reported.
    silent: Vec<Uplink>,
    /// Time at which this association was first observed.
    since: Option<Instant>,
}

impl MutePaths {
    pub(super) fn new(uplinks: &[Uplink]) -> Self {
        let mut names = BTreeSet::new();
        let first = |u: &&Uplink| names.insert(u.name.clone());
        MutePaths { silent: uplinks.iter().filter(first).cloned().collect(), since: None }
    }

    /// Restarts the wait for another association.
    pub(super) fn restart(&mut self) {
        self.since = None;
    }

    /// Returns each uplink that has received nothing for too long, and the probable fault.
    pub(super) fn poll(&mut self, now: Instant, seen: &Snapshot) -> Vec<(String, String)> {
        if self.silent.is_empty() {
            return Vec::new();
        }
        let since = *self.since.get_or_insert(now);
        let carried = |u: &Uplink| {
            seen.paths.iter().any(|p| p.name == u.name && (p.confirmed || p.stats.packets_received > 0))
        };
        self.silent.retain(|uplink| !carried(uplink));
        if now - since < MUTE_AFTER {
            return Vec::new();
        }
        self.silent.drain(..).map(|uplink| (uplink.name.clone(), what(&uplink))).collect()
    }
}

/// Returns the probable fault of a path, from this machine's settings.
fn what(uplink: &Uplink) -> String {
    // Without the list, no interface counts as missing.
    if let Ok(here) = interfaces() {
        let tried: Vec<_> = uplink.remotes.iter().map(|r| uplink.spec.bind_spec(&here, *r)).collect();
        if let (Some(Err(why)), true) = (tried.first(), tried.iter().all(Result::is_err)) {
            return format!("carries nothing: {why}");
        }
    }
    let hosts: BTreeSet<String> = uplink.remotes.iter().map(|r| r.ip().to_string()).collect();
    let hosts = hosts.into_iter().collect::<Vec<_>>().join(" or ");
    let port = uplink.remotes.first().map_or(0, std::net::SocketAddr::port);
    let strict = uplink.spec.interface.as_ref().filter(|i| filter_of(i) == Some(1));
    // The filter applies to IPv4.
    let strict = strict.filter(|_| uplink.remotes.iter().any(std::net::SocketAddr::is_ipv4));
    let strict = strict.map_or_else(String::new, |i| {
        format!("rp_filter is 1 there, which drops answers (sysctl net.ipv4.conf.{i}.rp_filter=2), ")
    });
    format!(
        "carried nothing for {} s: {strict}UDP port {port} is blocked by the network, or there is no route to {hosts}",
        MUTE_AFTER.as_secs()
    )
}

/// Returns Linux's setting for checking the source of packets on an interface (RFC 3704): the stricter of two settings.
fn filter_of(interface: &str) -> Option<u32> {
    let read = |of: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{of}/rp_filter")).ok()?;
        text.trim().parse().ok()
    };
    read(interface).into_iter().chain(read("all")).max()
}
