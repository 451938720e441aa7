//! Links of a sender: their states, and the reasons why a link carries no data.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use strandcast_net::driver::{LinkSnapshot, PathSnapshot, Snapshot};
use strandcast_net::interface::rp_filter;
use strandcast_proto::policy::PathState;
use strandcast_proto::time::Instant;

use crate::live::links::{LinkReport, LinkState};

/// Time without data after which the link is reported.
const MUTE_AFTER: Duration = Duration::from_secs(4);

/// Tracks the links of a stream over all of its associations.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// First appearance of each link that has not carried data yet.
    new: BTreeMap<String, Instant>,
    /// Links over which packets arrived.
    carried: BTreeSet<String>,
}

impl Links {
    /// Prepares for another association, which begins with silent links.
    pub(super) fn restart(&mut self) {
        self.new.clear();
    }

    /// Returns each link and its state.
    pub(super) fn reports(&mut self, now: Instant, seen: &Snapshot) -> Vec<LinkReport> {
        seen.links.iter().map(|link| self.report(now, seen, link)).collect()
    }

    fn report(&mut self, now: Instant, seen: &Snapshot, link: &LinkSnapshot) -> LinkReport {
        let paths = || seen.paths.iter().filter(|p| Some(p.tuple.link) == link.id);
        let carries = |p: &PathSnapshot| p.confirmed || p.stats.packets_received > 0;
        if paths().any(carries) {
            self.carried.insert(link.name.clone());
        }
        let carried = self.carried.contains(&link.name);
        let is = |state| paths().any(|p| p.confirmed && p.view.state == state);
        // A path that is off is probed, and keeps its state even if the probes are answered.
        let rests = || paths().any(|p| p.view.state == PathState::Suspended && p.view.error_count == 0);
        let (state, why) = match &link.why {
            Some(why) if carried => (LinkState::Gone, why.to_string()),
            Some(why) => (LinkState::LeftOut, why.to_string()),
            None if is(PathState::Active) || rests() => (LinkState::Active, String::new()),
            None if is(PathState::PotentiallyFailed) || is(PathState::Suspended) => {
                (LinkState::Silent, String::new())
            }
            None if is(PathState::Inactive) => (LinkState::Failed, String::new()),
            None => self.waits(now, link),
        };
        if !matches!(state, LinkState::Starting | LinkState::Mute) {
            self.new.remove(&link.name);
        }
        let paths = paths().filter_map(|p| p.number).collect();
        LinkReport { id: link.id.map(|id| id.0), name: link.name.clone(), state, why, paths }
    }

    /// Reports that no packet has arrived over the link yet.
    fn waits(&mut self, now: Instant, link: &LinkSnapshot) -> (LinkState, String) {
        let since = *self.new.entry(link.name.clone()).or_insert(now);
        match now - since < MUTE_AFTER {
            true => (LinkState::Starting, String::new()),
            false => (LinkState::Mute, what(link)),
        }
    }
}

/// Probable reason why a link carries no data.
fn what(link: &LinkSnapshot) -> String {
    let hosts: BTreeSet<String> = link.remotes.iter().map(|r| r.ip().to_string()).collect();
    let hosts = hosts.into_iter().collect::<Vec<_>>().join(" or ");
    let port = link.remotes.first().map_or(0, SocketAddr::port);
    let name = link.interface.as_ref();
    // rp_filter applies only to IPv4.
    let strict = name.filter(|i| rp_filter(i) == Some(1) && link.remotes.iter().any(SocketAddr::is_ipv4));
    let strict = strict.map_or_else(String::new, |i| {
        format!("rp_filter is 1 there, which drops answers (sysctl net.ipv4.conf.{i}.rp_filter=2), ")
    });
    let route = match name {
        Some(_) => "the receiver does not listen there".to_owned(),
        None => format!("there is no route to {hosts}"),
    };
    format!(
        "carried nothing for {} s: {strict}UDP port {port} is blocked by the network, or {route}",
        MUTE_AFTER.as_secs()
    )
}
