//! Statistics of an association for displays and logs.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_proto::association::{
    Association, AssociationStats, Buffers, HeldTimes, allowance_used, ip_mtu, path_number,
};
use strandcast_proto::coding::{Coding, CodingMode};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::path::{FourTuple, PathStats};
use strandcast_proto::policy::{LinkId, PathState, PathView};
use strandcast_proto::time::Instant;

use crate::interface::{Hardware, PathError};
use crate::monitor::{MonitorStats, Reading};

/// The state of an association at one time. The counters start at 0 when the association begins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Time on the driver's clock.
    pub at: Instant,
    /// Name of the scheme.
    pub scheme: String,
    /// Counters of the association.
    pub stats: AssociationStats,
    /// Length in bytes of the longest message that fits into one packet on every path.
    pub max_unfragmented: usize,
    /// The code of the data that this side sends. `None` if the data are not coded, or if the peer cannot decode.
    pub coding_out: Option<Coding>,
    /// The code of the data that the peer sends. `None` if the data are not coded.
    pub coding_in: Option<CodingMode>,
    /// The scheme's diagnostics of its state.
    pub diagnostics: Vec<&'static str>,
    /// The scheme's own counters.
    pub counters: Vec<(&'static str, u64)>,
    /// Payload bytes that are queued or are not acknowledged yet.
    pub send_buffered: usize,
    /// Sizes and use of the association's buffers.
    pub buffers: Buffers,
    /// Times for which new data of a client waited, one for each reason. For a server, all times are zero.
    pub held: HeldTimes,
    /// Number of queries of the links' counters, by result.
    pub monitor: MonitorStats,
    /// Paths of the association. Closed paths and unused routes of uplinks are left out.
    pub paths: Vec<PathSnapshot>,
    /// Links of a client, and interfaces that the client requested but cannot use.
    pub links: Vec<LinkSnapshot>,
}

/// A link of a client, or an interface that was requested and is not a link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkSnapshot {
    /// The link. `None` for an interface that was never usable.
    pub id: Option<LinkId>,
    /// Name of the link's interface. If the link has no interface, the address of the link.
    pub name: String,
    /// Name of the link's interface, if the link is tied to an interface.
    pub interface: Option<String>,
    /// Hardware of the link's interface, without an address that another interface has too. If the interface has
    /// disappeared, its last hardware.
    pub hardware: Hardware,
    /// Bytes that the association sent and received over the link while the link had an allowance
    /// ([`allowance_used`]).
    pub allowance_used: u64,
    /// The peer's addresses.
    pub remotes: Vec<SocketAddr>,
    /// Reason why the link cannot be used now.
    pub why: Option<PathError>,
}

/// A path at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PathSnapshot {
    /// Display name: the uplink's name, or the peer's address.
    pub name: String,
    /// 4-tuple of the path.
    pub tuple: FourTuple,
    /// The number that both sides use for the path. `None` if the peer uses another SCTP implementation.
    pub number: Option<u16>,
    /// True once the peer has proven that it can be reached at this address.
    pub confirmed: bool,
    /// Size in bytes of the largest IP packets on the path.
    pub ip_mtu: u16,
    /// The path's state, round-trip times, window, bytes in flight and estimates.
    pub view: PathView,
    /// Counters of the path.
    pub stats: PathStats,
    /// The latest counters of the link. `None` if the link has no counters.
    pub link: Option<Reading>,
}

impl Snapshot {
    pub(super) fn of(
        endpoint: &Endpoint,
        id: AssociationId,
        link_metadata: &LinkMetadata,
        now: Instant,
    ) -> Option<Snapshot> {
        let association = endpoint.association(id)?;
        let path = |view: &PathView| {
            let tuple = association.tuple(view.id)?;
            let name =
                link_metadata.names.get(&tuple.link).cloned().unwrap_or_else(|| tuple.remote.to_string());
            let stats = association.path_stats(view.id)?.clone();
            let link = link_metadata.readings.get(&tuple.link).cloned();
            let confirmed = association.is_confirmed(view.id);
            let number = path_number(association, view.id);
            let (ip_mtu, view) = (ip_mtu(association, view.id)?, view.clone());
            Some(PathSnapshot { name, tuple, number, confirmed, ip_mtu, view, stats, link })
        };
        // Shows the routes of an uplink that answered. If no route answered, shows the first route of the uplink.
        let shown = |view: &&PathView| {
            let one = |other: &&PathView| other.link == view.link && other.state != PathState::Closed;
            let mut ways = association.paths().iter().filter(one);
            let first = ways.clone().next().map(|way| way.id) == Some(view.id);
            let ours = link_metadata.names.contains_key(&view.link);
            let any = ways.any(|way| association.is_confirmed(way.id));
            !ours || association.is_confirmed(view.id) || first && !any
        };
        let open = association.paths().iter().filter(|view| view.state != PathState::Closed).filter(shown);
        Some(Snapshot {
            at: now,
            scheme: association.scheme().name().to_owned(),
            stats: association.stats().clone(),
            max_unfragmented: association.max_unfragmented(),
            coding_out: association.coded().out().copied(),
            coding_in: association.coded().incoming(),
            diagnostics: association.diagnostics(now),
            counters: association.scheme_counters(),
            held: link_metadata.held,
            monitor: link_metadata.monitor,
            send_buffered: association.send_buffered(),
            buffers: association.buffers(),
            paths: open.filter_map(path).collect(),
            links: links_of(association, link_metadata),
        })
    }
}

/// The links with their present names and counts. Their reasons may be older.
fn links_of(association: &Association, metadata: &LinkMetadata) -> Vec<LinkSnapshot> {
    let mut links = metadata.links.clone();
    for (link, id) in links.iter_mut().filter_map(|link| link.id.map(|id| (link, id))) {
        link.allowance_used = allowance_used(association, id);
        if let Some(name) = metadata.names.get(&id) {
            link.name.clone_from(name);
        }
    }
    links
}

/// Names and counters of a client's links.
#[derive(Debug, Default)]
pub(super) struct LinkMetadata {
    /// Display names.
    pub names: BTreeMap<LinkId, String>,
    /// Latest counters.
    pub readings: BTreeMap<LinkId, Reading>,
    /// Number of queries of the links' counters, by outcome.
    pub monitor: MonitorStats,
    /// The links, and interfaces that cannot be used.
    pub links: Vec<LinkSnapshot>,
    /// Times for which data of the association waited. The times are those of the last snapshot, or of the end of the
    /// association.
    pub held: HeldTimes,
}

/// Link metadata shared by the driver and its handles.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedLinkMetadata(Arc<Mutex<LinkMetadata>>);

impl SharedLinkMetadata {
    pub fn lock(&self) -> MutexGuard<'_, LinkMetadata> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
