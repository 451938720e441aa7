//! Paths that never carried anything.

use std::collections::BTreeSet;
use std::time::Duration;

use strandcast_net::driver::{Snapshot, Uplink};
use strandcast_net::interface::interfaces;
use strandcast_proto::time::Instant;

/// How long a path may be silent before that is reported.
const MUTE_AFTER: Duration = Duration::from_secs(5);

/// Watches uplinks until something came over each of them.
#[derive(Debug)]
pub(super) struct MutePaths {
    /// Those that nothing came over, and that are not reported.
    silent: Vec<Uplink>,
    /// When this association was seen first.
    since: Option<Instant>,
}

impl MutePaths {
    pub(super) fn new(uplinks: &[Uplink]) -> Self {
        let mut names = BTreeSet::new();
        let first = |u: &&Uplink| names.insert(u.name.clone());
        MutePaths { silent: uplinks.iter().filter(first).cloned().collect(), since: None }
    }

    /// There is another association.
    pub(super) fn restart(&mut self) {
        self.since = None;
    }

    /// Each uplink that carried nothing for too long, and what is wrong with it.
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

/// What is wrong with a path, as far as this machine knows.
fn what(uplink: &Uplink) -> String {
    // Without a list nothing is known to be missing.
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
    // It is a filter of IPv4.
    let strict = strict.filter(|_| uplink.remotes.iter().any(std::net::SocketAddr::is_ipv4));
    let strict = strict.map_or_else(String::new, |i| {
        format!("rp_filter is 1 there, which drops answers (sysctl net.ipv4.conf.{i}.rp_filter=2), ")
    });
    format!(
        "carried nothing for {} s: {strict}UDP port {port} is blocked on the way, or there is no route to {hosts}",
        MUTE_AFTER.as_secs()
    )
}

/// How strictly Linux looks at where packets on an interface come from (RFC 3704): the stricter of two settings.
fn filter_of(interface: &str) -> Option<u32> {
    let read = |of: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{of}/rp_filter")).ok()?;
        text.trim().parse().ok()
    };
    read(interface).into_iter().chain(read("all")).max()
}
